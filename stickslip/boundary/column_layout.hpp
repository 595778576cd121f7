// SPDX-License-Identifier: Apache-2.0
// The numbers of one instant that conditions and measurements speak of, as one vector:
//
//   (t, coordinates, velocities, reactions, smooth parts of the reactions, parameters, unknowns)
//
// under the names of trajectory.csv: t, x, v_x, r_<law>, r_<law>_smooth (0 where no law has such a part), then the
// parameters of the case and the unknowns by theirs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "stickslip/boundary/unknown.hpp"
#include "stickslip/model/expression.hpp"
#include "stickslip/motion/case.hpp"
#include "stickslip/motion/trajectory.hpp"

namespace stickslip {

class ColumnLayout {
 public:
  /// Throws InputError where an unknown has the name of a column, or of a parameter that it is not.
  ColumnLayout(const System& system, const Parameters& parameters, std::span<const Unknown> unknowns);

  Index size() const { return symbols_.variable_count(); }
  const SymbolTable& symbols() const { return symbols_; }  ///< for conditions
  /// Of a column of trajectory.csv but t; nothing if there is none.
  std::optional<Index> find_column(const std::string& name) const;
  std::vector<std::string> column_names() const;  ///< those, in order
  Index first_position() const { return 1; }
  Index first_velocity() const { return 1 + nq_; }
  Index first_reaction() const { return 1 + nq_ + nv_; }
  Index first_parameter() const { return first_reaction() + 2 * reactions_; }
  bool is_reaction(Index slot) const { return slot >= first_reaction() && slot < first_parameter(); }

  Vector values(const OutputRow& row, const Parameters& parameters, const Vector& unknowns) const;

 private:
  void add_column(const std::string& name);

  SymbolTable symbols_;
  Index nq_, nv_, reactions_;
  std::vector<Index> unknown_slots_;
};

}  // namespace stickslip
