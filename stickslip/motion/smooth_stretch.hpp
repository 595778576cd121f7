// SPDX-License-Identifier: Apache-2.0
// The stretch between two breakpoints that an integrator is in. Forces jump or bend at breakpoints, and a step sees the
// side it is on: times are kept strictly inside.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "stickslip/motion/time_span.hpp"

namespace stickslip {

class SmoothStretch {
 public:
  /// breakpoints: ascending.
  SmoothStretch(std::vector<double> breakpoints, TimeSpan run) : breakpoints_(std::move(breakpoints)), run_(run) {}

  const std::vector<double>& breakpoints() const { return breakpoints_; }
  const TimeSpan& run() const { return run_; }
  /// Times nearer than that are one: round-off of the clock over the run.
  double same_time(double t) const { return kSameTime * run_.size(t); }
  /// Where the smooth motion from t on ends: at the next breakpoint, or with the run; a moment later where that is
  /// over.
  double end_after(double t) const {
    const auto next = std::upper_bound(breakpoints_.begin(), breakpoints_.end(), t + same_time(t));
    const double end = run_.end > t ? run_.end : t + kMoment * same_time(t);
    return next == breakpoints_.end() ? end : std::min(*next, end);
  }
  bool ends_at(double t) const { return std::binary_search(breakpoints_.begin(), breakpoints_.end(), t); }
  /// Times are inside() the stretch that begins at t from here on.
  void enter(double t) {
    const double near = same_time(t), end = end_after(t);
    after_ = is_breakpoint(t, near) ? std::nextafter(t + near, HUGE_VAL) : -HUGE_VAL;
    before_ = is_breakpoint(end, near) ? std::nextafter(end - near, -HUGE_VAL) : HUGE_VAL;
    after_ = std::min(after_, before_);
  }
  /// Until a stretch is entered, any time is.
  void leave() {
    after_ = -HUGE_VAL;
    before_ = HUGE_VAL;
  }
  double inside(double t) const { return std::clamp(t, after_, before_); }
  /// The stretch began at a breakpoint.
  bool follows_breakpoint() const { return std::isfinite(after_); }

  static constexpr double kMoment = 1e3;  ///< times same_time(): a way that means something

 private:
  static constexpr double kSameTime = 1e-12;
  bool is_breakpoint(double t, double near) const {
    const auto at = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), t - near);
    return at != breakpoints_.end() && *at <= t + near;
  }

  std::vector<double> breakpoints_;
  TimeSpan run_;
  double after_ = -HUGE_VAL, before_ = HUGE_VAL;
};

}  // namespace stickslip
