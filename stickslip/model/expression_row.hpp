// SPDX-License-Identifier: Apache-2.0
// One row over the velocities, given by functions of the model: a direction of a contact or a constraint.
//
//   u = a·v - w           relative velocity along the row
//   displacement g(t, q): a = T(q)ᵀ ∂g/∂q, w = surface - ∂g/∂t, so that u = dg/dt - surface
//   given entries:        a(t, q) as written, w = surface
//   bias                  du/dt at constant v: D²g[(1, q'), (1, q')] + ∂g/∂q · d/dt(T v), or ȧ·v, minus d(surface)/dt
//
// T = 1 for flat kinematics, where columns of q are columns of v.
//
// Derivatives are those of StateFunction. A displacement that is certainly affine (StateFunction::degree), and
// entries that are constant, are reduced to numbers once.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "stickslip/model/expression_scratch.hpp"
#include "stickslip/model/kinematics.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip {

struct ExpressionRow {
  StateFunction displacement;          ///< g
  std::vector<StateFunction> entries;  ///< given rows: one per column; else empty
  std::vector<int> columns;            ///< ascending; of q for a displacement, of v for given rows
  std::vector<int> velocity_columns;   ///< of a: the same, or all where T(q) stands between
  bool turns = false;                  ///< it does: a is T(q)ᵀ times the slopes of a displacement
  bool affine = false;                 ///< displacement = constant + by_time t + Σ coefficients q[columns]
  double constant = 0, by_time = 0;
  std::vector<double> coefficients;  ///< affine displacement or constant entries
  StateFunction surface;             ///< of t, q, or a table over time

  bool is_constant() const { return !coefficients.empty() && surface.is_constant() && !turns; }
  /// w depends on time.
  bool speeds_up() const {
    return surface.depends_on_time() || (coefficients.empty() && entries.empty() && displacement.depends_on_time());
  }
};

/// Both throw InputError that begins with `what`: for arguments that are not allowed, and for a row that no motion
/// changes.
ExpressionRow displacement_row(const StateFunction& f, const std::string& what, const Kinematics& kinematics);
ExpressionRow given_row(const std::vector<StateFunction>& entries, const std::string& what,
                        const Kinematics& kinematics);
void set_surface(ExpressionRow& row, StateFunction surface, const std::string& what, const Kinematics& kinematics);

// Below, scratch holds (t, q); a row that is_constant() needs none.

/// g(t, q)
inline double displacement_of(const ExpressionRow& row, double t, const Vector& q, const ExpressionScratch* scratch) {
  if (!row.affine) return row.displacement(scratch->values);
  double value = row.constant + row.by_time * t;
  for (std::size_t k = 0; k < row.columns.size(); ++k) value += row.coefficients[k] * q[row.columns[k]];
  return value;
}

/// w
inline double surface_velocity_of(const ExpressionRow& row, const ExpressionScratch* scratch) {
  const double surface = row.surface.is_constant() ? row.surface({}) : row.surface(scratch->values);
  if (!row.coefficients.empty()) return surface - row.by_time;
  return row.entries.empty() ? surface - row.displacement.derivative(scratch->values, 0) : surface;
}

/// Slopes of the displacement by q, or given entries: one number per entry of `columns`.
inline void fill_slopes(const ExpressionRow& row, const ExpressionScratch* scratch, double* values) {
  if (!row.coefficients.empty()) {
    std::copy(row.coefficients.begin(), row.coefficients.end(), values);
  } else if (!row.entries.empty()) {
    for (const StateFunction& entry : row.entries) *values++ = entry(scratch->values);
  } else {
    for (const int column : row.columns) *values++ = row.displacement.derivative(scratch->values, column + 1);
  }
}
/// The same as scratch.row over all velocities, by T(q)ᵀ; scratch.gradient by q.
void turn_row(const ExpressionRow& row, const Kinematics& kinematics, const Vector& q, ExpressionScratch& scratch);

/// Writes one number per velocity column and returns w.
inline double fill_row(const ExpressionRow& row, const Kinematics& kinematics, const Vector& q,
                       ExpressionScratch* scratch, double* values) {
  if (row.turns) {
    turn_row(row, kinematics, q, *scratch);
    std::copy_n(scratch->row.data(), scratch->row.size(), values);
  } else {
    fill_slopes(row, scratch, values);
  }
  return surface_velocity_of(row, scratch);
}

/// scratch.direction = (1, q', 0, 0), for row_bias().
void set_direction(const Kinematics& kinematics, const Vector& q, const Vector& v, ExpressionScratch& scratch);
double row_bias(const ExpressionRow& row, const Kinematics& kinematics, const Vector& q, const Vector& v,
                ExpressionScratch& scratch);

/// hessian += λ ∂a/∂q (columns of a × nq), for a row that does not turn; of a displacement's slopes where it does.
void add_direction_slopes(const ExpressionRow& row, double lambda, const ExpressionScratch& scratch,
                          DenseMatrix& hessian);
/// slopes = ∂u/∂q at fixed q' (nq numbers); scratch.direction is that of set_direction().
void velocity_slopes(const ExpressionRow& row, const Vector& v, ExpressionScratch& scratch, Vector& slopes);

void append_breakpoints(const ExpressionRow& row, BreakpointSearch& search);
void append_time_functions(const ExpressionRow& row, std::vector<const StateFunction*>& functions);

}  // namespace stickslip
