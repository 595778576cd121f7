// SPDX-License-Identifier: Apache-2.0
// Text files in, whole, with messages a person can act on.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

inline constexpr std::size_t kMebibyte = std::size_t{1} << 20;

/// The bytes of the file. Throws InputError naming the path: absent, a directory, unreadable, larger than `limit`
/// bytes.
std::string read_text_file(const std::string& path, std::size_t limit);

/// A finite decimal number that fills the whole word ("1", "-2.5e-3", "+4"); nothing otherwise.
std::optional<double> parse_finite_number(std::string_view word);
std::optional<long long> parse_integer(std::string_view word);

/// Takes lines off the front of a text: without "\n" or "\r\n", numbered from 1, byte-order mark skipped.
class LineReader {
 public:
  explicit LineReader(std::string_view text);
  /// False at the end of the text.
  bool next(std::string_view& line);
  long number() const { return number_; }  ///< of the line given last

 private:
  std::string_view rest_;
  long number_ = 0;
};

/// Words separated by blanks; fields between separators, without the blanks around them.
void split_words(std::string_view line, std::vector<std::string_view>& words);
void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields);

/// 'text' in quotes for a message: at most 60 characters, no control characters.
std::string in_quotes(std::string_view text);

}  // namespace stickslip
