// SPDX-License-Identifier: Apache-2.0
// The check of a text before it reaches the TOML parser. It follows the structure of the text (quotes, comments,
// brackets, keys) only as far as that is valid: the parser stops with an error where it is not.
#include <fmt/format.h>

#include <algorithm>

#include "stickslip/io/toml_document.hpp"

namespace stickslip {

namespace {

constexpr std::size_t kDeepestNesting = 64;
constexpr int kMostKeyParts = 32;

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

/// Length of the well-formed UTF-8 sequence at `at` (Unicode 15, table 3-7), or 0.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const unsigned a = byte_at(text, at), b = byte_at(text, at + 1);
  const auto follows = [&](std::size_t k) { return (byte_at(text, at + k) & 0xC0u) == 0x80u; };
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return follows(1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    const bool second = follows(1) && !(a == 0xE0 && b < 0xA0) && !(a == 0xED && b > 0x9F);
    return second && follows(2) ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    const bool second = follows(1) && !(a == 0xF0 && b < 0x90) && !(a == 0xF4 && b > 0x8F);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::optional<TomlTextError> find_encoding_error(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
    return TomlTextError{0, "the file is in UTF-16; save it as UTF-8"};
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\0') return TomlTextError{at, "a zero byte: this is not a text file"};
    const std::size_t length = sequence_length(text, at);
    if (length == 0)
      return TomlTextError{
          at, fmt::format("the byte 0x{:02X} is not valid UTF-8 here; save the file as UTF-8", byte_at(text, at))};
    at += length;
  }
  return std::nullopt;
}

bool is_bare_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}
bool is_quote(char c) { return c == '"' || c == '\''; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
  }

  std::optional<TomlTextError> scan() {
    while (at_ < text_.size() && !error_ && !stopped_) step();
    return error_;
  }

 private:
  void fail(std::size_t at, std::string message) { error_ = TomlTextError{at, std::move(message)}; }
  bool starts(std::string_view word) const { return text_.substr(at_).starts_with(word); }

  void step() {
    const char c = text_[at_];
    if (c == '\n' || is_blank(c)) {
      in_word_ = false;
      if (c == '\n' && open_.empty()) begin_statement();
      ++at_;
    } else if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (is_quote(c)) {
      quote();
    } else if (!is_ascii(c)) {
      fail(at_,
           fmt::format("'{}' can stand only in quotes and comments", text_.substr(at_, sequence_length(text_, at_))));
    } else {
      punctuation(c);
      statement_start_ = false;
      ++at_;
    }
  }

  void begin_statement() {
    statement_start_ = in_key_ = true;
    key_parts_ = 1;
  }

  void punctuation(char c) {
    switch (c) {
      case '[':
        if (statement_start_) return header();
        [[fallthrough]];
      case '{':
        if (in_word_) return fail_inside_word();
        open_.push_back(c);
        if (open_.size() > kDeepestNesting)
          fail(at_, fmt::format("brackets are nested more than {} deep", kDeepestNesting));
        begin_item();
        break;
      case ']':
      case '}':
        if (!open_.empty() && open_.back() != (c == ']' ? '[' : '{'))
          return fail(at_, fmt::format("'{}' cannot close '{}'", c, open_.back()));
        if (!open_.empty()) open_.pop_back();
        in_word_ = false;
        break;
      case ',':
        begin_item();
        break;
      case '=':
        in_word_ = !in_key_;
        in_key_ = false;
        break;
      case '.':
        in_word_ = !in_key_;
        if (in_key_ && ++key_parts_ > kMostKeyParts)
          fail(at_, fmt::format("the key has more than {} parts", kMostKeyParts));
        break;
      default:
        in_word_ = true;
        break;
    }
  }

  void begin_item() {
    in_word_ = false;
    in_key_ = !open_.empty() && open_.back() == '{';
    key_parts_ = 1;
  }

  void header() {
    if (starts("[[")) ++at_;
    std::size_t name = at_ + 1;
    while (name < text_.size() && (text_[name] == ' ' || text_[name] == '\t')) ++name;
    if (name >= text_.size() || !(is_bare_key_character(text_[name]) || is_quote(text_[name])))
      fail(at_, "a table header needs a name, as in [run] or [[friction]]");
  }

  /// The parser takes a number and all that follows without a break for one word, and looks for the end of the word
  /// even among what is quoted there.
  void fail_inside_word() { fail(at_, fmt::format("'{}' cannot stand inside a word", text_[at_])); }

  void quote() {
    if (in_word_) return fail_inside_word();
    statement_start_ = false;
    const char mark = text_[at_];
    const std::string triple(3, mark);
    const bool multi_line = starts(triple);
    at_ += multi_line ? 3 : 1;
    while (at_ < text_.size() && !error_) {
      const char c = text_[at_];
      if (c == mark && (!multi_line || starts(triple))) {
        at_ += multi_line ? 3 : 1;
        while (multi_line && at_ < text_.size() && text_[at_] == mark) ++at_;
        in_word_ = true;
        return;
      }
      if (c == '\n' && !multi_line) break;
      ++at_;
      if (c == '\\' && mark == '"') escape(multi_line);
    }
    stopped_ = true;  // never closed: the parser says so
  }

  void escape(bool multi_line) {
    const std::size_t backslash = at_ - 1;
    std::size_t next = at_;
    if (multi_line)
      while (next < text_.size() && (is_blank(text_[next]) || text_[next] == '\n')) ++next;
    if (next < text_.size() && !is_ascii(text_[next]))
      return fail(backslash,
                  fmt::format("a backslash cannot be followed by '{}'; write it before the backslash or as \\uXXXX",
                              text_.substr(next, sequence_length(text_, next))));
    if (next == at_ && next < text_.size() && text_[next] != '\n') ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string open_;  // brackets
  bool statement_start_ = true, in_key_ = true, in_word_ = false, stopped_ = false;
  int key_parts_ = 1;
  std::optional<TomlTextError> error_;
};

}  // namespace

std::optional<TomlTextError> find_toml_text_error(std::string_view text) {
  if (auto error = find_encoding_error(text)) return error;
  return Scanner(text).scan();
}

TomlPlace place_of_byte(std::string_view text, std::size_t byte) {
  TomlPlace place;
  for (std::size_t at = text.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < byte && at < text.size(); ++at) {
    if (text[at] == '\n') {
      ++place.line;
      place.column = 1;
    } else if ((static_cast<unsigned char>(text[at]) & 0xC0u) != 0x80u) {
      ++place.column;
    }
  }
  return place;
}

}  // namespace stickslip
