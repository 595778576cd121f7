// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/csv_reader.hpp"

#include <gtest/gtest.h>

#include "stickslip/io/csv_writer.hpp"

namespace stickslip::csv_reader_test {
namespace {

using Cells = std::vector<std::string>;

std::vector<Cells> read(std::string_view text) {
  std::vector<Cells> lines;
  CsvReader reader(text);
  for (std::vector<std::string_view> cells; reader.next(cells);) lines.emplace_back(cells.begin(), cells.end());
  return lines;
}

TEST(CsvReader, cells_in_quotes_hold_commas_quotes_and_line_ends) {
  EXPECT_EQ(read("a,\"b,c\",\"d\"\"e\"\n1,\"two\nlines\",3"),
            (std::vector<Cells>{{"a", "b,c", "d\"e"}, {"1", "two\nlines", "3"}}));
}

TEST(CsvReader, blanks_comments_and_foreign_line_ends_do_not_count) {
  EXPECT_EQ(read("# a, b\r\n\r\n t , x \r\n 1,2\r\n"), (std::vector<Cells>{{"t", "x"}, {"1", "2"}}));
  EXPECT_EQ(read("a,,\n"), (std::vector<Cells>{{"a", "", ""}}));
  EXPECT_EQ(read("\"open"), (std::vector<Cells>{{"open"}}));
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("\n \n#x").empty());
}

TEST(CsvReader, reads_back_what_csv_cell_writes) {
  for (const std::string text : {"plain", "a,b", "\"", "\"\"", " blank ", "two\nlines", ""}) {
    const auto lines = read("first," + csv_cell(text) + ",last\n");
    ASSERT_EQ(lines.size(), 1u) << text;
    EXPECT_EQ(lines[0], (Cells{"first", text, "last"}));
  }
}

}  // namespace
}  // namespace stickslip::csv_reader_test
