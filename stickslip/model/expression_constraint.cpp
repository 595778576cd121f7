// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression_constraint.hpp"

#include <fmt/format.h>

#include "stickslip/common/error.hpp"
#include "stickslip/model/function_shape.hpp"

namespace stickslip {

ExpressionConstraints::ExpressionConstraints(std::vector<ExpressionConstraint> constraints, const SystemInfo& info)
    : info_(info) {
  for (ExpressionConstraint& constraint : constraints) {
    const ConstraintElement& element = constraint.element;
    validate(element);
    const auto about = [&](const char* key) { return fmt::format("constraint '{}': {}", element.name, key); };
    if (element.holonomic) {
      if (!constraint.row.empty())
        throw InputError(fmt::format("{} belongs to nonholonomic constraints; give position or row", about("row")));
      rows_.push_back(displacement_row(constraint.position, about("position"), info_));
    } else {
      if (static_cast<Index>(constraint.row.size()) != info_.nv())
        throw InputError(fmt::format("{} has {} entries, but there are {} velocities", about("row"),
                                     constraint.row.size(), info_.nv()));
      rows_.push_back(given_row(constraint.row, about("row"), info_));
      set_surface(rows_.back(), std::move(constraint.rate), about("rate"), info_);
    }
    if (element.viscoelastic && element.viscoelastic->limit)
      require_sizes(*element.viscoelastic->limit, about("viscoelastic.limit"), info_.nq(), info_.nv());
    elements_.push_back(element);
  }
}

ExpressionScratch& ExpressionConstraints::scratch_at(double t, const Vector& q, SystemWorkspace& workspace) const {
  ExpressionScratch& scratch = expression_scratch(workspace, info_);
  scratch.set_position(t, q);
  return scratch;
}

void ExpressionConstraints::evaluate(double t, const Vector& q, SystemWorkspace& workspace,
                                     ConstraintRows& rows) const {
  const auto m = static_cast<Index>(rows_.size());
  rows.A.setZero(m, info_.nv());
  rows.rate.resize(m);
  rows.position.resize(m);
  if (m == 0) return;
  ExpressionScratch& scratch = scratch_at(t, q, workspace);
  for (Index i = 0; i < m; ++i) {
    const ExpressionRow& row = rows_[static_cast<std::size_t>(i)];
    rows.rate[i] = fill_row(row, &scratch, scratch.entries.data());
    for (std::size_t k = 0; k < row.columns.size(); ++k) rows.A(i, row.columns[k]) = scratch.entries[k];
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
  set_direction(scratch, v);
  for (Index i = 0; i < m; ++i) bias[i] = row_bias(rows_[static_cast<std::size_t>(i)], v, scratch);
}

void ExpressionConstraints::force_jacobian(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                                           DenseMatrix& by_q) const {
  by_q.setZero(info_.nv(), info_.nq());
  if (rows_.empty()) return;
  const ExpressionScratch& scratch = scratch_at(t, q, workspace);
  for (std::size_t i = 0; i < rows_.size(); ++i)
    add_direction_slopes(rows_[i], lambda[static_cast<Index>(i)], scratch, by_q);
}

void ExpressionConstraints::velocity_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                              DenseMatrix& by_q) const {
  const auto m = static_cast<Index>(rows_.size());
  by_q.resize(m, info_.nq());
  if (m == 0) return;
  ExpressionScratch& scratch = scratch_at(t, q, workspace);
  set_direction(scratch, v);
  for (Index i = 0; i < m; ++i) set_velocity_slopes(rows_[static_cast<std::size_t>(i)], v, scratch, i, by_q);
}

bool ExpressionConstraints::directions_are_constant() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const ExpressionRow& row) { return row.is_constant(); });
}

void ExpressionConstraints::append_breakpoints(BreakpointSearch& search) const {
  for (const ExpressionRow& row : rows_) stickslip::append_breakpoints(row, search);
}

}  // namespace stickslip
