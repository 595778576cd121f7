// SPDX-License-Identifier: Apache-2.0
// The only file that sees toml++. Its assertions are made exceptions, in every build type, so that an assertion a text
// should not reach becomes a message and not the end of the program. For that it must be compiled here; the CMake
// package asks for the shared library.
#undef NDEBUG
#undef TOML_SHARED_LIB
#undef TOML_HEADER_ONLY
#define TOML_HEADER_ONLY 1
#include <stdexcept>
#define TOML_ASSERT(condition)                                                      \
  do {                                                                              \
    if (!(condition)) throw std::logic_error("the parser cannot handle this text"); \
  } while (false)
#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wterminate"
#include <toml++/toml.h>
#pragma GCC diagnostic pop

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "stickslip/common/error.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/io/toml_document.hpp"

namespace stickslip {

namespace {

TomlPlace place_of(const toml::source_region& region) {
  return {std::max(1, static_cast<int>(region.begin.line)), std::max(1, static_cast<int>(region.begin.column)), -1, -1};
}

TomlNode convert(const toml::node& node) {
  TomlNode result{TomlDate{}, place_of(node.source())};
  if (const auto* table = node.as_table()) {
    TomlTable entries;
    entries.reserve(table->size());
    for (const auto& [key, value] : *table)
      entries.push_back({std::string(key.str()), place_of(key.source()), convert(value)});
    // toml++ sorts by name; the order of the file is what the first message and the order of parameters go by.
    std::stable_sort(entries.begin(), entries.end(), [](const TomlEntry& a, const TomlEntry& b) {
      return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
    });
    result.value = std::move(entries);
  } else if (const auto* array = node.as_array()) {
    TomlArray items;
    items.reserve(array->size());
    for (const auto& item : *array) items.push_back(convert(item));
    result.value = std::move(items);
  } else if (const auto* text = node.as_string()) {
    result.value = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result.value = integer->get();
  } else if (const auto* real = node.as_floating_point()) {
    result.value = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    result.value = boolean->get();
  }
  return result;
}

void set_places(TomlNode& node, const TomlPlace& place) {
  node.place = place;
  if (TomlArray* array = node.array())
    for (TomlNode& item : *array) set_places(item, place);
  if (TomlTable* table = node.table())
    for (TomlEntry& entry : *table) {
      entry.place = place;
      set_places(entry.node, place);
    }
}

}  // namespace

const TomlNode* find_key(const TomlTable& table, std::string_view key) {
  for (const TomlEntry& entry : table)
    if (entry.key == key) return &entry.node;
  return nullptr;
}

TomlEntry* find_entry(TomlTable& table, std::string_view key) {
  for (TomlEntry& entry : table)
    if (entry.key == key) return &entry;
  return nullptr;
}

std::string describe(const TomlNode& node) {
  if (const std::string* text = node.text()) return "the text " + in_quotes(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return fmt::format("the number {}", *integer);
  if (const auto* real = std::get_if<double>(&node.value)) return fmt::format("the number {}", *real);
  if (const auto* boolean = std::get_if<bool>(&node.value)) return *boolean ? "true" : "false";
  if (const TomlArray* array = node.array())
    return array->empty() ? "an empty list" : fmt::format("a list of {}", array->size());
  return node.table() ? "a table" : "a date or time";
}

TomlTable parse_toml(std::string_view text, const std::string& path_for_messages) {
  const auto fail = [&](const TomlPlace& place, const std::string& message) {
    throw InputError(fmt::format("{}:{}:{}: {}", path_for_messages, place.line, place.column, message));
  };
  if (const auto error = find_toml_text_error(text)) fail(place_of_byte(text, error->byte), error->message);
  try {
    return std::move(*convert(toml::parse(text)).table());
  } catch (const toml::parse_error& error) {
    fail(place_of(error.source()), fmt::format("not valid TOML: {}", error.description()));
  } catch (const std::logic_error& error) {
    fail({}, fmt::format("not valid TOML: {}", error.what()));
  }
  return {};
}

TomlNode parse_toml_value(std::string_view text, int setting) {
  TomlNode node{std::string(text), {}};
  try {
    TomlTable table = parse_toml("value = " + std::string(text), "");
    if (table.size() == 1 && table[0].key == "value") node = std::move(table[0].node);
  } catch (const InputError&) {
    // Then it is a text: x1, 2*k, ...
  }
  set_places(node, {1, 1, setting, -1});
  return node;
}

}  // namespace stickslip
