// SPDX-License-Identifier: Apache-2.0
// One row over the velocities, given by functions of the model, for systems with q' = v: a direction of a contact or a
// constraint.
//
//   u = a·v - w           relative velocity along the row
//   displacement g(t, q): a = ∂g/∂q, w = surface - ∂g/∂t, so that u = dg/dt - surface
//   given entries:        a(t, q) as written, w = surface
//   bias                  du/dt at constant v: D²g[(1, v), (1, v)] or ȧ·v, minus d(surface)/dt
//
// Derivatives are those of StateFunction. A displacement that is certainly affine (StateFunction::degree), and
// entries that are constant, are reduced to numbers once.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "stickslip/model/expression_scratch.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip {

struct ExpressionRow {
  StateFunction displacement;          ///< g
  std::vector<StateFunction> entries;  ///< given rows: one per column; else empty
  std::vector<int> columns;            ///< ascending
  bool affine = false;                 ///< displacement = constant + by_time t + Σ coefficients q[columns]
  double constant = 0, by_time = 0;
  std::vector<double> coefficients;  ///< affine displacement or constant entries
  StateFunction surface;             ///< of t, q, or a table over time

  bool is_constant() const { return !coefficients.empty() && surface.is_constant(); }
  /// w depends on time.
  bool speeds_up() const {
    return surface.depends_on_time() || (coefficients.empty() && entries.empty() && displacement.depends_on_time());
  }
};

/// Both throw InputError that begins with `what`: for arguments that are not allowed, and for a row that no motion
/// changes.
ExpressionRow displacement_row(const StateFunction& f, const std::string& what, const SystemInfo& info);
ExpressionRow given_row(const std::vector<StateFunction>& entries, const std::string& what, const SystemInfo& info);
void set_surface(ExpressionRow& row, StateFunction surface, const std::string& what, const SystemInfo& info);

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

/// Writes one number per column and returns w.
inline double fill_row(const ExpressionRow& row, const ExpressionScratch* scratch, double* values) {
  if (!row.coefficients.empty()) {
    std::copy(row.coefficients.begin(), row.coefficients.end(), values);
  } else if (!row.entries.empty()) {
    for (const StateFunction& entry : row.entries) *values++ = entry(scratch->values);
  } else {
    for (const int column : row.columns) *values++ = row.displacement.derivative(scratch->values, column + 1);
  }
  return surface_velocity_of(row, scratch);
}

/// scratch.direction = (1, v, 0, 0), for row_bias().
void set_direction(ExpressionScratch& scratch, const Vector& v);
double row_bias(const ExpressionRow& row, const Vector& v, ExpressionScratch& scratch);

/// by_q += λ ∂a/∂q, a as a column (nv × nq)
void add_direction_slopes(const ExpressionRow& row, double lambda, const ExpressionScratch& scratch, DenseMatrix& by_q);
/// by_q.row(i) = ∂u/∂q at fixed v; scratch.direction is that of set_direction().
void set_velocity_slopes(const ExpressionRow& row, const Vector& v, ExpressionScratch& scratch, Index i,
                         DenseMatrix& by_q);

void append_breakpoints(const ExpressionRow& row, BreakpointSearch& search);

}  // namespace stickslip
