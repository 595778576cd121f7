// SPDX-License-Identifier: Apache-2.0
// Names and messages: SymbolTable, the functions there are, ExpressionError.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/model/expression.hpp"
#include "stickslip/model/expression_parser.hpp"

namespace stickslip {

namespace expression_detail {

namespace {

constexpr std::uint32_t kAny = std::numeric_limits<std::uint32_t>::max();

constexpr std::array kFunctions = {
    Function{"sin", Op::Sin, 1, 1},     Function{"cos", Op::Cos, 1, 1},    Function{"tan", Op::Tan, 1, 1},
    Function{"asin", Op::Asin, 1, 1},   Function{"acos", Op::Acos, 1, 1},  Function{"atan", Op::Atan, 1, 1},
    Function{"atan2", Op::Atan2, 2, 2}, Function{"sinh", Op::Sinh, 1, 1},  Function{"cosh", Op::Cosh, 1, 1},
    Function{"tanh", Op::Tanh, 1, 1},   Function{"exp", Op::Exp, 1, 1},    Function{"log", Op::Log, 1, 1},
    Function{"sqrt", Op::Sqrt, 1, 1},   Function{"abs", Op::Abs, 1, 1},    Function{"sign", Op::Sign, 1, 1},
    Function{"min", Op::Min, 2, kAny},  Function{"max", Op::Max, 2, kAny}, Function{"floor", Op::Floor, 1, 1},
    Function{"mod", Op::Mod, 2, 2},     Function{"if", Op::If, 3, 3},
};

}  // namespace

const Function* find_function(std::string_view name) {
  const auto found = std::ranges::find(kFunctions, name, &Function::name);
  return found == kFunctions.end() ? nullptr : &*found;
}

std::vector<std::string> reserved_names() {
  std::vector<std::string> names = {"pi", "and", "or", "not"};
  for (const Function& function : kFunctions) names.emplace_back(function.name);
  return names;
}

std::string_view spelling(Op op) {
  switch (op) {
    case Op::Negate:
    case Op::Subtract:
      return "-";
    case Op::Add:
      return "+";
    case Op::Multiply:
      return "*";
    case Op::Divide:
      return "/";
    case Op::Power:
      return "^";
    default:
      break;
  }
  const auto found = std::ranges::find(kFunctions, op, &Function::op);
  return found == kFunctions.end() ? "operation" : found->name;
}

std::size_t character_length(std::string_view text, std::size_t byte) {
  const auto lead = static_cast<unsigned char>(text[byte]);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC2 ? 2 : 1;
  if (lead > 0xF4 || byte + length > text.size()) return 1;
  for (std::size_t k = 1; k < length; ++k)
    if ((static_cast<unsigned char>(text[byte + k]) & 0xC0) != 0x80) return 1;
  return length;
}

}  // namespace expression_detail

using expression_detail::character_length;

namespace {

/// Columns shown of a long text, around the place of the error.
constexpr Index kShownBefore = 60;
constexpr Index kShownAfter = 30;

/// One printable entry per character, so that a caret can be put below any of them.
std::vector<std::string> printable_characters(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t byte = 0; byte < text.size();) {
    const std::size_t length = character_length(text, byte);
    const auto lead = static_cast<unsigned char>(text[byte]);
    if (length > 1)
      result.emplace_back(text.substr(byte, length));
    else if (lead >= 0x80 || lead == 0x7F)
      result.emplace_back("?");
    else
      result.emplace_back(1, lead < 0x20 ? ' ' : text[byte]);
    byte += length;
  }
  return result;
}

Index column_of(std::string_view text, std::size_t byte) {
  Index column = 1;
  for (std::size_t at = 0; at < byte && at < text.size(); at += character_length(text, at)) ++column;
  return column;
}

std::string with_caret(const std::string& message, std::string_view text, std::size_t byte) {
  const std::vector<std::string> characters = printable_characters(text);
  const Index column = column_of(text, byte);
  const auto size = static_cast<Index>(characters.size());
  const Index first = column - 1 > kShownBefore ? column - 1 - kShownBefore : 0;
  const Index last = std::min(size, column + kShownAfter);
  std::string shown = first > 0 ? "..." : "";
  const Index indent = static_cast<Index>(shown.size()) + column - 1 - first;
  for (Index k = first; k < last; ++k) shown += characters[static_cast<std::size_t>(k)];
  if (last < size) shown += "...";
  return fmt::format("{}\n  {}\n  {:{}}^", message, shown, "", indent);
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_'; }

bool is_well_formed(std::string_view name) {
  const auto inner = [](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '.'; };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, inner);
}

}  // namespace

ExpressionError::ExpressionError(const std::string& message, std::string_view text, std::size_t byte)
    : InputError(with_caret(message, text, byte)), message_(message), text_(text), column_(column_of(text, byte)) {}

Index SymbolTable::add_variable(const std::string& name) {
  const Index slot = variable_count();
  add(name, {.slot = slot});
  variables_.push_back(name);
  return slot;
}

void SymbolTable::add_constant(const std::string& name, double value) {
  if (!std::isfinite(value)) throw InputError(fmt::format("'{}' = {} is not a finite number", name, value));
  add(name, {.value = value});
}

void SymbolTable::add_table(const std::string& name, std::shared_ptr<const TimeTable> table) {
  require_free(name);
  tables_.emplace(name, std::move(table));
}

void SymbolTable::add(const std::string& name, const Symbol& symbol) {
  require_free(name);
  symbols_.emplace(name, symbol);
}

void SymbolTable::require_free(const std::string& name) const {
  if (!is_well_formed(name))
    throw InputError(fmt::format(
        "'{}' cannot be a name: it must start with a letter or _ and hold only letters, digits, _ and .", name));
  static const std::vector<std::string> reserved = expression_detail::reserved_names();  // asked for every coordinate
  if (std::ranges::count(reserved, name) != 0)
    throw InputError(fmt::format("'{}' has a meaning in expressions and cannot be the name of something else", name));
  if (symbols_.contains(name) || tables_.contains(name))
    throw InputError(fmt::format("the name '{}' is given twice", name));
}

std::shared_ptr<const TimeTable> SymbolTable::find_table(std::string_view name) const {
  const auto found = tables_.find(name);
  return found == tables_.end() ? nullptr : found->second;
}

std::vector<std::string> SymbolTable::table_names() const {
  std::vector<std::string> result;
  for (const auto& entry : tables_) result.push_back(entry.first);
  return result;
}

const SymbolTable::Symbol* SymbolTable::find(std::string_view name) const {
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? nullptr : &found->second;
}

std::vector<std::string> SymbolTable::names() const {
  std::vector<std::string> result = variables_;
  for (const auto& [name, symbol] : symbols_)
    if (symbol.is_constant()) result.push_back(name);
  return result;
}

}  // namespace stickslip
