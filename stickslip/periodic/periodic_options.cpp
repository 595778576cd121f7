// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/periodic_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"
#include "stickslip/periodic/spline_basis.hpp"

namespace stickslip {

namespace {
constexpr Words<PeriodicMethod, 4> kMethods{"method", {"fourier", "spline", "stepping", "event"}};
constexpr Words<PeriodicStart, 3> kStarts{"start", {"linear", "run", "file"}};

constexpr int kChosenPerHarmonic = 8;

bool good_for_fft(int n) {
  for (const int prime : {2, 3, 5})
    while (n % prime == 0) n /= prime;
  return n == 1;
}
}  // namespace

std::string_view to_string(PeriodicMethod method) { return kMethods.of(method); }
std::string_view to_string(PeriodicStart start) { return kStarts.of(start); }
PeriodicMethod periodic_method_from(std::string_view name) { return kMethods.from(name); }
PeriodicStart periodic_start_from(std::string_view name) { return kStarts.from(name); }

int PeriodicOptions::chosen_samples() const {
  if (samples > 0) return samples;
  // Kinks of laws are seen to O(1/n²), however few the harmonics: 16 samples of one harmonic lose 3 % of the damping.
  constexpr int kFewest = 128;
  int n = std::max(kFewest, kChosenPerHarmonic * (harmonics + 1));
  while (!good_for_fft(n) || n % 2 != 0) ++n;
  return n;
}

void PeriodicOptions::validate() const {
  if (!(period > 0) || !std::isfinite(period))
    throw InputError(fmt::format("periodic.period = {} must be a time > 0 in s", period));
  if (periods < 1) throw InputError(fmt::format("periodic.periods = {} must be >= 1", periods));
  // The equations are solved as one dense matrix: more than that does not fit into the memory of ordinary machines.
  constexpr int kMostHarmonics = 2000, kMostSamples = 100'000, kMostSteps = 20'000;
  if (harmonics < 1 || harmonics > kMostHarmonics)
    throw InputError(fmt::format("periodic.harmonics = {} must lie in [1, {}]", harmonics, kMostHarmonics));
  if (samples > kMostSamples)
    throw InputError(fmt::format("periodic.samples = {} must be at most {}; 0: chosen", samples, kMostSamples));
  constexpr int kSamplesPerHarmonic = 3;
  if (samples != 0 && samples < kSamplesPerHarmonic * harmonics)
    throw InputError(
        fmt::format("periodic.samples = {} are too few for {} harmonics: products of laws fold back onto them; give {} "
                    "per harmonic, {}, or "
                    "more, or 0 (chosen: at least {})",
                    samples, harmonics, kSamplesPerHarmonic, kSamplesPerHarmonic * harmonics,
                    kChosenPerHarmonic * (harmonics + 1)));
  if (steps < 8 || steps > kMostSteps)
    throw InputError(fmt::format("periodic.steps = {} must lie in [8, {}]", steps, kMostSteps));
  if (!(rho > 0) || !std::isfinite(rho)) throw InputError(fmt::format("periodic.rho = {} must be > 0", rho));
  if (start_periods < 0) throw InputError(fmt::format("periodic.start_periods = {} must be >= 0", start_periods));
  if (!(tolerance > 0)) throw InputError(fmt::format("periodic.tolerance = {} must be > 0", tolerance));
  if (autonomous && periods != 1)
    throw InputError("periodic.periods belongs to forced motions; an autonomous one has its own period");
  if (method == PeriodicMethod::spline) require_stable_pair(spline_displacement, spline_reaction);
}

}  // namespace stickslip
