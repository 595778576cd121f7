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
template <class Add>
void add_matrix(const SystemMatrix& matrix, double factor, Add&& add) {
  const bool full = matrix.storage() == Storage::dense;
  matrix.for_each([&](Index i, Index j, double value) {
    if (!full || value != 0) add(i, j, factor * value);
  });
}

/// f(column of y, ∂/∂ that number) for the positions and velocities that a function of the state depends on: slots 1 to
/// nq + nv, in the order of y.
template <class F>
void for_each_slope(const StateFunction& function, std::span<const double> variables, Index count, F&& f) {
  for (const Index slot : function.variables_used())
    if (slot >= 1 && slot <= count) f(slot - 1, function.derivative(variables, slot));
}

}  // namespace

template <class F>
void ViscoelasticDynamics::by_numbers(Index j, double slope, F&& f) const {
  if (T_.size() == 0) return f(j, slope);
  for (Index k = 0; k < nq_; ++k)
    if (to_delta_(j, k) != 0) f(k, slope * to_delta_(j, k));
}

void ViscoelasticDynamics::jacobian(double t, const Vector& y, SlopePencil& J) {
  place(t, y);
  accelerate(t);
  set_tangents();
  for (Index i = 0; i < nq_; ++i) J.mass.add(i, i, 1);
  add_rate_slopes(J.slope);
  for (Index i = 0; i < m_; ++i) J.mass.add(springs() + i, springs() + i, 1);
  add_matrix(system_.inertia().mass(q_, workspace_), 1,
             [&](Index i, Index j, double value) { J.mass.add(nq_ + i, nq_ + j, value); });
  add_force_slopes(t, J.slope);
  if (!system_.inertia().constant()) add_mass_slopes(J.slope);
  if (constraints_ > 0) {
    constraint_force_ = force_.head(constraints_);
    system_.laws().constraint_source().force_slopes(t, q_, constraint_force_, workspace_, force_by_q_);
    for (Index j = 0; j < n_; ++j)
      for (Index i = 0; i < n_; ++i)
        if (force_by_q_(i, j) != 0)
          by_numbers(j, -force_by_q_(i, j), [&](Index k, double slope) { J.slope.add(nq_ + i, k, slope); });
    system_.laws().constraint_source().velocity_slopes(t, q_, v_, workspace_, velocity_by_q_);
  }
  for (std::size_t k = 0; k < blocks_.size(); ++k) add_block_slopes(t, k, J.slope);
}

void ViscoelasticDynamics::add_force_slopes(double t, MatrixEntries& G) {
  auto by_position = [&](Index i, Index j, double value) {
    by_numbers(j, value, [&](Index k, double slope) { G.add(nq_ + i, k, slope); });
  };
  auto by_velocity = [&](Index i, Index j, double value) { G.add(nq_ + i, nq_ + j, value); };
  const LinearPart* linear = system_.linear();
  if (linear) {
    add_matrix(linear->K, -1, by_position);
    add_matrix(linear->B, -1, by_velocity);
    if (!system_.forces().applied_depends_on_state()) return;
    system_.forces().applied_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  } else {
    system_.force_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  }
  add_matrix(by_q_, 1, by_position);
  add_matrix(by_v_, 1, by_velocity);
}

/// Over a part of q or, near 0, of the way that q could go in the run.
double ViscoelasticDynamics::displace_a_little(Index j) {
  moved_ = q_;
  if (T_.size() == 0) {
    moved_[j] += kIncrement * std::max(reach_[j], std::abs(q_[j]));
    return moved_[j] - q_[j];
  }
  tangent_.setZero();
  tangent_[j] = kIncrement * reach_[j];
  system_.kinematics().displace(tangent_, moved_);
  return tangent_[j];
}

void ViscoelasticDynamics::set_tangents() {
  if (system_.kinematics().flat()) return;
  T_.resize(nq_, n_);
  for (Index j = 0; j < n_; ++j) {
    tangent_.setZero();
    tangent_[j] = 1;
    system_.kinematics().rate(q_, tangent_, qdot_);
    T_.col(j) = qdot_;
  }
  metric_.noalias() = T_.transpose() * T_;
  metric_factor_.compute(metric_);
  to_delta_ = T_.transpose();
  metric_factor_.solveInPlace(to_delta_);
}

/// Of q' = T(q) v.
void ViscoelasticDynamics::add_rate_slopes(MatrixEntries& G) {
  if (T_.size() == 0) {
    for (Index i = 0; i < n_; ++i) G.add(i, nq_ + i, 1);
    return;
  }
  for (Index i = 0; i < nq_; ++i)
    for (Index j = 0; j < n_; ++j)
      if (T_(i, j) != 0) G.add(i, nq_ + j, T_(i, j));
  rate_q_.noalias() = T_ * v_;
  for (Index j = 0; j < n_; ++j) {
    const double increment = displace_a_little(j);
    system_.kinematics().rate(moved_, v_, qdot_);
    for (Index i = 0; i < nq_; ++i)
      if (qdot_[i] != rate_q_[i])
        by_numbers(j, (qdot_[i] - rate_q_[i]) / increment, [&](Index k, double slope) { G.add(i, k, slope); });
  }
}

/// -∂(M a)/∂q at fixed a, by differences.
void ViscoelasticDynamics::add_mass_slopes(MatrixEntries& G) {
  product_.setZero();
  system_.inertia().mass(q_, workspace_).add_product(1.0, a_, product_);
  for (Index j = 0; j < n_; ++j) {
    const double increment = displace_a_little(j);
    f_.setZero();
    system_.inertia().mass(moved_, workspace_).add_product(1.0, a_, f_);
    for (Index i = 0; i < n_; ++i)
      if (f_[i] != product_[i])
        by_numbers(j, (product_[i] - f_[i]) / increment, [&](Index k, double slope) { G.add(nq_ + i, k, slope); });
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
        if (velocity_by_q_(i, j) != 0)
          by_numbers(j, velocity_by_q_(i, j), [&](Index number, double slope) { U.emplace_back(number, slope); });
      }
      V = A;
      continue;
    }
    for (SparseMatrix::InnerIterator entry(friction_.Wt(), i - constraints_); entry; ++entry)
      A.emplace_back(entry.col(), entry.value());
    V = A;
    const auto& surface = friction_.element(block.friction).surface_velocity;
    if (at < surface.size())
      for_each_slope(surface[at], workspace_.variables.span(), nq_ + n_, [&](Index column, double slope) {
        column < nq_ ? U.emplace_back(column, -slope) : V.emplace_back(column - nq_, -slope);
      });
  }
  const ViscoelasticSlopes slopes = viscoelastic_slopes(block.law, limit_[k], zeta, u);
  for (int a = 0; a < size; ++a) {
    const auto at = static_cast<std::size_t>(a);
    const Index row = springs() + block.row[at];
    for (int b = 0; b < size; ++b) {
      const auto by = static_cast<std::size_t>(b);
      const double P = slopes.by_s[static_cast<std::size_t>(2 * a + b)];
      const Index column = springs() + block.row[by];
      for (const auto& [j, slope] : by_position_[by]) G.add(row, j, K * P * slope);
      for (const auto& [j, slope] : by_velocity_[by]) G.add(row, nq_ + j, K * P * slope);
      if (limit_[k] < kNoLimit) G.add(row, column, slopes.slips ? K / D * (P - (a == b ? 1.0 : 0.0)) : 0.0);
      for (const auto& [i, direction] : direction_[at]) {
        for (const auto& [j, slope] : by_position_[by]) G.add(nq_ + i, j, -D * P * direction * slope);
        for (const auto& [j, slope] : by_velocity_[by]) G.add(nq_ + i, nq_ + j, -D * P * direction * slope);
        G.add(nq_ + i, column, -P * direction);
      }
    }
  }
  const StateFunction* limit = block.friction >= 0 ? &friction_.element(block.friction).limit : block.limit;
  if (!limit) return;
  for_each_slope(*limit, workspace_.variables.span(), nq_ + n_, [&](Index column, double slope) {
    for (int a = 0; a < size; ++a) {
      const auto at = static_cast<std::size_t>(a);
      const double by = slopes.by_limit[at] * slope;
      G.add(springs() + block.row[at], column, K / D * by);
      for (const auto& [i, direction] : direction_[at]) G.add(nq_ + i, column, -by * direction);
    }
  });
}

}  // namespace stickslip
