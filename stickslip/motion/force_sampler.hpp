// SPDX-License-Identifier: Apache-2.0
// The applied force of a step: its exact mean (quadrature split at breakpoints), its value at the end or in the middle.
//
// Values at a breakpoint are left limits: a jump at the end of the step belongs to the next one, whatever the rounding
// of the grid time. State-dependent forces are sampled at the (q, v) given.
#pragma once

#include <string_view>
#include <vector>

#include "stickslip/model/system.hpp"

namespace stickslip {

enum class ForceSampling { mean, end, midpoint };
std::string_view to_string(ForceSampling sampling);
/// Throws InputError naming the known words.
ForceSampling force_sampling_from(std::string_view name);

class ForceSampler {
 public:
  ForceSampler(const System& system, std::vector<double> breakpoints);
  /// f̄ over (t0, t1). Allocates nothing.
  void sample(ForceSampling sampling, double t0, double t1, const Vector& q, const Vector& v,
              SystemWorkspace& workspace, Vector& f);
  /// t, moved to just before a breakpoint that it coincides with; `scale` is the step size.
  double left_limit(double t, double scale) const;

 private:
  const System& system_;
  std::vector<double> breakpoints_;
  Vector piece_;
};

}  // namespace stickslip
