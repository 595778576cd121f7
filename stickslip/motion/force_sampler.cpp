// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/force_sampler.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "stickslip/common/gauss_legendre.hpp"
#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {
// Of the time and the step: a few times the rounding of a grid time.
constexpr double kSameTime = 16 * std::numeric_limits<double>::epsilon();

double same_time(double t, double scale) { return kSameTime * std::max(std::abs(t), scale); }
constexpr Words<ForceSampling, 3> kSamplings{"force sampling", {"mean", "end", "midpoint"}};
}  // namespace

std::string_view to_string(ForceSampling sampling) { return kSamplings.of(sampling); }
ForceSampling force_sampling_from(std::string_view name) { return kSamplings.from(name); }

ForceSampler::ForceSampler(const System& system, std::vector<double> breakpoints, TimeSpan run)
    : system_(system),
      breakpoints_(std::move(breakpoints)),
      resolution_(system, run.start, run.end, kResolvedOrder, kResolvedAccuracy),
      piece_(Vector::Zero(system.info().nv())) {}

double ForceSampler::left_limit(double t, double scale) const {
  const double margin = same_time(t, scale);
  const auto next = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), t - margin);
  return next != breakpoints_.end() && *next <= t + margin ? *next - margin : t;
}

void ForceSampler::sample(ForceSampling sampling, double t0, double t1, const Vector& q, const Vector& v,
                          SystemWorkspace& workspace, Vector& f) {
  const double h = t1 - t0;
  if (!system_.forces().applied_depends_on_time()) return system_.forces().applied(t1, q, v, workspace, f);
  if (sampling == ForceSampling::end) return system_.forces().applied(left_limit(t1, h), q, v, workspace, f);
  // The mean over no time that can be told apart is the value.
  if (sampling == ForceSampling::midpoint || !(h > same_time(t1, 0)))
    return system_.forces().applied(left_limit(0.5 * (t0 + t1), h), q, v, workspace, f);
  mean(t0, t1, q, v, workspace, f);
}

/// One rule per step is enough, by one look at many steps at once. The window does not depend on the steps before, so
/// that a run that goes on takes the same pieces.
bool ForceSampler::resolved(double t0, double h) {
  if (resolution_.parts() == 0) return true;
  constexpr double kSteps = 64, kDigits = 1 << 24;
  int exponent = 0;
  // The difference of two grid times differs from step to step in its last digits.
  const double step = std::ldexp(std::round(kDigits * std::frexp(h, &exponent)) / kDigits, exponent);
  const double window = std::floor(t0 / (kSteps * step));
  if (window != window_ || step != window_step_) {
    window_ = window;
    window_step_ = step;
    const double from = window * kSteps * step;
    window_resolved_ = resolution_.longest_step(from, from + (kSteps + 1) * step) >= step;
  }
  return window_resolved_;
}

void ForceSampler::mean(double t0, double t1, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) {
  const double h = t1 - t0, margin = same_time(t1, h);
  const bool fine = resolved(t0, h);
  f.setZero();
  pole_ = false;
  looks_ = 0;
  auto next = std::upper_bound(breakpoints_.begin(), breakpoints_.end(), t0 + margin);
  for (double from = t0; from < t1;) {
    const bool inside = next != breakpoints_.end() && *next < t1 - margin;
    const double to = inside ? *next++ : t1;
    // Halves of halves until each is resolved; `end` is where the present one ends.
    for (double start = from, end = to; start < to;) {
      while (!fine && !resolution_is_enough(start, end)) end = 0.5 * (start + end);
      for (const QuadraturePoint& point : kGaussLegendre4) {
        system_.forces().applied(0.5 * (start + end) + 0.5 * (end - start) * point.x, q, v, workspace, piece_);
        f += point.weight * (end - start) / h * piece_;
      }
      const double length = end - start;
      start = end;
      end = start + 2 * length < to ? start + 2 * length : to;
    }
    from = to;
  }
  if (pole_) f.setConstant(std::numeric_limits<double>::quiet_NaN());
}

bool ForceSampler::resolution_is_enough(double from, double to) {
  constexpr int kPatience = 500;
  if (given_up_ || ++looks_ > kPatience) return given_up_ = true;
  const double longest = resolution_.longest_step(from, to);
  if (to - from > same_time(to, 0)) return longest >= to - from;
  pole_ |= longest < 0;  // a kink that is not told apart from its neighbourhood passes
  return true;
}

}  // namespace stickslip
