// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/csv_reader.hpp"

#include <algorithm>

namespace stickslip {

namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) - from + 1);
}

}  // namespace

/// Takes a cell and what separates it from the next off the front. `last`: of its line.
std::string_view CsvReader::cell(bool& last) {
  const std::size_t begin = std::min(rest_.find_first_not_of(kBlanks), rest_.size());
  std::string_view value;
  if (begin < rest_.size() && rest_[begin] == '"') {
    std::string text;
    std::size_t at = begin + 1;
    for (; at < rest_.size(); ++at) {
      if (rest_[at] != '"') {
        text += rest_[at];
      } else if (at + 1 < rest_.size() && rest_[at + 1] == '"') {
        text += rest_[++at];
      } else {
        break;
      }
    }
    rest_.remove_prefix(std::min(at + 1, rest_.size()));
    value = unquoted_.emplace_back(std::move(text));
    rest_.remove_prefix(std::min(rest_.find_first_of(",\n"), rest_.size()));
  } else {
    const std::size_t end = std::min(rest_.find_first_of(",\n"), rest_.size());
    value = without_blanks(rest_.substr(0, end));
    rest_.remove_prefix(end);
  }
  last = rest_.empty() || rest_.front() == '\n';
  if (!rest_.empty()) rest_.remove_prefix(1);
  return value;
}

bool CsvReader::next(std::vector<std::string_view>& cells) {
  unquoted_.clear();
  cells.clear();
  while (!rest_.empty()) {
    const std::string_view line = without_blanks(rest_.substr(0, rest_.find('\n')));
    if (!line.empty() && line.front() != '#') break;
    rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size() - 1) + 1);
  }
  if (rest_.empty()) return false;
  for (bool last = false; !last;) cells.push_back(cell(last));
  return true;
}

}  // namespace stickslip
