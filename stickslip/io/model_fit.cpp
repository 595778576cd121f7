// SPDX-License-Identifier: Apache-2.0
// [fit] of a model file.
#include <fmt/format.h>

#include "stickslip/boundary/column_layout.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/io/model_reader.hpp"

namespace stickslip::model_detail {

namespace {

/// A column of the data that is one of the model's.
Expression column_of_model(const Field& field, const std::string& name, const ColumnLayout& layout) {
  if (!layout.find_column(name))
    field.fail(fmt::format("the model has no column '{}'{}; give what it has instead, as columns = {{ {} = \"..\" }}",
                           name, hint(name, layout.column_names()), name));
  return Expression::parse(name, layout.symbols());
}

/// columns = ["x", "v_x"], or { data name = expression }
void read_columns(const Field& field, const ColumnLayout& layout, FitSection& section) {
  if (const TomlArray* names = field.node->array()) {
    for (std::size_t k = 0; k < names->size(); ++k) {
      const Field item = field.item(k);
      const std::string& name = item.text("the name of a column in quotes");
      section.columns.push_back({name, column_of_model(item, name, layout)});
    }
  } else if (const TomlTable* table = field.node->table()) {
    SymbolTable symbols = layout.symbols();
    add_tables(*field.context, symbols);
    for (const TomlEntry& entry : *table) {
      const Field item{field.context, &entry.node, fmt::format("{}.{}", field.key, entry.key)};
      section.columns.push_back({entry.key, read_expression(item, symbols)});
    }
  } else {
    field.fail_type("a list of columns, or a table { column of the data = \"expression\" }");
  }
  if (section.columns.empty()) field.fail("no column is named; leave the key out to take all of the data");
}

std::vector<std::pair<std::string, double>> read_per_column(const std::optional<Field>& field) {
  std::vector<std::pair<std::string, double>> values;
  if (!field) return values;
  const TomlTable* table = field->node->table();
  if (!table) field->fail_type("a table { column = number }");
  for (const TomlEntry& entry : *table)
    values.emplace_back(
        entry.key, Field{field->context, &entry.node, fmt::format("{}.{}", field->key, entry.key)}.number(kPositive));
  return values;
}

}  // namespace

FitSection read_fit(const Field& field, const TableReader& root, const ModelFile& model) {
  const TableReader table(
      field, {"unknowns", "columns", "sigma", "weights", "data", "tolerance", "max_iterations", "horizons", "starts"});
  if (!model.has_run) field.fail("fitting runs the model; add a table [run] with the scheme and its step or tolerance");
  FitSection section;
  const Field unknowns = table.require("unknowns", "give a list of { name = .., key = .., start = .. }");
  section.unknowns = read_unknowns(unknowns, root, model, section.unknown_places);
  const ColumnLayout layout =
      unknowns.about([&] { return ColumnLayout(*model.system, Parameters(model.parameters), section.unknowns); });
  if (const auto columns = table.find("columns")) read_columns(*columns, layout, section);
  section.sigma = read_per_column(table.find("sigma"));
  section.weights = read_per_column(table.find("weights"));
  if (table.has("sigma") && table.has("weights"))
    table.find("weights")->fail("'sigma' and 'weights' both say how much a column counts; give one of them");
  if (const auto data = table.find("data")) section.data = field.context->resolve(data->text("a file name in quotes"));
  table.number("tolerance", section.options.tolerance, {.low = 1e-14, .high = 0.1});
  table.integer("max_iterations", section.options.max_iterations, 1);
  table.integer("horizons", section.options.horizons, 1);
  table.integer("starts", section.options.starts, 0);
  return section;
}

}  // namespace stickslip::model_detail
