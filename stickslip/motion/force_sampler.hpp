// SPDX-License-Identifier: Apache-2.0
// The applied force of a step: its mean, its value at the end or in the middle.
//
// The mean is taken by Gauss's rule of degree 7 on pieces between breakpoints that are short enough for functions of
// time to be polynomials of that degree to a hundredth (time_resolution.hpp): no pulse is lost, however short, unless
// there are hundreds in a step. A function that grows beyond that, as at a pole, gives NaN.
//
// Values at a breakpoint are left limits: a jump at the end of the step belongs to the next one, whatever the rounding
// of the grid time. State-dependent forces are sampled at the (q, v) given.
#pragma once

#include <cmath>
#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/model/time_resolution.hpp"
#include "stickslip/motion/force_sampling.hpp"
#include "stickslip/motion/time_span.hpp"

namespace stickslip {

class ForceSampler {
 public:
  ForceSampler(const System& system, std::vector<double> breakpoints, TimeSpan run);
  /// f̄ over (t0, t1). Allocates nothing.
  void sample(ForceSampling sampling, double t0, double t1, const Vector& q, const Vector& v,
              SystemWorkspace& workspace, Vector& f);
  /// t, moved to just before a breakpoint that it coincides with; `scale` is the step size.
  double left_limit(double t, double scale) const;

 private:
  void mean(double t0, double t1, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f);
  bool resolved(double t0, double h);
  bool resolution_is_enough(double from, double to);

  const System& system_;
  std::vector<double> breakpoints_;
  TimeResolution resolution_;
  double window_ = -HUGE_VAL, window_step_ = 0;
  bool window_resolved_ = false, pole_ = false;
  int looks_ = 0;          // of this step
  bool given_up_ = false;  // a function changes more often than can be followed: one rule per step from there on
  Vector piece_;
};

}  // namespace stickslip
