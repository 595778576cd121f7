// SPDX-License-Identifier: Apache-2.0
// What options a run may have.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

namespace {

/// Steps shorter than a few units in the last place of the time are not equal, or not there at all.
void require_resolved(const char* key, double value, const SimulationOptions& run) {
  const double latest = std::max(std::abs(run.start_time), std::abs(run.end_time));
  const double shortest = 16 * std::numeric_limits<double>::epsilon() * latest;
  if (value > 0 && value < shortest)
    throw InputError(
        fmt::format("run.{} = {:g} s is below the resolution of times around {:g} s; give at least {:.2g} s", key,
                    value, latest, shortest));
}

void require_room(const SimulationOptions& run) {
  const double rows = run.expected_rows(), span = run.end_time - run.start_time;
  if (rows <= kMostRows) return;
  const double smallest = 1.1 * span / kMostRows;  // two digits of it are enough
  if (run.output_step > 0)
    throw InputError(
        fmt::format("run.output_step = {:g} s makes {:.3g} rows up to end_time = {:g} s, more than the {:g} that are "
                    "stored; give output_step = {:.2g} or more, or output_times",
                    run.output_step, rows, run.end_time, kMostRows, smallest));
  if (!run.output_times.empty())
    throw InputError(
        fmt::format("run.output_times holds {:.3g} times, more than the {:g} rows that are stored", rows, kMostRows));
  throw InputError(fmt::format(
      "run.{} makes {:.3g} rows up to end_time = {:g} s, one per step, more than the {:g} that are stored; give "
      "output_step = {:.2g} or more (the steps stay as they are), or output_times",
      run.steps > 0 ? fmt::format("steps = {}", run.steps) : fmt::format("step = {:g} s", run.step), rows, run.end_time,
      kMostRows, smallest));
}

}  // namespace

double SimulationOptions::expected_rows() const {
  constexpr double kOwnRows = 1000;  // of schemes that choose their own steps, where nothing is said
  if (!output_times.empty()) return static_cast<double>(output_times.size());
  const double span = end_time - start_time;
  if (output_step > 0) return span / output_step + 1;
  if (steps > 0) return static_cast<double>(steps) + 1;
  return step > 0 ? span / step + 1 : kOwnRows + 1;
}

void SimulationOptions::validate() const {
  if (!std::isfinite(end_time) || !(end_time > start_time))
    throw InputError(fmt::format("run.end_time = {} must be a finite time after the start ({})", end_time, start_time));
  if (!std::isnormal(end_time - start_time))
    throw InputError(
        fmt::format("run.end_time = {} is too close to the start ({}): times below {:.3g} s lose their digits; use "
                    "another unit of time",
                    end_time, start_time, std::numeric_limits<double>::min()));
  const bool own_steps = chooses_own_steps(scheme) && step == 0 && steps == 0;
  if (!own_steps && (step != 0) == (steps != 0)) throw InputError("run needs exactly one of step and steps");
  if (steps < 0) throw InputError(fmt::format("run.steps = {} must be >= 1", steps));
  if (!own_steps && steps == 0 && !(step > 0 && std::isfinite(step)))
    throw InputError(fmt::format("run.step = {} must be a finite time > 0", step));
  if (!(tolerance >= 1e-14 && tolerance <= 0.1))
    throw InputError(fmt::format("run.tolerance = {} must lie in [1e-14, 0.1]", tolerance));
  if (step > 0 && (end_time - start_time) / step > 1e12)
    throw InputError(fmt::format("run.step = {} makes more than 1e12 steps up to end_time = {}", step, end_time));
  if (!(output_step >= 0) || !std::isfinite(output_step))
    throw InputError(fmt::format("run.output_step = {} must be > 0", output_step));
  if (output_step > 0 && !output_times.empty()) throw InputError("run takes output_step or output_times, not both");
  for (std::size_t i = 0; i < output_times.size(); ++i)
    if (!std::isfinite(output_times[i]) || (i > 0 && output_times[i] <= output_times[i - 1]))
      throw InputError(fmt::format("run.output_times must ascend; entry {} is {}", i + 1, output_times[i]));
  require_resolved("step", step, *this);
  require_resolved("output_step", output_step, *this);
  require_room(*this);
  if (!sensitivities.empty()) require_sensitivities(scheme);
  moreau.validate();
  splitting.validate();
  event.validate();
  compliant.validate();
  viscoelastic.validate();
}

}  // namespace stickslip
