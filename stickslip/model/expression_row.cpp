// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression_row.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "stickslip/common/error.hpp"
#include "stickslip/model/position_function.hpp"

namespace stickslip {

namespace {

/// d/dt of f along scratch.direction, which holds (1, q', 0, 0).
double rate(const StateFunction& f, const ExpressionScratch& scratch) {
  return f.directional(scratch.values, scratch.direction).slope;
}

/// f(j, ∂f/∂q_j) for the positions that a function of t, q depends on.
template <class F>
void for_each_slope(const StateFunction& function, const ExpressionScratch& scratch, F&& f) {
  for (const Index slot : function.variables_used())
    if (slot > 0) f(slot - 1, function.derivative(scratch.values, slot));
}

std::vector<int> all_columns(Index n) {
  std::vector<int> columns(static_cast<std::size_t>(n));
  std::iota(columns.begin(), columns.end(), 0);
  return columns;
}

}  // namespace

ExpressionRow displacement_row(const StateFunction& f, const std::string& what, const Kinematics& kinematics) {
  require_position_function(f, what, kinematics);
  ExpressionRow row;
  row.displacement = f;
  for (const Index slot : f.variables_used())
    if (slot > 0) row.columns.push_back(static_cast<int>(slot - 1));
  if (row.columns.empty()) throw InputError(what + " depends on no coordinate, so that no motion changes it");
  row.turns = !kinematics.flat();
  row.velocity_columns = row.turns ? all_columns(kinematics.nv()) : row.columns;
  if (f.degree() != Degree::affine) return row;
  row.affine = true;
  const std::vector<double> origin(static_cast<std::size_t>(2 + kinematics.nq() + kinematics.nv()), 0.0);
  row.constant = f(origin);
  row.by_time = f.derivative(origin, 0);
  for (const int column : row.columns) row.coefficients.push_back(f.derivative(origin, column + 1));
  if (std::all_of(row.coefficients.begin(), row.coefficients.end(), [](double c) { return c == 0.0; }))
    throw InputError(what + " is the same for all coordinates, so that no motion changes it");
  return row;
}

ExpressionRow given_row(const std::vector<StateFunction>& entries, const std::string& what,
                        const Kinematics& kinematics) {
  ExpressionRow row;
  bool constant = true;
  for (std::size_t j = 0; j < entries.size(); ++j) {
    require_position_function(entries[j], fmt::format("{} entry {}", what, j), kinematics);
    if (entries[j].is_constant() && entries[j]({}) == 0.0) continue;
    row.columns.push_back(static_cast<int>(j));
    row.entries.push_back(entries[j]);
    constant &= entries[j].is_constant();
  }
  if (row.columns.empty()) throw InputError(what + ": all entries of a row are 0; one must not be");
  row.velocity_columns = row.columns;
  if (constant)
    for (const StateFunction& entry : row.entries) row.coefficients.push_back(entry({}));
  return row;
}

void set_surface(ExpressionRow& row, StateFunction surface, const std::string& what, const Kinematics& kinematics) {
  if (!surface.table()) require_position_function(surface, what, kinematics);
  row.surface = std::move(surface);
}

void turn_row(const ExpressionRow& row, const Kinematics& kinematics, const Vector& q, ExpressionScratch& scratch) {
  scratch.gradient.setZero();
  fill_slopes(row, &scratch, scratch.entries.data());
  for (std::size_t k = 0; k < row.columns.size(); ++k) scratch.gradient[row.columns[k]] = scratch.entries[k];
  kinematics.pull_back(q, scratch.gradient, scratch.row);
}

void set_direction(const Kinematics& kinematics, const Vector& q, const Vector& v, ExpressionScratch& scratch) {
  kinematics.rate(q, v, scratch.qdot);
  std::fill(scratch.direction.begin(), scratch.direction.end(), 0.0);
  scratch.direction[0] = 1.0;
  for (Index k = 0; k < q.size(); ++k) scratch.direction[static_cast<std::size_t>(1 + k)] = scratch.qdot[k];
}

double row_bias(const ExpressionRow& row, const Kinematics& kinematics, const Vector& q, const Vector& v,
                ExpressionScratch& scratch) {
  double bias = -rate(row.surface, scratch);
  if (row.turns) {
    turn_row(row, kinematics, q, scratch);
    kinematics.rate_bias(q, v, scratch.qdot);
    bias += scratch.gradient.dot(scratch.qdot);
  }
  if (row.affine) return bias;
  if (!row.entries.empty()) {
    for (std::size_t k = 0; k < row.entries.size(); ++k) bias += rate(row.entries[k], scratch) * v[row.columns[k]];
    return bias;
  }
  const StateFunction& g = row.displacement;
  for (const Index slot : g.variables_used()) {
    const auto s = static_cast<std::size_t>(slot);
    scratch.second[s] = SecondDual(Dual(scratch.values[s], scratch.direction[s]), Dual(scratch.direction[s], 0.0));
  }
  return bias + g.evaluate<SecondDual>(scratch.second).slope.slope;
}

void add_direction_slopes(const ExpressionRow& row, double lambda, const ExpressionScratch& scratch,
                          DenseMatrix& hessian) {
  if (!row.coefficients.empty()) return;
  for (std::size_t k = 0; k < row.entries.size(); ++k)
    for_each_slope(row.entries[k], scratch,
                   [&](Index j, double slope) { hessian(row.columns[k], j) += lambda * slope; });
  if (!row.entries.empty()) return;
  const StateFunction& g = row.displacement;
  for (std::size_t k = 0; k < row.columns.size(); ++k)
    for (std::size_t l = 0; l <= k; ++l) {
      const int i = row.columns[k], j = row.columns[l];
      const double slope = lambda * g.second_derivative(scratch.values, 1 + i, 1 + j);
      hessian(i, j) += slope;
      if (i != j) hessian(j, i) += slope;
    }
}

void velocity_slopes(const ExpressionRow& row, const Vector& v, ExpressionScratch& scratch, Vector& slopes) {
  slopes.setZero();
  for_each_slope(row.surface, scratch, [&](Index j, double slope) { slopes[j] -= slope; });
  if (!row.coefficients.empty()) return;
  for (std::size_t k = 0; k < row.entries.size(); ++k)
    for_each_slope(row.entries[k], scratch, [&](Index j, double slope) { slopes[j] += v[row.columns[k]] * slope; });
  if (!row.entries.empty()) return;
  const StateFunction& g = row.displacement;
  for (const int column : row.columns) {
    for (const Index slot : g.variables_used()) {
      const auto s = static_cast<std::size_t>(slot);
      scratch.second[s] =
          SecondDual(Dual(scratch.values[s], scratch.direction[s]), Dual(slot == 1 + column ? 1.0 : 0.0, 0.0));
    }
    slopes[column] += g.evaluate<SecondDual>(scratch.second).slope.slope;
  }
}

void append_breakpoints(const ExpressionRow& row, BreakpointSearch& search) {
  row.displacement.append_breakpoints(search);
  for (const StateFunction& entry : row.entries) entry.append_breakpoints(search);
  row.surface.append_breakpoints(search);
}

void append_time_functions(const ExpressionRow& row, std::vector<const StateFunction*>& functions) {
  functions.push_back(&row.displacement);
  for (const StateFunction& entry : row.entries) functions.push_back(&entry);
  functions.push_back(&row.surface);
}

}  // namespace stickslip
