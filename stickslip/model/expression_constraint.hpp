// SPDX-License-Identifier: Apache-2.0
// Bilateral constraints given by expressions: one row each (expression_row.hpp).
//
//   holonomic      g(t, q) = 0:         A = ∂g/∂q · T(q),  rate = -∂g/∂t
//   nonholonomic   a(t, q)·v = β(t, q): A = a,      rate = β
//
// Rows may depend on one another, everywhere or at single positions (a mechanism that lies flat).
#pragma once

#include <vector>

#include "stickslip/model/constraint_element.hpp"
#include "stickslip/model/expression_row.hpp"
#include "stickslip/model/law_set.hpp"

namespace stickslip {

struct ExpressionConstraint {
  ConstraintElement element = {};       ///< `holonomic` says which of the two below is used
  StateFunction position = 0.0;         ///< g, of t, q                        [m, rad]
  std::vector<StateFunction> row = {};  ///< a, of t, q: nv entries
  StateFunction rate = 0.0;             ///< β, of t, q, or a table over time  [m/s, rad/s]
};

/// The constraints of one system. The kinematics must outlive them.
class ExpressionConstraints final : public ConstraintSource {
 public:
  /// Throws InputError naming the constraint and what is wrong with it.
  ExpressionConstraints(std::vector<ExpressionConstraint> constraints, const Kinematics& kinematics);

  std::unique_ptr<Scratch> make_scratch() const override;
  const std::vector<ConstraintElement>& elements() const override { return elements_; }
  void evaluate(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const override;
  void bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& bias) const override;
  void force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                    DenseMatrix& by_q) const override;
  void velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                       DenseMatrix& by_q) const override;
  bool constant_rows() const override;
  void append_breakpoints(BreakpointSearch& search) const override;
  void append_time_functions(std::vector<const StateFunction*>& functions) const override;

 private:
  ExpressionScratch& scratch_at(double t, const Vector& q, SystemWorkspace& workspace) const;

  const Kinematics* kinematics_;
  std::vector<ConstraintElement> elements_;
  std::vector<ExpressionRow> rows_;
};

}  // namespace stickslip
