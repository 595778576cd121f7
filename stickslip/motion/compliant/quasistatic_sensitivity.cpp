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
constexpr double kOneInstant = 1e-6;      // of a column: what the order of changes at one instant may make of it
constexpr double kColumnPart = 1e-2;      // of the tolerance: columns of velocities are these over times of relaxation
constexpr double kColumnAccuracy = 1e-9;  // of a column: differences around contacts give no more than 1e-11
}  // namespace

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
  for (DenseMatrix* columns : {&impulse_columns_, &impulse_reached_})
    columns->setZero(dynamics_.components(), unknowns_);
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
  nodes_.setZero(3 * n);
  factor_nodes();
  for (const Index i : pinned_)
    for (Index k = 0; k < unknowns_; ++k)
      if (right_(i, k) != 0) column_lost_[static_cast<std::size_t>(k)] = 1;
  for (Index k = 0; k < unknowns_; ++k) right_.col(k) = solve_nodes(right_.col(k));
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

template <class Value>
double QuasistaticScheme::slope_along(double t, const Vector& dx, const Vector& dr, double dt, Value&& value) {
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
    slope += point.weight / step * value(dynamics_.contacts());
  }
  return slope;
}

/// g as a function of contacts that are placed: border_function(), or, from one facet or vertex to another, how far the
/// forces of both pieces are apart along the way on which they part. They agree on the border, and nowhere else near
/// it.
double QuasistaticScheme::shift_of_switch(double t, std::size_t slot, Index k) {
  const ContactPieces &from = pieces_[slot], &to = found_pieces_[slot];
  const Vector column_rate = S_rate_.col(k) - neighbours_.shift(stretch_.inside(t), k).slope * rate_;
  const auto by_unknown = [&](const std::vector<ContactPieces>& kept, auto&& value) {
    residual(t, x_, rate_, F_);
    return neighbours_.sum(stretch_.inside(t), k, x_.tail(T_), kept, value);
  };
  residual(t, x_, rate_, F_);
  CompliantContacts& contacts = dynamics_.contacts();
  if (std::isfinite(contacts.border_function(slot, from, to)) || !contacts.can_keep_pieces()) {
    const auto value = [&](const CompliantContacts& at) { return at.border_function(slot, from, to); };
    return -(slope_along(t, S_.col(k), column_rate, 0, value) + by_unknown({}, value)) /
           slope_along(t, rate_, bend_, 1, value);
  }
  const CompliantContacts::Slot& point = contacts.slots()[slot];
  Vector way = Vector::Unit(point.tangents, 0), normal, tangential;
  const auto along = [&](const CompliantContacts& at) {
    at.forces(normal, tangential);
    return way.dot(tangential.segment(point.first, point.tangents));
  };
  std::vector<ContactPieces> kept = pieces_;
  const auto apart = [&](auto&& value) {
    kept[slot] = from;
    const double before = value();
    kept[slot] = to;
    return before - value();
  };
  const auto kept_slope = [&](const Vector& dx, const Vector& dr, double dt) {
    return apart([&] {
      contacts.keep_pieces(kept);
      const double slope = slope_along(t, dx, dr, dt, along);
      contacts.let_go();
      return slope;
    });
  };
  Vector parting(point.tangents);
  for (int c = 0; c < point.tangents; ++c) {
    way = Vector::Unit(point.tangents, c);
    parting[c] = kept_slope(rate_, bend_, 1);
  }
  way = parting.normalized();
  const double change = kept_slope(S_.col(k), column_rate, 0) + apart([&] { return by_unknown(kept, along); });
  return -change / parting.norm();
}

void QuasistaticScheme::jump_columns(double t, const Vector& rate_after) {
  // Forces are continuous but for dampers of normals.
  residual(t, x_, rate_after, F_);
  dynamics_.reaction_rate(reaction_after_);
  residual(t, x_, rate_, F_);
  dynamics_.reaction_rate(reaction_);
  for (Index k = 0; k < unknowns_; ++k) {
    double earliest = HUGE_VAL, latest = -HUGE_VAL;
    for (std::size_t slot = 0; slot < pieces_.size(); ++slot) {
      if (pieces_[slot] == found_pieces_[slot]) continue;
      const double later = shift_of_switch(t, slot, k);
      if (!std::isfinite(later)) column_lost_[static_cast<std::size_t>(k)] = 1;
      earliest = std::min(earliest, later);
      latest = std::max(latest, later);
    }
    if (!(earliest <= latest)) continue;
    // What does not change the velocity may come in any order.
    const Vector jump = rate_ - rate_after, rates = rate_.cwiseAbs().cwiseMax(rate_after.cwiseAbs());
    const auto size = [&](const Vector& x) { return x.cwiseQuotient(scale_).lpNorm<Eigen::Infinity>(); };
    const double moved = std::max(size(S_.col(k)), std::max(std::abs(earliest), std::abs(latest)) * size(rates));
    const bool apart = !((latest - earliest) * size(jump) <= kOneInstant * moved);
    if (apart) column_lost_[static_cast<std::size_t>(k)] = 1;
    S_.col(k) += 0.5 * (earliest + latest) * jump;
    if (dynamics_.contacts().forces_jump())
      impulse_columns_.col(k) += 0.5 * (earliest + latest) * (reaction_ - reaction_after_);
  }
}

/// dλ = λ_x dX + λ_x' (dX' - φ' x') + λ_p + φ λ_t, and φ' λ for the time that is stretched.
void QuasistaticScheme::add_impulse_columns(double t, double h, const Stages& s, const DenseMatrix& S0) {
  const Eigen::Matrix3d& inverse = radau5::inverse();
  const CompliantContacts& contacts = dynamics_.contacts();
  const Index n = n_ + T_;
  for (std::size_t i = 0; i < 3; ++i) {
    const auto row = static_cast<Index>(i);
    const double at = stretch_.inside(t + radau5::kNodes[i] * h);
    residual(t + radau5::kNodes[i] * h, s.x[i], s.rate[i], F_);
    dynamics_.reaction_rate(reaction_);
    for (Index k = 0; k < unknowns_; ++k) {
      const double stretched = neighbours_.shift(at, k).slope;
      column_ = right_.col(k).segment(row * n, n);
      column_rate_ = -stretched * s.rate[i];
      for (Index j = 0; j < 3; ++j) column_rate_ += inverse(row, j) / h * (right_.col(k).segment(j * n, n) - S0.col(k));
      update_.resize(2 * n_ + T_);
      update_ << column_.head(n_), column_rate_.head(n_), column_.tail(T_);
      dynamics_.vary(at, update_, slope_);
      Vector normal = dynamics_.change().normal, tangential = dynamics_.change().tangential;
      if (CompliantDynamics::DataChange* change = neighbours_.slope(at, k)) {
        dynamics_.balance_data_change(*change, slope_);
        normal += change->contacts.normal;
        tangential += change->contacts.tangential;
      }
      auto column = impulse_columns_.col(k);
      column += h * radau5::kWeights[i] * stretched * reaction_;
      for (std::size_t slot = 0; slot < contacts.slots().size(); ++slot) {
        const CompliantContacts::Slot& point = contacts.slots()[slot];
        if (point.friction < 0)
          column[contacts.component_of(point, 0)] += h * radau5::kWeights[i] * normal[static_cast<Index>(slot)];
        for (int c = 0; c < point.tangents; ++c)
          column[contacts.component_of(point, 1 + c)] += h * radau5::kWeights[i] * tangential[point.first + c];
      }
    }
  }
}

/// Of the two half steps against the whole one, as that of the motion; beside the largest that every column has had.
double QuasistaticScheme::column_error(const DenseMatrix& whole) {
  double error = 0;
  if (column_gain_.size() != unknowns_) column_gain_.setZero(unknowns_);
  for (Index k = 0; k < unknowns_; ++k) {
    double& gain = column_gain_[k];
    gain = std::max(gain, S_.col(k).cwiseQuotient(scale_).lpNorm<Eigen::Infinity>());
    if (column_lost_[static_cast<std::size_t>(k)] || !(gain > 0)) continue;
    const Vector apart = (S_.col(k) - whole.col(k)).cwiseQuotient(gain * scale_);
    error = std::max(
        error, apart.lpNorm<Eigen::Infinity>() / (kHalving * std::max(kColumnPart * tolerance_, kColumnAccuracy)));
  }
  return error;
}

/// Nodes that lie on the border of two pieces have the slopes of the one that the step is in.
double QuasistaticScheme::carry_columns(double t, double h, double shortest) {
  const Columns before{S_, S_rate_, impulse_columns_};
  const std::vector<char> lost = column_lost_;
  const bool switched = fresh_ && found_pieces_ != pieces_;
  if (switched && !stretch_.follows_breakpoint()) jump_columns(t, radau5::at_start(first_.rate));
  CompliantContacts& contacts = dynamics_.contacts();
  if (contacts.can_keep_pieces()) contacts.keep_pieces(switched ? found_pieces_ : pieces_);
  DenseMatrix whole;
  vary_step(t, h, whole_, S_, whole, S_rate_);
  vary_step(t, 0.5 * h, first_, S_, S_middle_, S_rate_);
  add_impulse_columns(t, 0.5 * h, first_, S_);
  vary_step(t + 0.5 * h, 0.5 * h, second_, S_middle_, S_, S_rate_);
  add_impulse_columns(t + 0.5 * h, 0.5 * h, second_, S_middle_);
  contacts.let_go();
  const double error = column_error(whole), factor = step_factor(error);
  if (error > 1 && h * factor >= shortest) {
    S_ = before.x;
    S_rate_ = before.rate;
    impulse_columns_ = before.impulse;
    column_lost_ = lost;
    return factor;
  }
  bend_ = radau5::slope_at_end(second_.rate) / (0.5 * h);
  return std::max(1.0, factor);
}

/// ∂x/∂p = S - φ x' and its rate.
QuasistaticScheme::Columns QuasistaticScheme::at_fixed_time(double t, Columns columns, double sign) {
  dynamics_.reaction_rate(reaction_);
  for (Index k = 0; k < unknowns_; ++k) {
    const auto [shift, slope] = neighbours_.shift(stretch_.inside(t), k);
    columns.x.col(k) -= sign * shift * rate_;
    columns.rate.col(k) -= sign * (slope * rate_ + shift * bend_);
    columns.impulse.col(k) -= sign * shift * reaction_;
  }
  return columns;
}

/// Reactions as means since the record before.
void QuasistaticScheme::take_sensitivity(StepRecord& record) {
  record.sensitivity.resize(2 * n_ + T_, unknowns_);
  const double duration = record.state.t - step_start_;
  record.reaction_sensitivity.setZero(dynamics_.components(), unknowns_);
  const Columns now = at_fixed_time(record.state.t, {S_, S_rate_, impulse_columns_});
  if (duration > 0) record.reaction_sensitivity = (now.impulse - impulse_reached_) / duration;
  impulse_reached_ = now.impulse;
  for (Index k = 0; k < unknowns_; ++k) {
    record.sensitivity.col(k) << now.x.col(k).head(n_), now.rate.col(k).head(n_), now.x.col(k).tail(T_);
    if (!column_lost_[static_cast<std::size_t>(k)]) continue;
    for (DenseMatrix* columns : {&record.sensitivity, &record.reaction_sensitivity})
      columns->col(k).setConstant(std::numeric_limits<double>::quiet_NaN());
  }
}

}  // namespace stickslip
