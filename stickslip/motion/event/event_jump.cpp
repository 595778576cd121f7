// SPDX-License-Identifier: Apache-2.0
// Jumps of given functions of time: which times count as breakpoints, and what a surface, a gap or a constraint that
// jumps does to the modes. Position and velocity of the system are continuous there; u = Wᵀv - w and the gap are not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "stickslip/motion/event/event.hpp"

namespace stickslip {

namespace {
constexpr double kRoundOff = 1e-13;  // of the terms of a velocity
}  // namespace

/// The run's start is a breakpoint where a function jumps or has a kink there: the motion is that of the right limit. A
/// search over the run alone cannot see it.
std::vector<double> breakpoints_with_start(const System& system, std::vector<double> times, TimeSpan span) {
  constexpr double kAround = 1e-9;
  const double size = span.length() + std::abs(span.start), around = kAround * size;
  for (const double t : system.breakpoints(span.start - around, span.start + around))
    if (std::abs(t - span.start) <= kSameInstant * size) {
      times.insert(times.begin(), span.start);
      break;
    }
  return times;
}

std::optional<double> EventScheme::breakpoint_at(double t) const {
  const double near = kSameInstant * time_size(t);
  const auto at = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), t - near);
  if (at == breakpoints_.end() || *at > t + near) return std::nullopt;
  return *at;
}

/// Where a force jumps, what happens next is up to the force after the jump.
double EventScheme::just_after(double t) const {
  const std::optional<double> at = breakpoint_at(t);
  return at ? std::max(t, *at) + kSameInstant * time_size(t) : t;
}

double EventScheme::just_before(double t) const {
  const std::optional<double> at = breakpoint_at(t);
  return at ? std::min(t, *at) - kSameInstant * time_size(t) : t;
}

/// Whether a surface velocity, gap or constraint of time is another one just after s.t than just before: beyond what
/// its rate makes of the time between and round-off. Leaves the dynamics just after.
bool EventScheme::look_for_jumps(const State& s) {
  jumps_.assign(dynamics_.laws().size(), Jump::none);
  jumping_constraint_ = -1;
  velocity_jumps_ = false;
  const std::optional<double> at = breakpoint_at(s.t);
  if (!at || *at <= span_.start) return false;  // nothing was before the start
  const double before = just_before(s.t), after = just_after(s.t), between = 2 * (after - before);
  place(before, s);
  const Vector w = dynamics_.w(), rate = dynamics_.bias(), gap = dynamics_.gaps(),
               constraint_bias = dynamics_.constraint_bias();
  const ConstraintRows rows_before = dynamics_.constraint_rows();
  const Vector &position = rows_before.position, &moves = rows_before.rate;
  place(after, s);
  auto differ = [&](double a, double b, double rate_a, double rate_b, double size) {
    return std::abs(a - b) > between * (std::abs(rate_a) + std::abs(rate_b)) + size;
  };
  bool any = false;
  for (std::size_t k = 0; k < jumps_.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    for (Index i = law.first; i < law.first + law.size; ++i)
      if (differ(dynamics_.w()[i], w[i], dynamics_.bias()[i], rate[i],
                 kRoundOff * (std::abs(w[i]) + std::abs(dynamics_.w()[i]))))
        jumps_[k] = Jump::surface;
    if (law.contact && differ(dynamics_.gap(k), gap[static_cast<Index>(k)], dynamics_.w()[law.first], w[law.first],
                              kTouching * gap_size(k, s.q)))
      jumps_[k] = dynamics_.gap(k) < gap[static_cast<Index>(k)] ? Jump::gap_down : Jump::gap_up;
    any |= jumps_[k] != Jump::none;
  }
  const ConstraintRows& rows = dynamics_.constraint_rows();
  for (Index i = 0; i < position.size() && position.size() == rows.position.size(); ++i) {
    const double terms = rows.A.row(i).cwiseAbs().dot(dynamics_.reach()(s.q));
    if (differ(rows.position[i], position[i], rows.rate[i], moves[i], kTouching * terms)) {
      jumping_constraint_ = static_cast<int>(i);
      any = true;
    }
  }
  velocity_jumps_ = constraint_velocity_jumps(rows_before, constraint_bias, between, s.v);
  return any || velocity_jumps_;
}

/// Whether A v - rate differs between the two sides of an instant, beyond what its own rate makes of the time between.
bool EventScheme::constraint_velocity_jumps(const ConstraintRows& before, const Vector& bias, double between,
                                            const Vector& v) const {
  const ConstraintRows& after = dynamics_.constraint_rows();
  for (Index i = 0; i < before.rate.size() && before.rate.size() == after.rate.size(); ++i) {
    const double change = (after.A.row(i) - before.A.row(i)).dot(v) - (after.rate[i] - before.rate[i]);
    const double terms = (after.A.row(i).cwiseAbs() + before.A.row(i).cwiseAbs()).dot(v.cwiseAbs()) +
                         std::abs(after.rate[i]) + std::abs(before.rate[i]);
    const double drift = std::abs(bias[i]) + std::abs(dynamics_.constraint_bias()[i]);
    if (std::abs(change) > between * drift + kRoundOff * terms) return true;
  }
  return false;
}

/// A row or rate that jumps forces a velocity that jumps, by an impulse Λ along the rows after it:
///
///   M (v⁺ - v⁻) = A⁺ᵀ Λ,   A⁺ v⁺ = rate⁺;   its work is Λᵀ A⁺ (v⁻ + v⁺)/2
///
/// Dry friction passes none of it; contacts that are driven together so are struck (take_impacts()).
StepOutcome EventScheme::take_constraint_jump(StepRecord& record) {
  State& s = record.state;
  std::vector<Mode> nothing_holds(s.modes.size(), Mode::slip);
  for (std::size_t k = 0; k < nothing_holds.size(); ++k)
    if (dynamics_.laws()[k].contact) nothing_holds[k] = Mode::open;
  place(just_after(s.t), s);
  Vector zero(dynamics_.components());
  for (Index i = 0; i < zero.size(); ++i) zero[i] = velocity_round_off(i, s);
  const Vector before = s.v;
  project(nothing_holds, s, just_after(s.t));
  const Vector jump = s.v - before, mean = 0.5 * (s.v + before), no_force = Vector::Zero(jump.size());
  Vector impulse;
  dynamics_.mass().multipliers(no_force, jump, impulse);
  Vector P = Vector::Zero(dynamics_.components() - dynamics_.friction().components() + impulse.size());
  P.tail(impulse.size()) = impulse;
  const StepOutcome outcome = refuse_impulsive_limits(s, P, "jump of a constraint's velocity");
  if (outcome.status != Status::success) {
    s.v = before;
    return outcome;
  }
  record.constraint_impulse += impulse;
  record.energy.work_in += impulse.dot(dynamics_.constraint_rows().A * mean);
  record.jumped = true;
  place(just_after(s.t), s);
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const bool rested = at_rest_[k] != 0;
    if (law.contact) {
      if (!touches(k, s.q)) continue;
      const double u = dynamics_.u()[law.first], tiny = std::max(zero[law.first], velocity_round_off(law.first, s));
      if (u > tiny) {
        s.modes[k] = Mode::open;
        at_rest_[k] = impact_[k] = 0;
        continue;
      }
      if (u < -tiny) impact_[k] = 1;
      if (s.modes[k] == Mode::open && !impact_[k]) continue;
    }
    set_mode_by_velocity(k, law.tangents > 0 ? zero[law.tangent()] : 0.0, s);
    if (at_rest_[k] && !rested) roles_[k] = LawRole::stopped;
  }
  return {};
}

/// After look_for_jumps() found some: modes from u just after the jump, at the velocity before it, or that which the
/// constraints force.
StepOutcome EventScheme::cross_jumps(StepRecord& record) {
  State& s = record.state;
  if (jumping_constraint_ >= 0)
    return {Status::refused,
            fmt::format("the position of constraint '{}' jumps at t = {:.9g}: no motion with finite forces follows it; "
                        "let it change over a short time instead",
                        system_.laws().constraints()[static_cast<std::size_t>(jumping_constraint_)].name, s.t)};
  // Belts that jump alone need no sides: their velocities are exact at the instant.
  bool sides = velocity_jumps_ || std::any_of(impact_.begin(), impact_.end(), [](char c) { return c != 0; });
  for (std::size_t k = 0; k < jumps_.size(); ++k) sides |= dynamics_.laws()[k].contact && jumps_[k] != Jump::none;
  if (sides) project(before_, s, just_before(s.t));
  if (velocity_jumps_)
    if (const StepOutcome outcome = take_constraint_jump(record); outcome.status != Status::success) return outcome;
  place(just_after(s.t), s);
  for (std::size_t k = 0; k < jumps_.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (jumps_[k] == Jump::none) continue;
    if (jumps_[k] == Jump::gap_down && dynamics_.gap(k) < -kTouching * gap_size(k, s.q))
      return {Status::refused,
              fmt::format("the gap of contact '{}' jumps to {:.3g} m at t = {:.9g}: the surface jumps into the body, "
                          "and no motion with finite velocities follows it; let it move over a short time instead",
                          law.contact->name, dynamics_.gap(k), s.t)};
    if (law.contact) {
      const double u = dynamics_.u()[law.first], zero = velocity_round_off(law.first, s);
      const bool was_open = s.modes[k] == Mode::open;
      if (!touches(k, s.q) || u > zero) {
        s.modes[k] = Mode::open;
        at_rest_[k] = impact_[k] = 0;
        continue;
      }
      if (u < -zero) impact_[k] = 1;
      if (was_open && !impact_[k] && jumps_[k] == Jump::surface) continue;
    }
    const bool rested = at_rest_[k] != 0;
    set_mode_by_velocity(k, 0, s);
    if (at_rest_[k] && !rested) roles_[k] = LawRole::stopped;
  }
  return {};
}

}  // namespace stickslip
