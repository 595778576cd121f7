// SPDX-License-Identifier: Apache-2.0
// Bilateral constraints given by expressions, for systems with q' = v: one row each (expression_row.hpp).
//
//   holonomic      g(t, q) = 0:         A = ∂g/∂q,  rate = -∂g/∂t
//   nonholonomic   a(t, q)·v = β(t, q): A = a,      rate = β
//
// Rows may depend on one another, everywhere or at single positions (a mechanism that lies flat).
#pragma once

#include <vector>

#include "stickslip/model/constraint_element.hpp"
#include "stickslip/model/expression_row.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip {

struct ExpressionConstraint {
  ConstraintElement element;       ///< `holonomic` says which of the two below is used
  StateFunction position;          ///< g, of t, q                        [m, rad]
  std::vector<StateFunction> row;  ///< a, of t, q: nv entries
  StateFunction rate;              ///< β, of t, q, or a table over time  [m/s, rad/s]
};

/// The constraints of one system. Evaluations allocate nothing after the first call.
class ExpressionConstraints {
 public:
  ExpressionConstraints() = default;
  /// Throws InputError naming the constraint and what is wrong with it.
  ExpressionConstraints(std::vector<ExpressionConstraint> constraints, const SystemInfo& info);

  const std::vector<ConstraintElement>& elements() const { return elements_; }
  bool directions_are_constant() const;  ///< and the rates
  /// As the functions of System.
  void evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const;
  void bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& bias) const;
  void force_jacobian(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                      DenseMatrix& by_q) const;
  void velocity_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                         DenseMatrix& by_q) const;
  void append_breakpoints(BreakpointSearch& search) const;

 private:
  ExpressionScratch& scratch_at(double t, const Vector& q, SystemWorkspace& workspace) const;

  SystemInfo info_;
  std::vector<ConstraintElement> elements_;
  std::vector<ExpressionRow> rows_;
};

}  // namespace stickslip
