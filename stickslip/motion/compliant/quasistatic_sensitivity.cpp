// SPDX-License-Identifier: Apache-2.0
// Derivatives along a motion without inertia.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/motion/compliant/quasistatic.hpp"
#include "stickslip/motion/compliant/radau_nodes.hpp"
#include "stickslip/motion/compliant/stencil.hpp"

namespace stickslip {

namespace {
constexpr double kOneInstant =
    1e-6;  // of a shift of time: contacts that change at one instant whatever the unknown does
}

void QuasistaticScheme::seed(StepRecord& record) {
  neighbours_.make(record.state, epsilon_);
  neighbours_.follow_breakpoints(stretch_.breakpoints(), span_);
  if (record.sensitivity.cols() != unknowns_) record.sensitivity = variations_->initial();
  S_.setZero(n_ + T_, unknowns_);
  S_rate_.setZero(n_ + T_, unknowns_);
  S_.topRows(n_) = record.sensitivity.topRows(n_);
  if (record.sensitivity.rows() == 2 * n_ + T_) S_.bottomRows(T_) = record.sensitivity.bottomRows(T_);
  bend_.setZero(n_ + T_);
  column_lost_.assign(static_cast<std::size_t>(unknowns_), 0);
}

/// Σ_j (δ_ij F_x + a⁻¹_ij/h F_x') dX_j = Σ_j a⁻¹_ij/h F_x' S0 - (F_p + φ F_t) + φ' F_x' x' at the three nodes.
void QuasistaticScheme::vary_step(double t, double h, const Stages& s, const DenseMatrix& S0, DenseMatrix& S,
                                  DenseMatrix& S_rate) {
  const Eigen::Matrix3d& inverse = radau5::inverse();
  const Index n = n_ + T_;
  J_.resize(3 * n, 3 * n);
  right_.setZero(3 * n, unknowns_);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = static_cast<Index>(i);
    const double at = stretch_.inside(t + radau5::kNodes[i] * h);
    residual(t + radau5::kNodes[i] * h, s.x[i], s.rate[i], F_);
    dynamics_.balance_slopes(at, by_x_, by_rate_);
    for (Index j = 0; j < 3; ++j) J_.block(row * n, j * n, n, n) = inverse(row, j) / h * by_rate_;
    J_.block(row * n, row * n, n, n) += by_x_;
    right_.middleRows(row * n, n).noalias() = inverse.row(row).sum() / h * by_rate_ * S0;
    for (Index k = 0; k < unknowns_; ++k)
      if (CompliantDynamics::DataChange* change = neighbours_.slope(at, k)) {
        dynamics_.balance_data_change(*change, slope_);
        right_.col(k).segment(row * n, n) -= slope_;
        right_.col(k).segment(row * n, n) += neighbours_.shift(at, k).slope * by_rate_ * s.rate[i];
      }
  }
  lu_.compute(J_);
  right_ = lu_.solve(right_).eval();
  const DenseMatrix start = S0;  // may be S
  S = right_.bottomRows(n);
  S_rate.setZero(n, unknowns_);
  for (Index j = 0; j < 3; ++j) S_rate += inverse(2, j) / h * (right_.middleRows(j * n, n) - start);
}

/// The start in balance: the way there, or the velocity that belongs to it.
void QuasistaticScheme::vary_settled(double t, double h, const Stages& settled, bool rate) {
  if (unknowns_ == 0) return;
  vary_step(t, h, settled, S_, S_middle_, S_rate_);
  if (rate) return;
  S_.topRows(n_) = S_middle_.topRows(n_);
  S_rate_.setZero();
}

double QuasistaticScheme::border_slope(double t, std::size_t slot, const Vector& dx, const Vector& dr, double dt) {
  double step = dt != 0 ? kStencilStep * span_.length() / std::abs(dt) : HUGE_VAL;
  for (Index i = 0; i < n_ + T_; ++i) {
    if (dx[i] != 0) step = std::min(step, kStencilStep * scale_[i] / std::abs(dx[i]));
    if (dr[i] != 0)
      step = std::min(step, kStencilStep * std::max(std::abs(rate_[i]), scale_[i] / span_.length()) / std::abs(dr[i]));
  }
  if (!std::isfinite(step)) return 0;
  double slope = 0;
  for (const StencilPoint& point : kStencil) {
    const double way = point.place * step;
    residual(t + way * dt, x_ + way * dx, rate_ + way * dr, F_);
    slope += point.weight / step * dynamics_.contacts().border_function(slot, pieces_[slot], found_pieces_[slot]);
  }
  return slope;
}

void QuasistaticScheme::jump_columns(double t, const Vector& rate_after) {
  for (Index k = 0; k < unknowns_; ++k) {
    double earliest = HUGE_VAL, latest = -HUGE_VAL;
    for (std::size_t slot = 0; slot < pieces_.size(); ++slot) {
      if (pieces_[slot] == found_pieces_[slot]) continue;
      const double by_time = border_slope(t, slot, rate_, bend_, 1);
      const double stretched = neighbours_.shift(stretch_.inside(t), k).slope;
      double change = border_slope(t, slot, S_.col(k), S_rate_.col(k) - stretched * rate_, 0);
      residual(t, x_, rate_, F_);
      change += neighbours_.sum(stretch_.inside(t), k, x_.tail(T_), {}, [&](const CompliantContacts& near) {
        return near.border_function(slot, pieces_[slot], found_pieces_[slot]);
      });
      const double later = -change / by_time;
      if (!std::isfinite(later)) column_lost_[static_cast<std::size_t>(k)] = 1;
      earliest = std::min(earliest, later);
      latest = std::max(latest, later);
    }
    if (!(earliest <= latest)) continue;
    const bool apart = !(latest - earliest <= kOneInstant * std::max(std::abs(earliest), std::abs(latest)));
    if (apart) column_lost_[static_cast<std::size_t>(k)] = 1;
    S_.col(k) += 0.5 * (earliest + latest) * (rate_ - rate_after);
  }
}

void QuasistaticScheme::carry_columns(double t, double h) {
  vary_step(t, 0.5 * h, first_, S_, S_middle_, S_rate_);
  vary_step(t + 0.5 * h, 0.5 * h, second_, S_middle_, S_, S_rate_);
  bend_ = radau5::slope_at_end(second_.rate) / (0.5 * h);
}

/// ∂x/∂p = S - φ x' and its rate.
void QuasistaticScheme::take_sensitivity(StepRecord& record) const {
  record.sensitivity.resize(2 * n_ + T_, unknowns_);
  for (Index k = 0; k < unknowns_; ++k) {
    const auto [shift, slope] = neighbours_.shift(stretch_.inside(record.state.t), k);
    const Vector x = S_.col(k) - shift * rate_, v = S_rate_.col(k) - slope * rate_ - shift * bend_;
    record.sensitivity.col(k) << x.head(n_), v.head(n_), x.tail(T_);
  }
  record.reaction_sensitivity.resize(0, unknowns_);
  for (Index k = 0; k < unknowns_; ++k)
    if (column_lost_[static_cast<std::size_t>(k)])
      record.sensitivity.col(k).setConstant(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace stickslip
