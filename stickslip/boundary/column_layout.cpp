// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/column_layout.hpp"

#include <fmt/format.h>

#include "stickslip/common/error.hpp"

namespace stickslip {

ColumnLayout::ColumnLayout(const System& system, const Parameters& parameters, std::span<const Unknown> unknowns) {
  const TrajectoryNames names = trajectory_names(system, false);
  nq_ = static_cast<Index>(names.coordinates.size());
  nv_ = static_cast<Index>(names.velocities.size());
  reactions_ = static_cast<Index>(names.reactions.size());
  add_column("t");
  for (const std::string& name : names.coordinates) add_column(name);
  for (const std::string& name : velocity_columns(names)) add_column(name);
  for (const std::string& name : names.reactions) add_column("r_" + name);
  for (const std::string& name : names.reactions) add_column("r_" + name + "_smooth");
  for (const auto& [name, value] : parameters) symbols_.add_variable(name);
  for (const Unknown& unknown : unknowns) {
    const bool is_parameter = parameters.find(unknown.name) != nullptr &&
                              (unknown.key == unknown.name || unknown.key == "parameters." + unknown.name);
    if (!is_parameter && symbols_.find(unknown.name))
      throw InputError(fmt::format("unknown '{0}': '{0}' is a column or a parameter of the model; give it another name",
                                   unknown.name));
    unknown_slots_.push_back(is_parameter ? symbols_.find(unknown.name)->slot : symbols_.add_variable(unknown.name));
  }
}

/// A name that no expression can hold (of a law made by a program, with a blank in it) is a column all the same.
void ColumnLayout::add_column(const std::string& name) {
  try {
    symbols_.add_variable(name);
  } catch (const InputError&) {
    symbols_.add_variable(fmt::format("column{}", symbols_.variable_count()));
  }
}

std::optional<Index> ColumnLayout::find_column(const std::string& name) const {
  const SymbolTable::Symbol* symbol = symbols_.find(name);
  if (!symbol || symbol->slot < 1 || symbol->slot >= first_parameter()) return std::nullopt;
  return symbol->slot;
}

std::vector<std::string> ColumnLayout::column_names() const {
  const std::vector<std::string>& all = symbols_.variables();
  return {all.begin() + 1, all.begin() + first_parameter()};
}

Vector ColumnLayout::values(const OutputRow& row, const Parameters& parameters, const Vector& unknowns) const {
  Vector out = Vector::Zero(size());
  out[0] = row.t;
  out.segment(first_position(), nq_) = row.q;
  out.segment(first_velocity(), nv_) = row.v;
  out.segment(first_reaction(), reactions_) = row.reaction;
  if (row.smooth.size() == reactions_) out.segment(first_reaction() + reactions_, reactions_) = row.smooth;
  Index slot = first_parameter();
  for (const auto& [name, value] : parameters) out[slot++] = value;
  for (std::size_t k = 0; k < unknown_slots_.size(); ++k) out[unknown_slots_[k]] = unknowns[static_cast<Index>(k)];
  return out;
}

}  // namespace stickslip
