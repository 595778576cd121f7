// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/flow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace stickslip {

void make_monitors(const ModeDynamics& dynamics, const std::vector<Mode>& modes, const std::vector<LawStart>& start,
                   std::vector<Monitor>& monitors) {
  monitors.clear();
  for (std::size_t k = 0; k < modes.size(); ++k) {
    const std::size_t first = monitors.size();
    const ModeDynamics::Law& law = dynamics.laws()[k];
    const LawStart at = start.empty() ? LawStart{} : start[k];
    const int id = static_cast<int>(k);
    if (dynamics.idle(k)) continue;
    if (modes[k] == Mode::open) {
      monitors.push_back({id, Trigger::touch, 1, at.gap, at.tied, at.rises && at.gap > 0});
      continue;
    }
    if (law.springs()) {
      if (modes[k] != Mode::stick) {
        monitors.push_back({id, Trigger::stop, modes[k] == Mode::slip_minus ? -1.0 : 1.0, at.u});
      } else if (law.size == 2) {
        monitors.push_back({id, Trigger::release, 1, at.border});
      } else {
        const bool positive = dynamics.reaction()[law.first] > 0;
        monitors.push_back({id, Trigger::release, 1, positive ? at.border : 0});
        monitors.push_back({id, Trigger::release, -1, positive ? 0 : at.border});
      }
      continue;
    }
    // Redundant reactions are one choice among many: whether any choice holds is found apart (event_redundant.cpp).
    const bool open_choice = dynamics.redundant() || dynamics.unloaded(k);
    if (law.contact && !open_choice)
      monitors.push_back({id, Trigger::lift, 1, modes[k] == Mode::closed ? std::max(at.border, at.lift) : at.lift});
    if (modes[k] == Mode::slip_plus) monitors.push_back({id, Trigger::stop, 1, at.u});
    if (modes[k] == Mode::slip_minus) monitors.push_back({id, Trigger::stop, -1, at.u});
    if (modes[k] == Mode::stick && !open_choice) {
      if (law.tangents == 1) {
        // Which of the two borders the reaction lies on at the start is not asked: the other one is far away.
        const double r = dynamics.reaction()[law.tangent()];
        monitors.push_back({id, Trigger::release, 1, r > 0 ? at.border : at.lift});
        monitors.push_back({id, Trigger::release, -1, r > 0 ? at.lift : at.border});
      } else {
        monitors.push_back({id, Trigger::release, 1, at.border});
      }
    }
    const bool slides = modes[k] == Mode::slip_plus || modes[k] == Mode::slip_minus || modes[k] == Mode::slip;
    if (law.contact && slides && !dynamics.unloaded(k) && dynamics.limit(k) > 0 && !dynamics.constant_geometry())
      monitors.push_back({id, Trigger::singular, 1, 0});
    if (!law.contact && slides && dynamics.follows(k)) monitors.push_back({id, Trigger::singular, 1, 0});
    for (std::size_t i = first; i < monitors.size(); ++i) {
      monitors[i].tied = at.tied && monitors[i].zeros > 0;
      monitors[i].rises = at.rises && monitors[i].zeros > 0 && monitors[i].trigger == Trigger::stop;
    }
  }
}

void forget_leading(std::span<double> c, const Monitor& monitor, double round_off) {
  const auto zeros = static_cast<std::size_t>(monitor.zeros);
  for (std::size_t k = 0; k < zeros; ++k) c[k] = 0;
  if (monitor.rises) c[zeros] = std::max(c[zeros], 0.0);
  if (!monitor.tied) return;
  double largest = 0;
  for (std::size_t k = zeros; k < c.size(); ++k) largest = std::max(largest, std::abs(c[k]));
  for (std::size_t k = zeros; k < c.size() && std::abs(c[k]) <= round_off * largest; ++k) c[k] = 0;
}

double monitor_value(ModeDynamics& dynamics, const Monitor& monitor) {
  const std::size_t k = static_cast<std::size_t>(monitor.law);
  const ModeDynamics::Law& law = dynamics.laws()[k];
  const Vector& r = dynamics.reaction();
  switch (monitor.trigger) {
    case Trigger::touch:
      return dynamics.gap(k);
    case Trigger::lift:
      return r[law.first];
    case Trigger::singular:
      return dynamics.regularity();
    case Trigger::stop:
      if (law.springs()) return dynamics.slider_speed(k, law.size == 2 ? Mode::slip : mode_of(monitor.sign));
      return monitor.sign * dynamics.u()[law.tangent()];
    case Trigger::release:
      break;
  }
  // A load that stays at the limit is above it in every other evaluation: round-off of a reaction gives no way.
  constexpr double kRoundOff = 64 * std::numeric_limits<double>::epsilon();
  const double limit = law.contact ? dynamics.static_limit(k) * r[law.first] : dynamics.static_limit(k);
  const double radius = limit * (1 + kRoundOff);
  if (law.tangents == 1) return radius - monitor.sign * r[law.tangent()];
  const double r1 = r[law.tangent()], r2 = r[law.tangent() + 1];
  return (radius - std::hypot(r1, r2)) * (radius + std::hypot(r1, r2));
}

StepOutcome too_fast(double t) {
  return {
      Status::refused,
      fmt::format("at t = {:.9g} a force, limit, gap or surface velocity changes faster than the round-off of t can "
                  "resolve; give it as a function that stays smooth, or as a table over time",
                  t)};
}

void Flow::take_first(double h) {
  triggers_.clear();
  const double first = roots_.empty() ? HUGE_VAL : *std::min_element(roots_.begin(), roots_.end());
  if (first > 1) {
    t1_ = t0_ + h;
    return;
  }
  t1_ = t0_ + h * first;
  // Events that round-off cannot tell apart are one.
  constexpr double kOne = 1e-13;  // of time_size()
  const double same = first + kOne * time_size(t1_) / h;
  for (std::size_t i = 0; i < roots_.size(); ++i)
    if (roots_[i] <= same) triggers_.push_back(monitors_[i]);
}

}  // namespace stickslip
