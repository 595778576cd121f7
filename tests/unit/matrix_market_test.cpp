// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/matrix_market.hpp"

#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "stickslip/common/error.hpp"
#include "stickslip/io/time_table_file.hpp"

namespace stickslip::matrix_market_test {
namespace {

DenseMatrix parsed(const std::string& text) { return DenseMatrix(parse_matrix_market(text, "m.mtx")); }

std::string error_of(const std::string& text) {
  try {
    parse_matrix_market(text, "m.mtx");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(MatrixMarket, CoordinateGeneralKeepsEveryEntryWhereItStands) {
  const DenseMatrix A =
      parsed("%%MatrixMarket matrix coordinate real general\n% comment\n\n2 3 3\n1 1 1.5\n2 3 -2e-1\n1 2 +4\n");
  DenseMatrix expected(2, 3);
  expected << 1.5, 4, 0, 0, 0, -0.2;
  EXPECT_EQ(A, expected);
}

TEST(MatrixMarket, SymmetricAndSkewFilesAreCompletedFromTheLowerTriangle) {
  DenseMatrix symmetric(3, 3), skew(3, 3);
  symmetric << 1, 2, 4, 2, 3, 5, 4, 5, 6;
  skew << 0, -2, -4, 2, 0, -5, 4, 5, 0;
  EXPECT_EQ(parsed("%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n4\n3\n5\n6\n"), symmetric);
  EXPECT_EQ(
      parsed("%%MatrixMarket matrix coordinate real symmetric\n3 3 6\n1 1 1\n2 1 2\n3 1 4\n2 2 3\n3 2 5\n3 3 6\n"),
      symmetric);
  EXPECT_EQ(parsed("%%MatrixMarket matrix array real skew-symmetric\n3 3\n2\n4\n5\n"), skew);
  EXPECT_EQ(parsed("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 2\n3 1 4\n3 2 5\n"), skew);
}

TEST(MatrixMarket, ArraysAreReadColumnByColumn) {
  DenseMatrix expected(2, 3);
  expected << 1, 3, 5, 2, 4, 6;
  EXPECT_EQ(parsed("%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n"), expected);
}

TEST(MatrixMarket, HeaderWordsAreCaseInsensitiveAndWindowsLineEndsAreAccepted) {
  EXPECT_EQ(parsed("\xEF\xBB\xBF%%matrixmarket MATRIX Array Real General\r\n1 1\r\n7\r\n")(0, 0), 7.0);
}

TEST(MatrixMarket, RandomMatricesWrittenWith17DigitsComeBackBitForBit) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  for (int sample = 0; sample < 20; ++sample) {
    const int rows = 1 + static_cast<int>(random() % 9), columns = 1 + static_cast<int>(random() % 9);
    DenseMatrix A = DenseMatrix::Zero(rows, columns);
    std::ostringstream body;
    body.precision(17);
    int count = 0;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        if (random() % 2) {
          A(i, j) = std::ldexp(normal(random), static_cast<int>(random() % 200) - 100);
          body << i + 1 << ' ' << j + 1 << ' ' << A(i, j) << '\n';
          ++count;
        }
    const std::string head = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(rows) + " " +
                             std::to_string(columns) + " " + std::to_string(count) + "\n";
    EXPECT_EQ(parsed(head + body.str()), A);
  }
}

TEST(MatrixMarket, MistakesAreNamedWithTheirLine) {
  const std::string coordinate = "%%MatrixMarket matrix coordinate real general\n",
                    symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "m.mtx:1: the file is empty"},
      {"1 1 1\n", "m.mtx:1: the first line must be '%%MatrixMarket"},
      {"%%MatrixMarket matrix coordinate real\n", "m.mtx:1: the first line must have 5 words, not 4"},
      {"%%MatrixMarket vector coordinate real general\n", "m.mtx:1: 'vector' cannot be read"},
      {"%%MatrixMarket matrix list real general\n", "m.mtx:1: the format 'list'"},
      {"%%MatrixMarket matrix coordinate pattern general\n", "m.mtx:1: entries of the kind 'pattern'"},
      {"%%MatrixMarket matrix coordinate real hermitian\n", "m.mtx:1: the symmetry 'hermitian'"},
      {coordinate, "m.mtx:1: the line with the size is missing"},
      {coordinate + "% c\n2 2\n", "m.mtx:3: the size line must be 'rows columns entries', but it has 2 words"},
      {coordinate + "2 x 1\n", "m.mtx:2: the number of columns 'x' is not an integer"},
      {coordinate + "0 2 1\n", "m.mtx:2: the size 0 x 2 is outside"},
      {coordinate + "99999999999 2 1\n", "m.mtx:2: the size 99999999999 x 2 is outside"},
      {coordinate + "2 2 -1\n", "m.mtx:2: the number of entries is -1"},
      {coordinate + "2 2 1000000000000\n", "m.mtx:2: the size asks for 1000000000000 entries"},
      {"%%MatrixMarket matrix array real general\n10000000 10000000\n",
       "m.mtx:2: the size asks for 100000000000000 entries"},
      {symmetric + "2 3 1\n", "m.mtx:2: a symmetric matrix cannot be 2 x 3"},
      {symmetric + "2 2 1\n1 2 1\n", "m.mtx:3: (1, 2) lies above the diagonal"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 1\n",
       "m.mtx:3: (1, 1) is not below the diagonal"},
      {coordinate + "2 2 1\n1 1\n", "m.mtx:3: an entry must be 'row column value', but this line has 2 words"},
      {coordinate + "2 2 1\n0 1 1\n", "m.mtx:3: the entry (0, 1) lies outside a 2 x 2 matrix"},
      {coordinate + "2 2 1\n1.5 1 1\n", "m.mtx:3: row '1.5' is not an integer"},
      {coordinate + "2 2 1\n1 1 nan\n", "m.mtx:3: 'nan' is not a finite number"},
      {coordinate + "2 2 1\n1 1 1e999\n", "m.mtx:3: '1e999' is not a finite number"},
      {coordinate + "2 2 2\n1 1 1\n", "m.mtx:3: the file ends after 1 of 2 entries"},
      {coordinate + "2 2 1\n1 1 1\n2 2 1\n", "m.mtx:4: there is more after the last of 1 entries"},
      {coordinate + "2 2 3\n2 1 1\n1 1 1\n2 1 3\n", "m.mtx:5: the entry (2, 1) is given twice; first on line 3"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(error_of(text).substr(0, expected.size()), expected) << text;
}

TEST(TimeTableFile, CommasSemicolonsAndBlanksSeparateAndAHeaderIsSkipped) {
  for (const char* text : {"time, force\n0, 1\n# between\n2, 3 # note\n\n4, -1", "t;f\r\n0;1\r\n2;3\r\n4;-1\r\n",
                           "0 1\n2\t3\n 4  -1 \n"}) {
    const TimeTable table = parse_time_table(text, "f.csv");
    EXPECT_EQ(table.times(), (std::vector<double>{0, 2, 4})) << text;
    EXPECT_EQ(table(1.0), 2.0) << text;   // halfway between 1 and 3
    EXPECT_EQ(table(3.0), 1.0) << text;   // halfway between 3 and -1
    EXPECT_EQ(table(-1.0), 1.0) << text;  // constant outside
    EXPECT_EQ(table(9.0), -1.0) << text;
  }
}

TEST(TimeTableFile, AnyColumnButTheFirstCanBeTheValue) {
  EXPECT_EQ(parse_time_table("t,a,b\n0,1,10\n1,2,20\n", "f.csv", 3)(0.5), 15.0);
}

TEST(TimeTableFile, TwoLinesOfOneTimeAreAJumpAndThreeAreRefused) {
  const TimeTable table = parse_time_table("0,0\n1,0\n1,5\n2,5\n", "f.csv");
  EXPECT_EQ(table(0.999), 0.0);
  EXPECT_EQ(table(1.001), 5.0);
  EXPECT_THROW(parse_time_table("0,0\n1,0\n1,5\n1,6\n", "f.csv"), InputError);
}

TEST(TimeTableFile, LinesOfDifferentLengthAreRefusedWithTheirNumber) {
  try {
    parse_time_table("t,f\n0,0\n1,0,3\n", "f.csv");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "f.csv:3: this line has 3 columns, the first one has 2");
  }
}

}  // namespace
}  // namespace stickslip::matrix_market_test
