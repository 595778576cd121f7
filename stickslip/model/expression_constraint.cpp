// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression_constraint.hpp"

#include <fmt/format.h>

#include "stickslip/common/error.hpp"
#include "stickslip/model/function_shape.hpp"

namespace stickslip {

std::unique_ptr<Scratch> ExpressionConstraints::make_scratch() const {
  return std::make_unique<ExpressionScratch>(kinematics_->nq(), kinematics_->nv());
}

ExpressionConstraints::ExpressionConstraints(std::vector<ExpressionConstraint> constraints,
                                             const Kinematics& kinematics)
    : kinematics_(&kinematics) {
  for (ExpressionConstraint& constraint : constraints) {
    const ConstraintElement& element = constraint.element;
    validate(element);
    const auto about = [&](const char* key) { return fmt::format("constraint '{}': {}", element.name, key); };
    if (element.holonomic) {
      if (!constraint.row.empty())
        throw InputError(fmt::format("{} belongs to nonholonomic constraints; give position or row", about("row")));
      rows_.push_back(displacement_row(constraint.position, about("position"), kinematics));
    } else {
      if (static_cast<Index>(constraint.row.size()) != kinematics_->nv())
        throw InputError(fmt::format("{} has {} entries, but there are {} velocities", about("row"),
                                     constraint.row.size(), kinematics_->nv()));
      rows_.push_back(given_row(constraint.row, about("row"), kinematics));
      set_surface(rows_.back(), std::move(constraint.rate), about("rate"), kinematics);
    }
    if (element.viscoelastic && element.viscoelastic->limit)
      require_sizes(*element.viscoelastic->limit, about("viscoelastic.limit"), kinematics.nq(), kinematics.nv());
    elements_.push_back(element);
  }
}

ExpressionScratch& ExpressionConstraints::scratch_at(double t, const Vector& q, SystemWorkspace& workspace) const {
  auto& scratch = static_cast<ExpressionScratch&>(*workspace.constraints);
  scratch.set_position(t, q);
  return scratch;
}

void ExpressionConstraints::evaluate(double t, const Vector& q, SystemWorkspace& workspace,
                                     ConstraintRows& rows) const {
  const auto m = static_cast<Index>(rows_.size());
  rows.A.setZero(m, kinematics_->nv());
  rows.rate.resize(m);
  rows.position.resize(m);
  if (m == 0) return;
  ExpressionScratch& scratch = scratch_at(t, q, workspace);
  for (Index i = 0; i < m; ++i) {
    const ExpressionRow& row = rows_[static_cast<std::size_t>(i)];
    rows.rate[i] = fill_row(row, *kinematics_, q, &scratch, scratch.entries.data());
    for (std::size_t k = 0; k < row.velocity_columns.size(); ++k)
      rows.A(i, row.velocity_columns[k]) = scratch.entries[k];
    const bool holonomic = elements_[static_cast<std::size_t>(i)].holonomic;
    rows.position[i] = holonomic ? displacement_of(row, t, q, &scratch) : 0.0;
  }
}

void ExpressionConstraints::bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                 Vector& bias) const {
  const auto m = static_cast<Index>(rows_.size());
  bias.resize(m);
  if (m == 0) return;
  ExpressionScratch& scratch = scratch_at(t, q, workspace);
  set_direction(*kinematics_, q, v, scratch);
  for (Index i = 0; i < m; ++i) bias[i] = row_bias(rows_[static_cast<std::size_t>(i)], *kinematics_, q, v, scratch);
}

/// Where T(q) stands between, its own slopes are left out: Tᵀ (Σ λ ∂²g/∂q²) T.
void ExpressionConstraints::force_slopes(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                                         DenseMatrix& by_q) const {
  const Index nv = kinematics_->nv(), nq = kinematics_->nq();
  by_q.setZero(nv, nv);
  if (rows_.empty()) return;
  ExpressionScratch& scratch = scratch_at(t, q, workspace);
  if (kinematics_->flat()) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      add_direction_slopes(rows_[i], lambda[static_cast<Index>(i)], scratch, by_q);
    return;
  }
  scratch.hessian.setZero(nq, nq);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    if (rows_[i].turns) add_direction_slopes(rows_[i], lambda[static_cast<Index>(i)], scratch, scratch.hessian);
  DenseMatrix half(nq, nv);
  for (Index i = 0; i < nq; ++i) {
    scratch.gradient = scratch.hessian.row(i);
    kinematics_->pull_back(q, scratch.gradient, scratch.row);
    half.row(i) = scratch.row;
  }
  for (Index j = 0; j < nv; ++j) {
    scratch.gradient = half.col(j);
    kinematics_->pull_back(q, scratch.gradient, scratch.row);
    by_q.col(j) = scratch.row;
  }
}

void ExpressionConstraints::velocity_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                            DenseMatrix& by_q) const {
  const auto m = static_cast<Index>(rows_.size());
  by_q.resize(m, kinematics_->nv());
  if (m == 0) return;
  ExpressionScratch& scratch = scratch_at(t, q, workspace);
  set_direction(*kinematics_, q, v, scratch);
  for (Index i = 0; i < m; ++i) {
    stickslip::velocity_slopes(rows_[static_cast<std::size_t>(i)], v, scratch, scratch.gradient);
    kinematics_->pull_back(q, scratch.gradient, scratch.row);
    by_q.row(i) = scratch.row;
  }
}

bool ExpressionConstraints::constant_rows() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const ExpressionRow& row) { return row.is_constant(); });
}

void ExpressionConstraints::append_breakpoints(BreakpointSearch& search) const {
  for (const ExpressionRow& row : rows_) stickslip::append_breakpoints(row, search);
}

void ExpressionConstraints::append_time_functions(std::vector<const StateFunction*>& functions) const {
  for (const ExpressionRow& row : rows_) stickslip::append_time_functions(row, functions);
}

}  // namespace stickslip
