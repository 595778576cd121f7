// SPDX-License-Identifier: Apache-2.0
// [tables] of a model file: functions given by points, road = { file = "road.csv", column = 2 } or
// { x = [..], y = [..] }, which every expression may call; and [inputs], which a program sets while the system moves.
#include <fmt/format.h>

#include <limits>
#include <memory>

#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/model_reader.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/io/time_table_file.hpp"

namespace stickslip::model_detail {

namespace {

Interpolation interpolation_from(std::string_view word) {
  if (word == "linear") return Interpolation::linear;
  if (word == "cubic") return Interpolation::cubic;
  const std::vector<std::string> known{"linear", "cubic"};
  throw InputError(fmt::format("unknown interpolation {}{}", in_quotes(word), hint(word, known)));
}

std::vector<double> numbers(const Field& field) {
  const TomlArray& items = field.list("a list of numbers");
  std::vector<double> values;
  for (std::size_t k = 0; k < items.size(); ++k) values.push_back(field.item(k).number());
  return values;
}

TimeTable read_points(const TableReader& table, const Field& x, Interpolation interpolation) {
  const Field y = table.require("y", "give one value for each entry of x");
  std::vector<double> times = numbers(x), values = numbers(y);
  if (times.size() != values.size())
    y.fail(fmt::format("the list has {} entries, but x has {}", values.size(), times.size()));
  return x.about([&] { return TimeTable(std::move(times), std::move(values), "the list", interpolation); });
}

std::shared_ptr<const TimeTable> read_one(const Field& field) {
  const TableReader table(field, {"file", "column", "x", "y", "interpolation"});
  Interpolation interpolation = Interpolation::linear;
  table.word("interpolation", [&](std::string_view word) { interpolation = interpolation_from(word); });
  const auto file = table.find("file"), x = table.find("x");
  if (file && x) x->fail("'file' and 'x' both give the points; give one of them");
  if (!file && !x) field.fail("give the points by file = \"road.csv\", or by lists x = [..] and y = [..]");
  if (x) {
    if (const auto column = table.find("column")) column->fail("only a file has columns");
    return std::make_shared<const TimeTable>(read_points(table, *x, interpolation));
  }
  int column = 2;
  if (const auto chosen = table.find("column")) column = static_cast<int>(chosen->integer(2, 100000));
  const std::string path = field.context->resolve(file->text("a file name"));
  return std::make_shared<const TimeTable>(
      file->about([&] { return parse_time_table(field.context->read_file(path), path, column, interpolation); }));
}

}  // namespace

namespace {

/// Of a table or input, whose name expressions use.
void require_name(const ModelContext& context, const TomlEntry& entry, const Field& one, const char* what) {
  if (!is_identifier(entry.key))
    context.fail(entry.place, one.key, "a name is a letter or _, then letters, digits and _");
  if (entry.key == "t" || entry.key == "i")
    context.fail(entry.place, one.key, fmt::format("cannot be {}: t is time and i an index", what));
}

void add_symbol(ModelContext& context, const TomlEntry& entry, const Field& one,
                const std::shared_ptr<const TimeTable>& table) {
  try {
    context.parameters.add_table(entry.key, table);
    context.indexed.add_table(entry.key, table);
  } catch (const InputError& error) {
    context.fail(entry.place, one.key, error.what());
  }
}

/// One point before all times: a function of time without a jump, which takes nothing for granted that holds at one
/// time alone.
TimeTable held(const std::string& name, double number) {
  return {{std::numeric_limits<double>::lowest()}, {number}, name};
}

}  // namespace

std::vector<std::string> read_tables(const Field& field, ModelContext& context) {
  if (!field.node->table()) field.fail_type("a table, as in [tables] and road = { file = \"road.csv\" } below it,");
  std::vector<std::string> lines;
  for (const TomlEntry& entry : *field.node->table()) {
    const Field one{&context, &entry.node, "tables." + entry.key};
    require_name(context, entry, one, "a table");
    const std::shared_ptr<const TimeTable> table = read_one(one);
    add_symbol(context, entry, one, table);
    lines.push_back(fmt::format("{}(x): {} points, x from {:g} to {:g}, {}", entry.key, table->times().size(),
                                table->times().front(), table->times().back(),
                                table->interpolation() == Interpolation::cubic ? "cubic spline" : "linear"));
  }
  return lines;
}

std::vector<ModelInput> read_inputs(const Field& field, ModelContext& context) {
  if (!field.node->table()) field.fail_type("a table, as in [inputs] and u = 0.0 below it,");
  std::vector<ModelInput> inputs;
  for (const TomlEntry& entry : *field.node->table()) {
    const Field one{&context, &entry.node, "inputs." + entry.key};
    require_name(context, entry, one, "an input");
    const double start = one.number();
    inputs.push_back({entry.key, start, std::make_shared<TimeTable>(held(entry.key, start))});
    add_symbol(context, entry, one, inputs.back().value);
  }
  return inputs;
}

void add_tables(const ModelContext& context, SymbolTable& symbols) {
  for (const std::string& name : context.parameters.table_names())
    symbols.add_table(name, context.parameters.find_table(name));
}

}  // namespace stickslip::model_detail

namespace stickslip {

void ModelInput::set(double number) const { *value = model_detail::held(name, number); }

}  // namespace stickslip
