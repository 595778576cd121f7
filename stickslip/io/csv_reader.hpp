// SPDX-License-Identifier: Apache-2.0
// Cells of a CSV text, line by line (RFC 4180): a cell in quotes may hold commas, line ends and doubled quotes. Blanks
// around a cell do not count. Lines that begin with # and empty ones are passed over.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

class CsvReader {
 public:
  explicit CsvReader(std::string_view text) : rest_(text) {}
  /// False at the end. The cells stay valid until the next call.
  bool next(std::vector<std::string_view>& cells);

 private:
  std::string_view cell(bool& last);
  std::string_view rest_;
  std::deque<std::string> unquoted_;
};

}  // namespace stickslip
