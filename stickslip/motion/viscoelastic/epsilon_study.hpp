// SPDX-License-Identifier: Apache-2.0
// How the spring-damper motion approaches the exact one as ε → 0: errors inside and outside the initial layer, fitted
// exponents, cost.
//
// Reference: scheme `event` at tolerance 1e-13, its Λ from the differentiated constraint at the same state. Samples:
// evenly over the run, and densely over the first layer_length √ε, where the layer is. Λ is the instantaneous force.
//
//   sup    largest over all samples
//   late   largest over the second half of the run: what is left when every layer has decayed
//   L2     (∫ |Λ - Λ0|² dt)^(1/2)
#pragma once

#include <functional>
#include <vector>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

struct EpsilonStudyOptions {
  std::vector<double> epsilons;  ///< at least one, > 0
  double tolerance = 1e-10;      ///< relative, of the integrator; errors below it say nothing about ε
  int samples = 400;             ///< evenly over the run
  double layer_length = 10;      ///< in √ε: where samples are dense; weakly damped layers last 40/√b
  IntegratorKind integrator = IntegratorKind::radau;
  void validate() const;
};

struct EpsilonErrors {
  double position = 0, velocity = 0, force = 0;                 ///< sup
  double late_position = 0, late_velocity = 0, late_force = 0;  ///< late
  double force_l2 = 0;
};

struct EpsilonRun {
  double epsilon = 0;
  EpsilonErrors errors;
  long evaluations = 0, jacobians = 0, steps = 0;
  double fast_damping = 0;             ///< smallest b along the motion
  double seconds = 0;                  ///< wall time
  std::vector<double> t, force_error;  ///< |Λ - Λ0| at the samples, for figures
};

struct EpsilonStudy {
  Status status = Status::success;
  std::string message;
  std::vector<EpsilonRun> runs;
  EpsilonErrors exponents;  ///< fitted slopes over ε; NaN with fewer than two usable errors
};

/// The system must have constraints; `epsilon` of every one of them is replaced. keep_going: with the fraction done.
EpsilonStudy study_epsilon(const System& system, const State& initial, double start_time, double end_time,
                           const EpsilonStudyOptions& options,
                           const std::function<bool(double fraction)>& keep_going = {});

}  // namespace stickslip
