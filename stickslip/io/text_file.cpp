// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {
constexpr std::string_view kBlanks = " \t\r\v\f";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string_view without_plus(std::string_view word) {
  if (word.size() > 1 && word[0] == '+' && word[1] != '-' && word[1] != '+') word.remove_prefix(1);
  return word;
}
}  // namespace

std::string read_text_file(const std::string& path, std::size_t limit) {
  if (path.empty()) throw InputError("the name of the file is empty");
  if (path.find('\0') != std::string::npos)
    throw InputError(fmt::format("{}: a file name cannot hold a zero byte", in_quotes(path)));
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) throw InputError(fmt::format("{}: no such file", path));
  if (status.type() == std::filesystem::file_type::directory)
    throw InputError(fmt::format("{}: is a directory, not a file", path));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  // Read until the limit rather than trust the size: a pipe or device has none.
  std::string text;
  std::string block(kMebibyte, '\0');
  while (const std::size_t count = std::fread(block.data(), 1, block.size(), file.get())) {
    text.append(block, 0, count);
    if (text.size() > limit)
      throw InputError(
          fmt::format("{}: the file is larger than {} MiB, the most that is read", path, limit / kMebibyte));
  }
  if (std::ferror(file.get())) throw InputError(fmt::format("{}: cannot be read: {}", path, std::strerror(errno)));
  return text;
}

std::optional<double> parse_finite_number(std::string_view word) {
  word = without_plus(word);
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Too small is 0 for all purposes here; too large is refused.
    const std::string copy(word);
    char* stop = nullptr;
    value = std::strtod(copy.c_str(), &stop);
    if (stop != copy.c_str() + copy.size()) return std::nullopt;
  } else if (error != std::errc() || end != word.data() + word.size()) {
    return std::nullopt;
  }
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<long long> parse_integer(std::string_view word) {
  word = without_plus(word);
  long long value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

LineReader::LineReader(std::string_view text) : rest_(text) {
  if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
}

bool LineReader::next(std::string_view& line) {
  if (rest_.empty()) return false;
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++number_;
  return true;
}

void split_words(std::string_view line, std::vector<std::string_view>& words) {
  words.clear();
  while (true) {
    const std::size_t first = line.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return;
    const std::size_t end = std::min(line.find_first_of(kBlanks, first), line.size());
    words.push_back(line.substr(first, end - first));
    line.remove_prefix(end);
  }
}

void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  while (true) {
    const std::size_t end = line.find(separator);
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string result = "'";
  std::size_t characters = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) != 0x80 && characters++ == kShown) {
      result += "...";
      break;
    }
    result += byte < 0x20 || byte == 0x7F ? ' ' : c;
  }
  return result + "'";
}

}  // namespace stickslip
