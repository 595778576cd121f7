// SPDX-License-Identifier: Apache-2.0
// Events on a step of the integrator: the monitors as polynomials, their first root, and the state there.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/motion/event/ode_flow.hpp"

namespace stickslip {

namespace {
constexpr double kPoorFit = 1e-6;  // of the largest value: last coefficients of a polynomial that may hide something
constexpr double kNearZero = 100;  // times that error: a value so small could be a zero
constexpr double kLeading = 1e-8;  // of the largest coefficient: what the integrator leaves of one that is 0
}  // namespace

/// An event at the very start, of a quantity that is known to vanish there.
bool OdeFlow::falls_in_noise(double t) const {
  return t1_ <= t && std::any_of(triggers_.begin(), triggers_.end(), [](const Monitor& m) { return m.zeros > 0; });
}

/// A determinant jumps where a limit such as abs(r) has its kink, and a polynomial through a jump may fall below zero
/// where the determinant does not.
bool OdeFlow::is_singular(double t, const Monitor& monitor) {
  constexpr double kSingular = 1e-3;  // of a determinant that is 1 without friction
  integrator_->interpolate(t, y_);
  place(t, y_);
  return !dynamics_.solve(modes_) || monitor_value(dynamics_, monitor) <= kSingular;
}

/// Monitors at the Chebyshev points of [from, to] (in s), their polynomials, and the first root on this part.
void OdeFlow::find_between(double from, double to, int depth, bool at_start) {
  if (raised(integrator_->options().stop)) return;
  const auto nodes = fit_.nodes();
  const double h = integrator_->t() - t0_;
  samples_.resize(monitors_.size() * nodes.size());
  for (std::size_t j = 0; j < nodes.size(); ++j) {
    const double s = from + nodes[j] * (to - from);
    integrator_->interpolate(t0_ + s * h, y_);
    place(t0_ + s * h, y_);
    dynamics_.solve(modes_);
    for (std::size_t i = 0; i < monitors_.size(); ++i)
      samples_[i * nodes.size() + j] =
          at_start && is_flight(monitors_[i])
              ? dynamics_.u()[dynamics_.laws()[static_cast<std::size_t>(monitors_[i].law)].first]
              : monitor_value(dynamics_, monitors_[i]);
  }
  std::array<double, PolynomialFit::kLargestFitDegree + 2> c{};
  bool doubtful = false;
  found_.assign(monitors_.size(), HUGE_VAL);
  // A tied law whose slip stays below the integrator's tolerance has a sign by round-off alone.
  auto slips_within_tolerance = [&](const Monitor& monitor, double largest) {
    if (!monitor.tied || monitor.trigger != Trigger::stop) return false;
    const auto row = dynamics_.Wt().row(dynamics_.laws()[static_cast<std::size_t>(monitor.law)].tangent()).cwiseAbs();
    const double speed = row.dot(dynamics_.free_acceleration().cwiseAbs()) * kMoment * span_;
    return largest <= options_.absolute_tolerance * speed;
  };
  for (std::size_t i = 0; i < monitors_.size(); ++i) {
    double largest = 0, smallest = HUGE_VAL;
    const std::span<const double> samples(samples_.data() + i * nodes.size(), nodes.size());
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      largest = std::max(largest, std::abs(samples[j]));
      if (j > 0 || !at_start || monitors_[i].zeros == 0) smallest = std::min(smallest, samples[j]);
    }
    std::span<double> coefficients(c.data(), nodes.size());
    double error = fit_.fit(samples, coefficients);
    // A gap that begins at 0 is the integral of its velocity: the digits that it has lost in the positions do not
    // matter.
    if (at_start && is_flight(monitors_[i])) {
      const double length = (to - from) * h;
      coefficients = {c.data(), nodes.size() + 1};
      for (std::size_t k = nodes.size(); k > 0; --k) c[k] = length * c[k - 1] / static_cast<double>(k);
      c[0] = 0;
      error *= length;
      largest = 0;
      smallest = HUGE_VAL;
      for (std::size_t j = 1; j < nodes.size(); ++j) {
        const double gap = evaluate(coefficients, nodes[j]);
        largest = std::max(largest, std::abs(gap));
        smallest = std::min(smallest, gap);
      }
    }
    if (at_start && slips_within_tolerance(monitors_[i], largest)) continue;
    doubtful |= error > kPoorFit * largest && smallest < kNearZero * error;
    if (at_start) forget_leading(coefficients, monitors_[i], kLeading);
    if (const auto root = first_root(coefficients)) found_[i] = from + *root * (to - from);
    if (monitors_[i].trigger == Trigger::singular && found_[i] <= 1 && !is_singular(t0_ + found_[i] * h, monitors_[i]))
      found_[i] = HUGE_VAL;
  }
  if (doubtful && depth < 8) {
    const double middle = 0.5 * (from + to);
    find_between(from, middle, depth + 1, at_start);
    if (*std::min_element(roots_.begin(), roots_.end()) > 1) find_between(middle, to, depth + 1, false);
    return;
  }
  for (std::size_t i = 0; i < monitors_.size(); ++i) roots_[i] = std::min(roots_[i], found_[i]);
}

void OdeFlow::find_events(const std::vector<LawStart>& start, double) {
  make_monitors(dynamics_, modes_, start, monitors_);
  roots_.assign(monitors_.size(), HUGE_VAL);
  if (!monitors_.empty()) find_between(0, 1, 0, true);
}

/// A rebound so low that round-off of the positions is larger than its height: its end is that of the integrated
/// velocity, which a step of its length has to round-off.
bool OdeFlow::flight_is_round_off(const Monitor& monitor) const {
  constexpr double kDigits = 1e6 * std::numeric_limits<double>::epsilon();
  if (!is_flight(monitor)) return false;
  const auto k = static_cast<std::size_t>(monitor.law);
  const Index i = dynamics_.laws()[k].first;
  const auto row = dynamics_.Wt().row(i);
  return std::abs(dynamics_.u()[i]) * (t1_ - t0_) < kDigits * row.cwiseAbs().dot(dynamics_.reach()(q_));
}

/// Repeats the step up to the event; Newton's method in time with the slope of two such steps.
void OdeFlow::polish(double h) {
  auto f = [this](double time, const Vector& y, Vector& dydt) { return rate_on_rows(time, y, dydt); };
  auto value_at = [&](double t) {
    if (t > t0_) {
      if (!integrator_->single_step(f, t0_, integrator_->y_old(), t - t0_, event_y_)) return std::nan("");
    } else {
      event_y_ = integrator_->y_old();
    }
    place(t, event_y_);
    dynamics_.solve(modes_);
    return monitor_value(dynamics_, triggers_.front());
  };
  // The slope is taken once over a distance at which it is a number; two values next to each other differ by round-off.
  // How far the root of the dense output may be off: where a weakening has its kink at the event itself, or in the same
  // step, the dense output is of low order, and the step up to the event is not.
  constexpr double kDenseError = 1e-2;
  double ta = t1_, fa = value_at(ta);
  constexpr double kApart = 1e-4;  // of the step
  const double slack = kDenseError * h, apart = kApart * h, tb = ta - apart > t0_ ? ta - apart : ta + apart;
  const double slope = (fa - value_at(tb)) / (ta - tb);
  constexpr int kRounds = 8;
  const int rounds = flight_is_round_off(triggers_.front()) ? 0 : kRounds;
  for (int round = 0; round < rounds && std::isfinite(fa) && std::isfinite(slope) && slope != 0; ++round) {
    const double next = ta - fa / slope;
    if (!(std::abs(next - t1_) <= slack) || next < t0_) break;
    if (std::abs(next - ta) <= 2 * std::numeric_limits<double>::epsilon() * (std::abs(ta) + h)) break;
    const double value = value_at(next);
    if (!(std::abs(value) < std::abs(fa))) break;
    ta = next;
    fa = value;
  }
  if (std::isfinite(value_at(ta))) {
    t1_ = ta;
  } else {
    integrator_->interpolate(t1_, event_y_);
  }
  at_event_ = true;
}

}  // namespace stickslip
