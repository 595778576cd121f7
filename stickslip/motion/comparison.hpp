// SPDX-License-Identifier: Apache-2.0
// One model under several schemes and step sizes: error against a reference run, observed order, cost.
//
// The reference is `moreau` with located reversals at the smallest step over `reference_refinement`. Errors are over
// `samples` equal times in (start, end]:
//   position_error  max_t max_i |q_i - q_ref,i|            [m, rad]
//   velocity_error  sqrt(mean_t Σ_i (v_i - v_ref,i)²)      [m/s, rad/s]; L2, because velocities may jump
// The observed order is the slope of a least-squares line through (log h, log error); one pair proves nothing.
#pragma once

#include <functional>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

struct ComparisonOptions {
  std::vector<SchemeKind> schemes;
  std::vector<double> steps;     ///< [s]
  int reference_refinement = 8;  ///< the reference step is the smallest step over this
  int samples = 400;
  void validate() const;
};

struct ComparedRun {
  SchemeKind scheme = SchemeKind::moreau;
  double step = 0;
  Simulation simulation;  ///< rows at the sample times
  double position_error = 0, velocity_error = 0;
  double wall_seconds = 0;
};

struct ObservedOrder {
  SchemeKind scheme = SchemeKind::moreau;
  double position = 0, velocity = 0;  ///< NaN with fewer than two usable errors
};

struct Comparison {
  Status status = Status::success;
  std::string message;
  double reference_step = 0;
  Simulation reference;
  std::vector<ComparedRun> runs;
  std::vector<ObservedOrder> orders;
};

/// Slope of log(error) over log(step); NaN if fewer than two errors are positive and finite.
double fitted_order(const std::vector<double>& steps, const std::vector<double>& errors);

/// `base` gives everything but scheme, step and output. keep_going(fraction) may stop it (status interrupted).
Comparison compare_schemes(const System& system, const State& initial, const SimulationOptions& base,
                           const ComparisonOptions& options,
                           const std::function<bool(double fraction)>& keep_going = {});

}  // namespace stickslip
