// SPDX-License-Identifier: Apache-2.0
// How the spring-damper motion approaches the exact one as ε → 0: errors inside and outside the initial layer, fitted
// exponents, cost.
//
// Reference: scheme `event` at tolerance 1e-13, its Λ from the differentiated constraint at the same state. Samples: at
// equal times over the run, and at both ends and the middle of every step of the integrator, which resolve each layer
// however long or short it is. Λ is the instantaneous force.
//
//   sup    largest over all samples
//   late   largest over the second half of the run: what is left when every layer has decayed
//   L2     (∫ |Λ - Λ0|² dt)^(1/2), by Simpson's rule on the steps of the integrator. (Between rows of the output a
//   layer
//          is missed or, by the trapezium of its first value, taken for as long as the rows are apart.)
//
// Exponents: judged_order() of comparison.hpp, with 10 times the tolerance as what an error must exceed.
#pragma once

#include <functional>
#include <vector>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

struct EpsilonStudyOptions {
  std::vector<double> epsilons;  ///< at least one, > 0
  double tolerance = 1e-10;      ///< relative, of the integrator; errors below it say nothing about ε
  int samples = 400;             ///< equal times over the run
  IntegratorKind integrator = IntegratorKind::radau;
  StopRequest stop = nullptr;  ///< heard inside every run
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
  EpsilonErrors exponents;  ///< fitted slopes over ε; NaN where the errors show none
};

/// The system must have constraints; `epsilon` of every one of them is replaced. keep_going: with the fraction done.
EpsilonStudy study_epsilon(const System& system, const State& initial, double start_time, double end_time,
                           const EpsilonStudyOptions& options,
                           const std::function<bool(double fraction)>& keep_going = {});

}  // namespace stickslip
