// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/model_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/io/time_table_file.hpp"

namespace stickslip::model_detail {

namespace {

std::optional<double> plain_number(const TomlNode& node) {
  if (const auto* integer = std::get_if<std::int64_t>(&node.value)) return static_cast<double>(*integer);
  if (const auto* real = std::get_if<double>(&node.value)) return *real;
  return std::nullopt;
}

Expression parse_expression(const Field& field, const std::string& text, const SymbolTable& symbols) {
  return field.about([&] { return Expression::parse(text, symbols); });
}

/// Calls use(name, begin, end) for every name in the text.
template <class Use>
void for_each_name(std::string_view text, Use&& use) {
  const auto digit = [&](std::size_t k) { return k < text.size() && text[k] >= '0' && text[k] <= '9'; };
  const auto letter = [&](std::size_t k) {
    return k < text.size() &&
           ((text[k] >= 'a' && text[k] <= 'z') || (text[k] >= 'A' && text[k] <= 'Z') || text[k] == '_');
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (letter(at)) {
      while (letter(at) || digit(at) || (at < text.size() && text[at] == '.')) ++at;
      use(text.substr(begin, at - begin), begin, at);
    } else if (digit(at) || text[at] == '.') {
      while (digit(at) || (at < text.size() && text[at] == '.')) ++at;
      if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
        const std::size_t exponent =
            at + (at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1);
        if (digit(exponent))
          for (at = exponent; digit(at);) ++at;
      }
    } else {
      ++at;
    }
  }
}

std::string with_index(std::string_view text, Index index) {
  std::string result;
  std::size_t copied = 0;
  for_each_name(text, [&](std::string_view name, std::size_t begin, std::size_t end) {
    if (name != "i") return;
    result += text.substr(copied, begin - copied);
    result += std::to_string(index);
    copied = end;
  });
  result += text.substr(copied);
  return result;
}

StateFunction read_table(const Field& field) {
  const TableReader table(field, {"table", "column"});
  const Field file = table.require("table", "name the file, as in { table = \"load.csv\" }");
  int column = 2;
  if (const auto chosen = table.find("column")) column = static_cast<int>(chosen->integer(2, 100000));
  const std::string path = field.context->resolve(file.text("a file name"));
  return file.about([&] { return StateFunction(parse_time_table(field.context->read_file(path), path, column)); });
}

}  // namespace

std::string ModelContext::where(const TomlPlace& place, std::string_view key) const {
  const std::string about = key.empty() ? "" : fmt::format("key {}: ", in_quotes(key));
  if (place.file >= 0) return fmt::format("{}:{}: {}", robots[static_cast<std::size_t>(place.file)], place.line, about);
  if (place.setting < 0) return fmt::format("{}:{}:{}: {}", path, place.line, place.column, about);
  const std::string& setting = settings[static_cast<std::size_t>(place.setting)];
  const bool same = key == std::string_view(setting).substr(0, setting.find('='));
  return fmt::format("--set {}: {}", setting, same ? "" : about);
}

void ModelContext::fail(const TomlPlace& place, std::string_view key, const std::string& message) const {
  throw InputError(where(place, key) + message);
}

const std::string* ModelContext::stored_file(const std::string& name) const {
  const auto known =
      std::find_if(stored.begin(), stored.end(), [&](const FileText& file) { return file.first == name; });
  return known == stored.end() ? nullptr : &known->second;
}

void ModelContext::keep_file(const std::string& name, std::string text) const {
  if (files && std::none_of(files->begin(), files->end(), [&](const FileText& file) { return file.first == name; }))
    files->emplace_back(name, std::move(text));
}

std::string ModelContext::read_file(const std::string& name) const {
  constexpr std::size_t kLargestFile = 1024 * kMebibyte;
  const std::string* known = stored_file(name);
  std::string text = known ? *known : read_text_file(name, kLargestFile);
  keep_file(name, text);
  return text;
}

std::string ModelContext::resolve(const std::string& relative) const {
  return (std::filesystem::path(path).parent_path() / relative).string();
}

std::string hint(std::string_view misspelt, std::span<const std::string> known) {
  constexpr std::size_t kLongestTypo = 100;
  return name_hint(misspelt.substr(0, kLongestTypo), known);
}

std::string Range::text() const {
  const bool below = std::isfinite(low), above = std::isfinite(high);
  if (below && above) return fmt::format("lie in {}{}, {}{}", open_low ? '(' : '[', low, high, open_high ? ')' : ']');
  if (below) return fmt::format("be {} {}", open_low ? ">" : ">=", low);
  return fmt::format("be {} {}", open_high ? "<" : "<=", high);
}

void Field::fail_type(const std::string& expected) const {
  fail(fmt::format("{} must stand here, not {}", expected, describe(*node)));
}

const std::string& Field::text(const char* what) const {
  if (const std::string* value = node->text()) return *value;
  fail_type(what);
}

bool Field::boolean() const {
  if (const bool* value = std::get_if<bool>(&node->value)) return *value;
  fail_type("true or false");
}

double Field::number(const Range& range) const {
  std::optional<double> value = plain_number(*node);
  if (const std::string* text = node->text()) value = parse_expression(*this, *text, context->parameters)({});
  if (!value) fail_type("a number or an expression of [parameters]");
  if (!std::isfinite(*value)) fail(fmt::format("the value {} must be a finite number", *value));
  if (!range.holds(*value)) fail(fmt::format("the value {} must {}", *value, range.text()));
  return *value;
}

long long Field::integer(long long low, long long high) const {
  const double value = number();
  if (value != std::floor(value)) fail(fmt::format("the value {} must be an integer", value));
  if (value < static_cast<double>(low) || value > static_cast<double>(high))
    fail(fmt::format("the value {} must lie in [{}, {}]", value, low, high));
  return static_cast<long long>(value);
}

const TomlArray& Field::list(const char* what) const {
  if (const TomlArray* array = node->array()) return *array;
  fail_type(what);
}

Field Field::item(std::size_t k) const { return {context, &(*node->array())[k], fmt::format("{}[{}]", key, k)}; }

TableReader::TableReader(const Field& field, std::vector<std::string> known, const Unavailable& unavailable)
    : field_(field), table_(field.node->table()) {
  if (!table_) field.fail_type("a table");
  const std::string prefix = field.key.empty() ? "" : field.key + ".";
  for (const TomlEntry& entry : *table_) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    for (const auto& [word, remedy] : unavailable)
      if (word == entry.key)
        field.context->fail(entry.place, prefix + entry.key, fmt::format("not available in this version; {}", remedy));
    field.context->fail(entry.place, prefix + entry.key, "unknown key" + hint(entry.key, known));
  }
}

std::optional<Field> TableReader::find(std::string_view key) const {
  const TomlNode* node = find_key(*table_, key);
  if (!node) return std::nullopt;
  return Field{field_.context, node, field_.key.empty() ? std::string(key) : fmt::format("{}.{}", field_.key, key)};
}

Field TableReader::require(std::string_view key, const std::string& remedy) const {
  if (auto field = find(key)) return *field;
  field_.fail(fmt::format("'{}' is missing; {}", key, remedy));
}

void TableReader::number(std::string_view key, double& value, const Range& range) const {
  if (const auto field = find(key)) value = field->number(range);
}

void TableReader::integer(std::string_view key, int& value, int low) const {
  if (const auto field = find(key)) value = static_cast<int>(field->integer(low, std::numeric_limits<int>::max()));
}

void TableReader::boolean(std::string_view key, bool& value) const {
  if (const auto field = find(key)) value = field->boolean();
}

void TableReader::word(std::string_view key, const std::function<void(std::string_view)>& use) const {
  const auto field = find(key);
  if (!field) return;
  const std::string& name = field->text("a word in quotes");
  field->about([&] { use(name); });
}

StateFunction read_function(const Field& field, const SymbolTable& symbols, std::optional<Index> index) {
  if (const TomlTable* table = field.node->table())
    return find_key(*table, "function") ? read_program_function(field, symbols) : read_table(field);
  const std::string* text = field.node->text();
  if (!text) {
    if (!plain_number(*field.node)) field.fail_type("a number, an expression or { table = \"file.csv\" }");
    return field.number();
  }
  Expression expression = parse_expression(field, *text, symbols);
  if (!mentions(*text, "i")) return expression;
  if (!index) field.fail("the index i has no meaning here: the law does not belong to one coordinate");
  return parse_expression(field, with_index(*text, *index), symbols);
}

Expression read_expression(const Field& field, const SymbolTable& symbols) {
  return parse_expression(field, field.text("an expression in quotes"), symbols);
}

StateFunction read_common_function(const Field& field, const SymbolTable& symbols) {
  if (const std::string* text = field.node->text()) return parse_expression(field, *text, symbols);
  return read_function(field, symbols, std::nullopt);
}

StateSymbols symbols_of(const ModelContext& context, const std::vector<std::string>& coordinates) {
  std::vector<std::pair<std::string, double>> parameters;
  for (const std::string& name : context.parameters.names())
    parameters.emplace_back(name, context.parameters.find(name)->value);
  StateSymbols symbols{coordinates, state_symbols(coordinates, parameters)};
  add_tables(context, symbols.table);
  return symbols;
}

StateFunction read_function_of(const Field& field, const StateSymbols& symbols, Arguments allowed, const char* what) {
  StateFunction f = read_function(field, symbols.table, std::nullopt);
  field.about([&] { require_arguments(f, what, allowed, symbols.coordinates); });
  return f;
}

std::string read_law_name(const Field& field) {
  const std::string& name = field.text("a name");
  const auto forbidden = [](char c) {
    return static_cast<unsigned char>(c) <= ' ' || std::string_view(".,;\"'=\x7F").find(c) != std::string_view::npos;
  };
  if (name.empty() || (name[0] >= '0' && name[0] <= '9') || std::any_of(name.begin(), name.end(), forbidden))
    field.fail("a name cannot be empty, start with a digit, or hold blanks, quotes or any of . , ; =");
  return name;
}

NamedField name_element(const Field& list, std::size_t k, const char* word, std::size_t number,
                        std::set<std::string>& taken) {
  const Field item = list.item(k);
  const TomlNode* given = item.node->table() ? find_key(*item.node->table(), "name") : nullptr;
  std::string name = fmt::format("{}{}", word, number);
  if (given && given->text()) name = *given->text();
  NamedField result{{list.context, item.node, fmt::format("{}.{}", word, name)}, name};
  const Field about = given ? Field{list.context, given, result.field.key + ".name"} : result.field;
  if (given) read_law_name(about);
  if (!taken.insert(name).second)
    about.fail(fmt::format("the name '{}' is given twice; give one of them another name", name));
  return result;
}

Vector read_vector(const Field& field, Index n, const char* what) {
  Vector values(n);
  if (const std::string* text = field.node->text()) {
    const Expression expression = parse_expression(field, *text, field.context->indexed);
    for (Index k = 0; k < n; ++k) {
      const double index = static_cast<double>(k);
      values[k] = expression(std::span<const double>(&index, 1));
      if (!std::isfinite(values[k]))
        field.fail(fmt::format("the value for i = {} is {}; it must be finite", k, values[k]));
    }
    return values;
  }
  if (plain_number(*field.node)) return Vector::Constant(n, field.number());
  const TomlArray& items = field.list("a list of numbers, or one expression with the index i,");
  if (static_cast<Index>(items.size()) != n)
    field.fail(fmt::format("the list has {} numbers, but there are {} {}", items.size(), n, what));
  for (Index k = 0; k < n; ++k) values[k] = field.item(static_cast<std::size_t>(k)).number();
  return values;
}

bool mentions(std::string_view expression, std::string_view name) {
  bool found = false;
  for_each_name(expression, [&](std::string_view seen, std::size_t, std::size_t) { found |= seen == name; });
  return found;
}

std::vector<std::string> names_in(std::string_view expression) {
  std::vector<std::string> names;
  for_each_name(expression, [&](std::string_view name, std::size_t, std::size_t) { names.emplace_back(name); });
  return names;
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

}  // namespace stickslip::model_detail
