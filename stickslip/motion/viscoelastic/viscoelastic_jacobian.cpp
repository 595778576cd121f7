// SPDX-License-Identifier: Apache-2.0
// ∂(q', M v', ζ')/∂(q, v, ζ) as sparse entries. Entries keep their places while laws change between stick and slip, so
// that the order of elimination stays.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/viscoelastic/viscoelastic_dynamics.hpp"

namespace stickslip {

namespace {

constexpr double kIncrement = 1e-7;  // about the root of round-off: differences of M then have half of its digits

/// Full storage may hold zeros that are none of the structure.
void add_matrix(const SystemMatrix& matrix, double factor, Index row, Index column, MatrixEntries& to) {
  const bool full = matrix.storage() == Storage::dense;
  matrix.for_each([&](Index i, Index j, double value) {
    if (!full || value != 0) to.add(row + i, column + j, factor * value);
  });
}

/// f(slot, ∂/∂slot) for the positions (1 .. n) and velocities (n + 1 .. 2n) that a function of the state depends on.
template <class F>
void for_each_slope(const StateFunction& function, std::span<const double> variables, Index n, F&& f) {
  for (const Index slot : function.variables_used())
    if (slot >= 1 && slot <= 2 * n) f(slot, function.derivative(variables, slot));
}

}  // namespace

void ViscoelasticDynamics::jacobian(double t, const Vector& y, SlopePencil& J) {
  place(t, y);
  accelerate(t);
  for (Index i = 0; i < n_; ++i) {
    J.slope.add(i, n_ + i, 1);
    J.mass.add(i, i, 1);
  }
  for (Index i = 0; i < m_; ++i) J.mass.add(2 * n_ + i, 2 * n_ + i, 1);
  add_matrix(system_.inertia().mass(q_, workspace_), 1, n_, n_, J.mass);
  add_force_slopes(t, J.slope);
  if (!system_.inertia().constant()) add_mass_slopes(J.slope);
  if (constraints_ > 0) {
    constraint_force_ = force_.head(constraints_);
    system_.laws().constraint_source().force_slopes(t, q_, constraint_force_, workspace_, force_by_q_);
    for (Index j = 0; j < n_; ++j)
      for (Index i = 0; i < n_; ++i)
        if (force_by_q_(i, j) != 0) J.slope.add(n_ + i, j, -force_by_q_(i, j));
    system_.laws().constraint_source().velocity_slopes(t, q_, v_, workspace_, velocity_by_q_);
  }
  for (std::size_t k = 0; k < blocks_.size(); ++k) add_block_slopes(t, k, J.slope);
}

void ViscoelasticDynamics::add_force_slopes(double t, MatrixEntries& G) {
  const LinearPart* linear = system_.linear();
  if (linear) {
    add_matrix(linear->K, -1, n_, 0, G);
    add_matrix(linear->B, -1, n_, n_, G);
    if (!system_.forces().applied_depends_on_state()) return;
    system_.forces().applied_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  } else {
    system_.force_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  }
  add_matrix(by_q_, 1, n_, 0, G);
  add_matrix(by_v_, 1, n_, n_, G);
}

/// -∂(M a)/∂q at fixed a, by differences over a part of q or, near 0, of the way that q could go in the run.
void ViscoelasticDynamics::add_mass_slopes(MatrixEntries& G) {
  product_.setZero();
  system_.inertia().mass(q_, workspace_).add_product(1.0, a_, product_);
  for (Index j = 0; j < n_; ++j) {
    moved_ = q_;
    moved_[j] += kIncrement * std::max(reach_[j], std::abs(q_[j]));
    const double increment = moved_[j] - q_[j];
    f_.setZero();
    system_.inertia().mass(moved_, workspace_).add_product(1.0, a_, f_);
    for (Index i = 0; i < n_; ++i)
      if (f_[i] != product_[i]) G.add(n_ + i, j, (product_[i] - f_[i]) / increment);
  }
}

void ViscoelasticDynamics::add_block_slopes(double t, std::size_t k, MatrixEntries& G) {
  const Block& block = blocks_[k];
  const int size = block.law.size;
  const double D = block.law.D, K = block.law.K;
  workspace_.variables.set(t, q_, v_);
  double zeta[2]{}, u[2]{};
  for (int c = 0; c < size; ++c) {
    const auto at = static_cast<std::size_t>(c);
    const Index i = block.row[at];
    zeta[c] = zeta_[i];
    u[c] = u_[i];
    RowEntries &A = direction_[at], &U = by_position_[at], &V = by_velocity_[at];
    A.clear();
    U.clear();
    if (i < constraints_) {
      for (Index j = 0; j < n_; ++j) {
        if (rows_.A(i, j) != 0) A.emplace_back(j, rows_.A(i, j));
        if (velocity_by_q_(i, j) != 0) U.emplace_back(j, velocity_by_q_(i, j));
      }
      V = A;
      continue;
    }
    for (SparseMatrix::InnerIterator entry(friction_.Wt(), i - constraints_); entry; ++entry)
      A.emplace_back(entry.col(), entry.value());
    V = A;
    const auto& surface = friction_.element(block.friction).surface_velocity;
    if (at < surface.size())
      for_each_slope(surface[at], workspace_.variables.span(), n_, [&](Index slot, double slope) {
        slot <= n_ ? U.emplace_back(slot - 1, -slope) : V.emplace_back(slot - 1 - n_, -slope);
      });
  }
  const ViscoelasticSlopes slopes = viscoelastic_slopes(block.law, limit_[k], zeta, u);
  for (int a = 0; a < size; ++a) {
    const auto at = static_cast<std::size_t>(a);
    const Index row = 2 * n_ + block.row[at];
    for (int b = 0; b < size; ++b) {
      const auto by = static_cast<std::size_t>(b);
      const double P = slopes.by_s[static_cast<std::size_t>(2 * a + b)];
      const Index column = 2 * n_ + block.row[by];
      for (const auto& [j, slope] : by_position_[by]) G.add(row, j, K * P * slope);
      for (const auto& [j, slope] : by_velocity_[by]) G.add(row, n_ + j, K * P * slope);
      if (limit_[k] < kNoLimit) G.add(row, column, slopes.slips ? K / D * (P - (a == b ? 1.0 : 0.0)) : 0.0);
      for (const auto& [i, direction] : direction_[at]) {
        for (const auto& [j, slope] : by_position_[by]) G.add(n_ + i, j, -D * P * direction * slope);
        for (const auto& [j, slope] : by_velocity_[by]) G.add(n_ + i, n_ + j, -D * P * direction * slope);
        G.add(n_ + i, column, -P * direction);
      }
    }
  }
  const StateFunction* limit = block.friction >= 0 ? &friction_.element(block.friction).limit : block.limit;
  if (!limit) return;
  for_each_slope(*limit, workspace_.variables.span(), n_, [&](Index slot, double slope) {
    for (int a = 0; a < size; ++a) {
      const auto at = static_cast<std::size_t>(a);
      const double by = slopes.by_limit[at] * slope;
      G.add(2 * n_ + block.row[at], slot - 1, K / D * by);
      for (const auto& [i, direction] : direction_[at]) G.add(n_ + i, slot - 1, -by * direction);
    }
  });
}

}  // namespace stickslip
