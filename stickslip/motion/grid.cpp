// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/grid.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {
constexpr double kSameTime = 1e-9;  // of a step: times nearer than that are one
constexpr double kOwnRows = 1000;   // of schemes that choose their own steps, where nothing is said
}  // namespace

Grid::Grid(const SimulationOptions& options) : start_(options.start_time), end_(options.end_time) {
  const double span = end_ - start_;
  const bool own_steps = chooses_own_steps(options);
  double h = options.steps > 0 ? span / static_cast<double>(options.steps) : options.step;
  if (own_steps) {
    for (const double t : options.output_times)
      if (t > start_ && t < end_) times_.push_back(t);
    if (!options.output_times.empty()) times_.push_back(end_);
    if (options.output_step > 0) h = options.output_step;
    if (h == 0) h = span / kOwnRows;
  }
  steps_ = !times_.empty() ? static_cast<long>(times_.size())
           : options.steps > 0 && options.output_step == 0
               ? options.steps
               : std::max(1L, static_cast<long>(std::ceil(span / h - kSameTime)));
  if (!own_steps && options.steps > 0) steps_ = options.steps;
  step_ = std::min(h, span);
  multiples_ = Multiples(step_);
}

long Grid::step_at(double t) const {
  const double near = t + kSameTime * step_;
  if (near >= end_) return steps_;
  long n = times_.empty() ? std::max(0L, static_cast<long>((t - start_) / step_) - 2) : 0;
  while (n < steps_ && end(n) <= near) ++n;
  return n;
}

}  // namespace stickslip
