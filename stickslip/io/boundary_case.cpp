// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/boundary_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/nearest_name.hpp"
#include "stickslip/io/model_case.hpp"

namespace stickslip {

namespace {

/// Every key is tried alone, so that a mistake is told with its place.
void require_keys(const Case& model, const std::vector<Unknown>& unknowns, const std::vector<std::string>& places) {
  for (std::size_t k = 0; k < unknowns.size(); ++k) {
    if (unknowns[k].is_end_time()) continue;
    try {
      Case(model).set(unknowns[k].key, unknowns[k].start);
    } catch (const InputError& error) {
      throw InputError(places[k] + error.what());
    }
  }
}

double value_for(const std::vector<std::pair<std::string, double>>& values, const std::string& name, double otherwise) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& entry) { return entry.first == name; });
  return found == values.end() ? otherwise : found->second;
}

std::vector<std::string> names_of(const std::vector<FitSection::Column>& columns) {
  std::vector<std::string> names;
  for (const FitSection::Column& column : columns) names.push_back(column.name);
  return names;
}

/// All columns of the data, each as the column of the model with its name.
std::vector<FitSection::Column> all_columns(const MeasurementTable& data, const ColumnLayout& layout) {
  std::vector<FitSection::Column> columns;
  for (const std::string& name : data.names) {
    if (!layout.find_column(name))
      throw InputError(fmt::format(
          "{}:1: column '{}' of the data is none of the model{}; say what it measures in [fit], columns = {{ {} = "
          "\"..\" }}, or name those that count",
          data.path, name, name_hint(name, layout.column_names()), name));
    columns.push_back({name, Expression::parse(name, layout.symbols())});
  }
  return columns;
}

}  // namespace

ShootingProblem shooting_problem(const ModelFile& model) {
  const ShootSection& section = *model.shoot;
  ShootingProblem problem{make_case(model), section.unknowns, section.conditions,
                          section.end_time, section.segments, section.nodes};
  require_keys(problem.model, section.unknowns, section.unknown_places);
  return problem;
}

FitProblem fit_problem(const ModelFile& model, const MeasurementTable& data) {
  const FitSection& section = *model.fit;
  FitProblem problem{make_case(model), section.unknowns, {data.times, {}}};
  require_keys(problem.model, section.unknowns, section.unknown_places);
  const ColumnLayout layout(*model.system, Parameters(model.parameters), section.unknowns);
  const std::vector<FitSection::Column> columns = section.columns.empty() ? all_columns(data, layout) : section.columns;
  for (const FitSection::Column& column : columns) {
    const auto found = std::find(data.names.begin(), data.names.end(), column.name);
    if (found == data.names.end())
      throw InputError(fmt::format("{}:1: the data have no column '{}', which [fit] compares{}", data.path, column.name,
                                   name_hint(column.name, data.names)));
    problem.data.columns.push_back(
        {column.name, column.model, data.values[static_cast<std::size_t>(found - data.names.begin())],
         value_for(section.sigma, column.name, 0), value_for(section.weights, column.name, 1)});
  }
  const std::vector<std::string> names = names_of(columns);
  for (const auto* given : {&section.sigma, &section.weights})
    for (const auto& [name, value] : *given)
      if (std::find(names.begin(), names.end(), name) == names.end())
        throw InputError(fmt::format("{}: [fit] gives {} of '{}', which is no column that is compared{}", model.path,
                                     given == &section.sigma ? "sigma" : "a weight", name, name_hint(name, names)));
  const long known = std::count_if(problem.data.columns.begin(), problem.data.columns.end(),
                                   [](const MeasuredColumn& column) { return column.sigma > 0; });
  if (known > 0 && known < static_cast<long>(problem.data.columns.size()))
    throw InputError(fmt::format("{}: [fit] gives sigma of some columns; give it of all ({}) or of none", model.path,
                                 fmt::join(names, ", ")));
  return problem;
}

std::vector<std::string> settings_of(const ModelFile& model, const std::vector<Unknown>& unknowns,
                                     const Vector& values) {
  const Parameters parameters(model.parameters);
  std::vector<std::string> settings;
  for (std::size_t k = 0; k < unknowns.size(); ++k)
    if (!unknowns[k].is_end_time())
      settings.push_back(setting_of(parameters, {unknowns[k].key, values[static_cast<Index>(k)]}));
  return settings;
}

}  // namespace stickslip
