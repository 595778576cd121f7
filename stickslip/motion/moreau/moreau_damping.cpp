// SPDX-License-Identifier: Apache-2.0
// Damping that a step cannot follow: dampers and motors that aim at a velocity with more than inertia resists.
//
// Along velocity i, with the damping d_i = -∂h_i/∂v_i and x = h d_i (M⁻¹)_ii, the middle of the step gives v1 - w = (2
// - x)/(2 + x) (v0 - w): beyond x = 2 it swings about the velocity w that it tends to. A motion that follows w smoothly
// does not, and has order 2; one that jumps off it (a motor that leaves its limit, a blow) comes back at every second
// step. Where a step would go back like that, forces are taken at
//   v_φ = φ v1 + (1 - φ) v0,   φ_i = 1 - 1/x: v1 = w at the end of the step;  φ_i = θ elsewhere
#include <algorithm>
#include <cmath>

#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

namespace {
constexpr double kAtRest =
    1e-6;  // of the momentum of the run, in its metric: what is less is no motion that needs care
}  // namespace

void MoreauScheme::prepare_damping() {
  const Index n = v0_.size();
  damping_share_ = Vector::Constant(n, options_.theta);
  late_damping_ = SystemMatrix(BandedMatrix(n, 0, 0));
}

/// What slopes at the iterate add to the matrix of the step: where φ exceeds θ, and where the force has changed more
/// since the last time than its slopes on either side say. A motor that goes from one limit to the other in an
/// iteration, and back in the next, has no slope at either; the secant leads to what is between.
void MoreauScheme::weigh_damping(double t, const Vector& q, bool at_iterate) {
  double* const late = MatrixLayout::numbers(late_damping_);
  std::fill(late, late + v0_.size(), 0.0);
  if (!at_iterate) {
    secant_velocity_.resize(0);
    return;
  }
  const Vector& v = damped_velocity(iterate_);
  system_.forces().slopes(t, q, v, workspace_, slopes_by_q_, slopes_by_v_);
  system_.forces().total(t, q, v, workspace_, scratch_);
  const SystemMatrix& M = linear_ ? linear_->M : mass_;
  for (Index i = 0; i < v0_.size(); ++i) {
    double slope = std::max(0.0, -slopes_by_v_(i, i));
    if (secant_velocity_.size() == v0_.size()) {
      const double apart = v[i] - secant_velocity_[i];
      if (std::sqrt(M(i, i)) * std::abs(apart) > kAtRest * momentum_scale_)
        slope = std::max(slope, (secant_force_[i] - scratch_[i]) / apart);
    }
    late[i] = std::max(0.0, damping_share_[i] * slope + options_.theta * std::min(0.0, by_v_(i, i)));
  }
  secant_velocity_ = v;
  secant_force_ = scratch_;
}

/// The step just solved goes back, along some velocity, what the step before went forth, and damping is why: true, with
/// φ chosen.
bool MoreauScheme::swings_back(double h) {
  constexpr double kOfLast = 0.1;  // smaller swings die out
  if (!nonlinear_ || last_increment_.size() != v0_.size()) return false;
  const SystemMatrix& M = linear_ ? linear_->M : mass_;
  const auto back = [&](Index i) {
    const double now = solution_.v[i] - v0_[i];
    return damping_share_[i] == options_.theta && now * last_increment_[i] < 0 &&
           std::sqrt(M(i, i)) * std::abs(now) > kAtRest * momentum_scale_ &&
           std::abs(now) > kOfLast * std::abs(last_increment_[i]);
  };
  bool any = false;
  for (Index i = 0; i < v0_.size() && !any; ++i) any = back(i);
  if (!any) return false;
  v_theta_ = options_.theta * solution_.v + (1 - options_.theta) * v0_;
  move(options_.theta * h, v_theta_, q_theta_);
  system_.forces().slopes(t0_ + options_.theta * h, q_theta_, v_theta_, workspace_, slopes_by_q_, slopes_by_v_);
  const auto damped_back = [&](Index i) { return back(i) && slopes_by_v_(i, i) < 0; };
  any = false;
  for (Index i = 0; i < v0_.size() && !any; ++i) any = damped_back(i);
  if (!any) return false;
  const Eigen::LLT<DenseMatrix> factor{M.to_dense()};
  if (factor.info() != Eigen::Success) return false;
  any = false;
  for (Index i = 0; i < v0_.size(); ++i) {
    if (!damped_back(i)) continue;
    const double x = -h * slopes_by_v_(i, i) * factor.solve(Vector::Unit(v0_.size(), i))[i];
    if (!(x > 2)) continue;
    damping_share_[i] = 1 - 1 / x;
    any = true;
  }
  damps_late_ |= any;
  return any;
}

/// v_φ of the end velocity v.
const Vector& MoreauScheme::damped_velocity(const Vector& v) {
  v_late_ = v0_ + damping_share_.cwiseProduct(v - v0_);
  return v_late_;
}

/// h (F(v_φ) - F(v_θ)), forces at the time t.
void MoreauScheme::add_late_damping(double h, double t, const Vector& v, Vector& g) {
  system_.forces().total(t, q_theta_, damped_velocity(v), workspace_, scratch_);
  g += h * scratch_;
  system_.forces().total(t, q_theta_, v_theta_, workspace_, scratch_);
  g -= h * scratch_;
}

/// What it takes beyond the power at v_θ: dampers, and by applied forces, which is work that comes in.
void MoreauScheme::record_late_damping(double h, EnergyLedger& energy) {
  const double t = t0_ + options_.theta * h;
  const Vector& late = damped_velocity(solution_.v);
  system_.forces().applied(t, q_theta_, late, workspace_, scratch_);
  double applied = scratch_.dot(v_theta_);
  system_.forces().applied(t, q_theta_, v_theta_, workspace_, scratch_);
  applied -= scratch_.dot(v_theta_);
  system_.forces().total(t, q_theta_, late, workspace_, scratch_);
  double total = scratch_.dot(v_theta_);
  system_.forces().total(t, q_theta_, v_theta_, workspace_, scratch_);
  total -= scratch_.dot(v_theta_);
  energy.work_in += h * applied;
  energy.damper_loss -= h * (total - applied);
}

}  // namespace stickslip
