// SPDX-License-Identifier: Apache-2.0
// [equations] of a model file.
#include <fmt/format.h>

#include "stickslip/io/model_reader.hpp"

namespace stickslip::model_detail {

namespace {

std::vector<std::vector<StateFunction>> read_mass(const Field& field, const StateSymbols& symbols) {
  const std::size_t n = symbols.coordinates.size();
  const TomlArray& rows = field.list("a list of rows, i.e. of lists of numbers and expressions,");
  if (rows.size() != n) field.fail(fmt::format("the matrix has {} rows, but there are {} coordinates", rows.size(), n));
  std::vector<std::vector<StateFunction>> mass(n);
  for (std::size_t i = 0; i < n; ++i) {
    const Field row = field.item(i);
    if (row.list("a row, i.e. a list of numbers and expressions,").size() != n)
      row.fail(fmt::format("the row has {} entries, but there are {} coordinates", row.node->array()->size(), n));
    for (std::size_t j = 0; j < n; ++j)
      mass[i].push_back(read_function_of(row.item(j), symbols, Arguments::position, "the mass"));
  }
  return mass;
}

std::vector<StateFunction> read_force(const Field& field, const StateSymbols& symbols) {
  const std::size_t n = symbols.coordinates.size();
  const TomlArray& items = field.list("a list of one force per coordinate");
  if (items.size() != n)
    field.fail(fmt::format("the list has {} components, but there are {} coordinates", items.size(), n));
  std::vector<StateFunction> force;
  for (std::size_t k = 0; k < n; ++k)
    force.push_back(read_function(field.item(k), symbols.table, static_cast<Index>(k)));
  return force;
}

}  // namespace

EquationsSection read_equations(const Field& field) {
  const TableReader table(field,
                          {"coordinates", "mass", "force", "potential", "dissipation", "kinetic_energy", "angles"});
  EquationModel model;
  model.coordinates = read_coordinates(table.require("coordinates", "name them, as in coordinates = [\"x\", \"phi\"]"));
  StateSymbols symbols = symbols_of(*field.context, model.coordinates);
  const auto mass = table.find("mass"), energy = table.find("kinetic_energy");
  if (mass && energy) energy->fail("'mass' and 'kinetic_energy' both give the inertia; give one of them");
  if (!mass && !energy) field.fail("'mass' is missing; give the mass matrix, or kinetic_energy = \"...\" instead");
  if (mass) model.mass = read_mass(*mass, symbols);
  if (energy)
    model.kinetic_energy = read_function_of(*energy, symbols, Arguments::position_velocity, "the kinetic energy");
  if (const auto force = table.find("force")) model.force = read_force(*force, symbols);
  if (const auto potential = table.find("potential"))
    model.potential = read_function_of(*potential, symbols, Arguments::position, "the potential");
  if (const auto dissipation = table.find("dissipation"))
    model.dissipation = read_function_of(*dissipation, symbols, Arguments::position_velocity, "the dissipation");
  return {std::move(model), std::move(symbols), mass ? *mass : *energy};
}

}  // namespace stickslip::model_detail
