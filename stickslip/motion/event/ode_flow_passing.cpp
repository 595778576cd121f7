// SPDX-License-Identifier: Apache-2.0
// Past positions where the rows of the constraints lose rank, as where the cranks of a linkage lie flat.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/event/ode_flow.hpp"

namespace stickslip {

namespace {
// Of |(S Ã)⁺| over the root of the number of rows, which is 1 where they are orthogonal: from here on the rows are on
// their way to lose rank.
constexpr double kNearlyDependent = 3;
// Share of a step at which it passes such a position: in the middle of the largest gap between the nodes of the method.
constexpr double kPassing = 0.467;
}  // namespace

/// f at the nearest point on the rows. Where rows lose rank, what a stage is off them grows without bound in the
/// accelerations, although the motion on the rows is smooth there: without this, steps shrink towards the position and
/// never pass it.
bool OdeFlow::rate_on_rows(double t, const Vector& y, Vector& dydt) {
  if (!on_rows_) return rate(t, y, dydt);
  try {
    place(t, y);
    dynamics_.project(modes_, dynamics_.t(), q_, v_);
  } catch (const InputError& error) {
    refusal_ = error.what();
    return false;
  }
  stage_ = y;
  stage_.head(nq_) = q_;
  stage_.segment(nq_, n_) = v_;
  return rate(t, stage_, dydt);
}

/// From the placed state, by what its velocity makes of 1/|(S Ã)⁺| in a short while; negative: since such a position.
double OdeFlow::time_to_singular_position(double t) {
  constexpr double kWhile = 1e-3;  // of a step
  ConstrainedMass& mass = dynamics_.mass();
  const double here = 1 / mass.stretch(), dt = kWhile * integrator_->suggested_step();
  if (!(dt > 0)) return HUGE_VAL;
  start_q_ = q_;
  start_v_ = v_;
  v_ *= dt;
  dynamics_.system().kinematics().displace(v_, q_);
  dynamics_.place(t, q_, start_v_);
  const double there = 1 / mass.stretch();
  dynamics_.place(t, start_q_, start_v_);
  q_ = start_q_;
  v_ = start_v_;
  return there != here ? here * dt / (here - there) : HUGE_VAL;
}

/// Positions on rows that are nearly dependent are known to s ε, s = |(S Ã)⁺|, velocities to s² ε and accelerations to
/// s³ ε: a step that wants more than that shrinks for ever. What it leaves open lies along the rows, and is projected
/// away.
void OdeFlow::allow_for_round_off() {
  constexpr double kRoundOff = 2 * std::numeric_limits<double>::epsilon();
  const double s = on_rows_ ? std::min(dynamics_.mass().stretch(), std::cbrt(1 / kRoundOff)) : 1.0;
  loose_ = scale_;
  loose_.head(nq_) *= std::max(1.0, kRoundOff * s * s / options_.absolute_tolerance);
  loose_.segment(nq_, n_) *= std::max(1.0, kRoundOff * s * s * s / options_.absolute_tolerance);
  integrator_->set_absolute_scale(loose_);
}

/// How far a step may go so that no stage of it, and not its end, comes close to a position where the rows lose rank:
/// round-off grows there with the third power of 1/distance.
double OdeFlow::pass_singular_position(double t, double limit) {
  constexpr double kLonger = 1.3;  // of a step
  constexpr double kNear = 5;      // steps: rows that stay nearly dependent, as those of a light body, lose no accuracy
  ConstrainedMass& mass = dynamics_.mass();
  const bool dependent =
      mass.row_count() > 0 && mass.stretch() > kNearlyDependent * std::sqrt(static_cast<double>(mass.row_count()));
  const double left = dependent ? time_to_singular_position(t) : HUGE_VAL, step = integrator_->suggested_step();
  on_rows_ = std::abs(left) < kNear * step;
  if (mass.row_count() > 0) allow_for_round_off();
  if (!on_rows_ || !(left > 0 && left < (1 + kPassing) * step)) return limit;
  // Across it, or up to where the next step goes across.
  return std::min(limit, t + (left <= kLonger * kPassing * step ? left / kPassing : left - kPassing * step));
}

bool OdeFlow::ends_beside_singular_position(double stretch) {
  constexpr double kBeside = 8;  // times |(S Ã)⁺| at its start
  if (!(stretch > 0)) return false;
  place(integrator_->t(), integrator_->y());
  return dynamics_.mass().stretch() > kBeside * stretch;
}

}  // namespace stickslip
