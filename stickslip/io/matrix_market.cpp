// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/matrix_market.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip {

namespace {

constexpr std::size_t kLargestFile = 1024 * kMebibyte;

enum class Symmetry { general, symmetric, skew };

std::string lower_case(std::string_view word) {
  std::string result(word);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

struct Entry {
  int row, column;
  double value;
  long line;
};

class MatrixMarketParser {
 public:
  MatrixMarketParser(std::string_view text, const std::string& path) : lines_(text), path_(path), bytes_(text.size()) {}

  SparseMatrix parse() {
    read_header();
    read_size();
    if (coordinate_) {
      read_coordinates();
    } else {
      read_columns();
    }
    if (next_line()) fail("there is more after the last of {} entries", count_);
    return assemble();
  }

 private:
  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> format, Arguments&&... arguments) const {
    fail_at(std::max(1L, lines_.number()), fmt::format(format, std::forward<Arguments>(arguments)...));
  }
  [[noreturn]] void fail_at(long line, const std::string& message) const {
    throw InputError(fmt::format("{}:{}: {}", path_, line, message));
  }

  /// The words of the next line that is neither blank nor a comment.
  bool next_line() {
    std::string_view line;
    while (lines_.next(line)) {
      split_words(line, words_);
      if (!words_.empty() && words_[0][0] != '%') return true;
    }
    return false;
  }

  void read_header() {
    std::string_view line;
    if (!lines_.next(line)) fail("the file is empty; a Matrix Market file starts with %%MatrixMarket");
    split_words(line, words_);
    if (words_.empty() || lower_case(words_[0]) != "%%matrixmarket")
      fail(
          "the first line must be '%%MatrixMarket matrix coordinate|array real|integer "
          "general|symmetric|skew-symmetric'");
    if (words_.size() != 5) fail("the first line must have 5 words, not {}", words_.size());
    if (lower_case(words_[1]) != "matrix") fail("{} cannot be read, only 'matrix'", in_quotes(words_[1]));
    const std::string format = lower_case(words_[2]), field = lower_case(words_[3]), symmetry = lower_case(words_[4]);
    if (format != "coordinate" && format != "array")
      fail("the format {} is neither 'coordinate' nor 'array'", in_quotes(format));
    if (field != "real" && field != "integer")
      fail("entries of the kind {} cannot be used, only 'real' and 'integer'", in_quotes(field));
    coordinate_ = format == "coordinate";
    if (symmetry == "symmetric") {
      symmetry_ = Symmetry::symmetric;
    } else if (symmetry == "skew-symmetric") {
      symmetry_ = Symmetry::skew;
    } else if (symmetry != "general") {
      fail("the symmetry {} cannot be used, only 'general', 'symmetric' and 'skew-symmetric'", in_quotes(symmetry));
    }
  }

  long long integer(std::size_t word, const char* what) const {
    const auto value = parse_integer(words_[word]);
    if (!value) fail("{} {} is not an integer", what, in_quotes(words_[word]));
    return *value;
  }

  double number(std::size_t word) const {
    const auto value = parse_finite_number(words_[word]);
    if (!value) fail("{} is not a finite number", in_quotes(words_[word]));
    return *value;
  }

  void read_size() {
    const std::size_t expected = coordinate_ ? 3 : 2;
    if (!next_line()) fail("the line with the size is missing");
    if (words_.size() != expected)
      fail("the size line must be '{}', but it has {} words", coordinate_ ? "rows columns entries" : "rows columns",
           words_.size());
    rows_ = integer(0, "the number of rows");
    columns_ = integer(1, "the number of columns");
    if (rows_ < 1 || columns_ < 1 || rows_ > kLargestSize || columns_ > kLargestSize)
      fail("the size {} x {} is outside 1 .. {}", rows_, columns_, kLargestSize);
    if (symmetry_ != Symmetry::general && rows_ != columns_)
      fail("a symmetric matrix cannot be {} x {}", rows_, columns_);
    if (coordinate_) {
      count_ = integer(2, "the number of entries");
    } else {
      const long long triangle = rows_ * (rows_ - 1) / 2;
      count_ = symmetry_ == Symmetry::general ? rows_ * columns_
               : symmetry_ == Symmetry::skew  ? triangle
                                              : triangle + rows_;
    }
    // Every entry takes two bytes or more: a count beyond that is wrong, and must not reserve memory.
    if (count_ < 0) fail("the number of entries is {}", count_);
    if (static_cast<unsigned long long>(count_) > bytes_)
      fail("the size asks for {} entries, more than a file of {} bytes can hold", count_, bytes_);
    entries_.reserve(static_cast<std::size_t>(count_));
  }

  void next_entry(long long k, std::size_t expected) {
    if (!next_line()) fail("the file ends after {} of {} entries", k, count_);
    if (words_.size() != expected)
      fail("an entry must be '{}', but this line has {} words", expected == 3 ? "row column value" : "value",
           words_.size());
  }

  void read_coordinates() {
    for (long long k = 0; k < count_; ++k) {
      next_entry(k, 3);
      const long long i = integer(0, "row"), j = integer(1, "column");
      if (i < 1 || i > rows_ || j < 1 || j > columns_)
        fail("the entry ({}, {}) lies outside a {} x {} matrix", i, j, rows_, columns_);
      if (symmetry_ == Symmetry::symmetric && i < j)
        fail("({}, {}) lies above the diagonal; a symmetric file holds the lower triangle only", i, j);
      if (symmetry_ == Symmetry::skew && i <= j)
        fail("({}, {}) is not below the diagonal; a skew-symmetric file holds only what is", i, j);
      entries_.push_back({static_cast<int>(i - 1), static_cast<int>(j - 1), number(2), lines_.number()});
    }
  }

  void read_columns() {
    long long k = 0;
    for (long long j = 0; j < columns_; ++j) {
      const long long first = symmetry_ == Symmetry::general ? 0 : symmetry_ == Symmetry::symmetric ? j : j + 1;
      for (long long i = first; i < rows_; ++i) {
        next_entry(k++, 1);
        entries_.push_back({static_cast<int>(i), static_cast<int>(j), number(0), lines_.number()});
      }
    }
  }

  SparseMatrix assemble() {
    const auto before = [](const Entry& a, const Entry& b) {
      return std::tie(a.row, a.column, a.line) < std::tie(b.row, b.column, b.line);
    };
    if (coordinate_) std::sort(entries_.begin(), entries_.end(), before);
    std::vector<Eigen::Triplet<double, int>> triplets;
    triplets.reserve(entries_.size() * (symmetry_ == Symmetry::general ? 1 : 2));
    for (std::size_t k = 0; k < entries_.size(); ++k) {
      const auto& [i, j, value, line] = entries_[k];
      if (k > 0 && i == entries_[k - 1].row && j == entries_[k - 1].column)
        fail_at(line,
                fmt::format("the entry ({}, {}) is given twice; first on line {}", i + 1, j + 1, entries_[k - 1].line));
      if (value == 0.0) continue;
      triplets.emplace_back(i, j, value);
      if (symmetry_ != Symmetry::general && i != j)
        triplets.emplace_back(j, i, symmetry_ == Symmetry::skew ? -value : value);
    }
    SparseMatrix matrix(rows_, columns_);
    matrix.setFromTriplets(triplets.begin(), triplets.end());
    return matrix;
  }

  LineReader lines_;
  const std::string& path_;
  std::size_t bytes_;
  std::vector<std::string_view> words_;
  std::vector<Entry> entries_;
  bool coordinate_ = true;
  Symmetry symmetry_ = Symmetry::general;
  long long rows_ = 0, columns_ = 0, count_ = 0;
};

}  // namespace

SparseMatrix parse_matrix_market(std::string_view text, const std::string& path_for_messages) {
  return MatrixMarketParser(text, path_for_messages).parse();
}

SparseMatrix read_matrix_market(const std::string& path) {
  return parse_matrix_market(read_text_file(path, kLargestFile), path);
}

}  // namespace stickslip
