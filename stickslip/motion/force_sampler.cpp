// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/force_sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "stickslip/common/error.hpp"
#include "stickslip/common/gauss_legendre.hpp"
#include "stickslip/common/nearest_name.hpp"

namespace stickslip {

namespace {
// Relative to the step: far above the rounding of a grid time, far below anything the scheme resolves.
constexpr double kSameTime = 1e-9;
const std::array<std::string, 3> kNames{"mean", "end", "midpoint"};
}  // namespace

std::string_view to_string(ForceSampling sampling) { return kNames[static_cast<std::size_t>(sampling)]; }

ForceSampling force_sampling_from(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return static_cast<ForceSampling>(i);
  throw InputError(fmt::format("unknown force sampling '{}'{}", name, name_hint(name, kNames)));
}

ForceSampler::ForceSampler(const System& system, std::vector<double> breakpoints)
    : system_(system), breakpoints_(std::move(breakpoints)), piece_(Vector::Zero(system.info().nv())) {}

double ForceSampler::left_limit(double t, double scale) const {
  const double margin = kSameTime * scale;
  const auto next = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), t - margin);
  return next != breakpoints_.end() && *next <= t + margin ? *next - margin : t;
}

void ForceSampler::sample(ForceSampling sampling, double t0, double t1, const Vector& q, const Vector& v,
                          SystemWorkspace& workspace, Vector& f) {
  const double h = t1 - t0;
  if (!system_.applied_force_depends_on_time()) return system_.applied_force(t1, q, v, workspace, f);
  if (sampling == ForceSampling::end) return system_.applied_force(left_limit(t1, h), q, v, workspace, f);
  if (sampling == ForceSampling::midpoint)
    return system_.applied_force(left_limit(0.5 * (t0 + t1), h), q, v, workspace, f);
  f.setZero();
  auto next = std::upper_bound(breakpoints_.begin(), breakpoints_.end(), t0 + kSameTime * h);
  for (double from = t0; from < t1;) {
    const bool inside = next != breakpoints_.end() && *next < t1 - kSameTime * h;
    const double to = inside ? *next++ : t1;
    for (const QuadraturePoint& point : kGaussLegendre4) {
      system_.applied_force(0.5 * (from + to) + 0.5 * (to - from) * point.x, q, v, workspace, piece_);
      f += point.weight * (to - from) / h * piece_;
    }
    from = to;
  }
}

}  // namespace stickslip
