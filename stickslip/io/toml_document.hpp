// SPDX-License-Identifier: Apache-2.0
// A TOML text as plain data: values with the place they come from, tables in the order of the file.
//
// Parsing is by toml++, which is kept out of every other file (compile time) and is handed only texts that
// find_toml_text_error() has passed: version 3.3 has undefined behaviour on some others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stickslip {

/// Where a value was given: line and column (in characters) of the file, both from 1; or the number of the setting
/// (--set KEY=VALUE) that put it there; or the line of another file that the model takes in (a robot; column 0).
struct TomlPlace {
  int line = 1;
  int column = 1;
  int setting = -1;  ///< -1: the file
  int file = -1;     ///< number of the other file; -1: the model file itself
};

struct TomlNode;
struct TomlEntry;
struct TomlDate {};  ///< dates and times: nothing here uses them
using TomlArray = std::vector<TomlNode>;
using TomlTable = std::vector<TomlEntry>;

struct TomlNode {
  std::variant<std::string, std::int64_t, double, bool, TomlDate, TomlArray, TomlTable> value;
  TomlPlace place;

  const TomlTable* table() const { return std::get_if<TomlTable>(&value); }
  TomlTable* table() { return std::get_if<TomlTable>(&value); }
  const TomlArray* array() const { return std::get_if<TomlArray>(&value); }
  TomlArray* array() { return std::get_if<TomlArray>(&value); }
  const std::string* text() const { return std::get_if<std::string>(&value); }
};

struct TomlEntry {
  std::string key;
  TomlPlace place;  ///< of the key
  TomlNode node;
};

/// nullptr if there is none.
const TomlNode* find_key(const TomlTable& table, std::string_view key);
TomlEntry* find_entry(TomlTable& table, std::string_view key);

/// For messages: "the number 3", "the text 'abc'", "a list of 3", "a table", ...
std::string describe(const TomlNode& node);

struct TomlTextError {
  std::size_t byte;  ///< offset in the text
  std::string message;
};
/// The first thing in the text that must not reach the parser:
///   bytes that are not UTF-8 (truncated, overlong, surrogates), zero bytes, UTF-16;
///   characters that are not ASCII outside quotes and comments, right after a backslash, or first after a line-ending
///   backslash; quotes and opening brackets inside a word; a table header without a name;
///   brackets closed by the wrong kind, nested more than 64 deep or keys with more than 32 parts (both recurse).
/// A text that passes may still be no TOML.
std::optional<TomlTextError> find_toml_text_error(std::string_view text);
/// Line and column of a byte.
TomlPlace place_of_byte(std::string_view text, std::size_t byte);

/// Throws InputError of the form "path:LINE:COLUMN: what is wrong".
TomlTable parse_toml(std::string_view text, const std::string& path_for_messages);

/// The right-hand side of KEY=VALUE: a TOML value if it is one, else the text itself. Every place in it is `setting`.
TomlNode parse_toml_value(std::string_view text, int setting);

}  // namespace stickslip
