// SPDX-License-Identifier: Apache-2.0
// One model under several schemes and step sizes: error against a reference run, observed order, cost.
//
// The reference is the solution of `event` wherever that scheme takes the model and ends with success: with its exact
// flow where that applies, else integrated with tolerance kReferenceTolerance. Otherwise it is `moreau` with located
// reversals at the smallest step over `reference_refinement`. `compliant` alone is compared with itself at that
// tolerance: contacts that give way are another model. Errors are over `samples` equal times in (start, end]:
//   position_error  max_t max_i |q_i - q_ref,i|            [m, rad]
//   velocity_error  sqrt(mean_t Σ_i (v_i - v_ref,i)²)      [m/s, rad/s]; L2, because velocities may jump
// The observed order is the slope of a least-squares line through (log h, log error), where there is one: from three
// errors on that are above what the reference and round-off leave (kRoundOffFloor, kReferenceFloor, relative to the
// motion), with a slope that falls with h and is certain to kSlopeError, and not decided by one sample: between an
// impact of the run and that of the reference a velocity is wrong by its jump, and the mean over time then measures
// whether a sample fell there. Elsewhere there is a reason instead of a number.
//
// A scheme that chooses its own steps (`event`) runs once per tolerance instead, always with its integrator, and its
// "order" is the slope over the tolerance: 1 where the error follows it. Where the reference is integrated, the run at
// its own tolerance repeats it; its error is 0 and says nothing.
//
// A run that failed its audit makes the status of the whole comparison `audit failed`.
#pragma once

#include <functional>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

constexpr double kReferenceTolerance = 1e-12;

struct ComparisonOptions {
  std::vector<SchemeKind> schemes;
  std::vector<double> steps;                                       ///< [s]
  std::vector<double> tolerances{1e-4, 1e-6, 1e-8, 1e-10, 1e-12};  ///< relative, of `event`
  int reference_refinement = 8;  ///< the reference step is the smallest step over this
  int samples = 400;
  StopRequest stop = nullptr;  ///< heard inside every run
  void validate() const;
};

struct ComparedRun {
  SchemeKind scheme = SchemeKind::moreau;
  double step = 0;        ///< [s]; 0: the scheme chooses its own
  double tolerance = 0;   ///< of such a scheme; 0: fixed steps
  Simulation simulation;  ///< rows at the sample times
  double position_error = 0, velocity_error = 0;
  double velocity_peak = 0;  ///< part of the squared velocity error that its largest sample has
  double wall_seconds = 0;   ///< of one run; the best of up to three that take less than 0.1 s together
};

struct ObservedOrder {
  SchemeKind scheme = SchemeKind::moreau;
  bool over_tolerance = false;                   ///< slope over the tolerance instead of the step
  double position = 0, velocity = 0;             ///< NaN where the errors show none
  std::string position_reason, velocity_reason;  ///< why not
};

struct Comparison {
  Status status = Status::success;
  std::string message;
  SchemeKind reference_scheme = SchemeKind::moreau;
  double reference_step = 0;       ///< [s]; 0 with `event`
  double reference_tolerance = 0;  ///< of an integrated reference; 0 with `moreau` and with the exact flow
  std::string reference_note;      ///< why it is not `event`; empty where it is
  Simulation reference;
  std::vector<ComparedRun> runs;
  std::vector<ObservedOrder> orders;
};

/// Those of splitting, moreau and event that take the system.
std::vector<SchemeKind> comparable_schemes(const System& system);

/// Slope of log(error) over log(step); NaN if fewer than two errors are positive and finite.
double fitted_order(const std::vector<double>& steps, const std::vector<double>& errors);

constexpr double kRoundOffFloor = 1e-12;  ///< errors below that part of the motion are round-off through the events
constexpr double kReferenceFloor = 10;    ///< tolerances of an integrated reference: its own error
constexpr double kSlopeError = 0.25;      ///< standard error of a slope that is still called an order
constexpr double kOneSample = 0.5;        ///< part of a mean square from which on one sample decides it

struct OrderFit {
  double order = 0;    ///< NaN where there is none
  std::string reason;  ///< then why
};
/// The slope if it is an order. Errors at or below `floor` are not used. least: smallest slope that counts as falling.
OrderFit judged_order(const std::vector<double>& sizes, const std::vector<double>& errors, double floor,
                      double least = 0.1);

/// `base` gives everything but scheme, step and output. keep_going(fraction) may stop it (status interrupted).
Comparison compare_schemes(const System& system, const State& initial, const SimulationOptions& base,
                           const ComparisonOptions& options,
                           const std::function<bool(double fraction)>& keep_going = {});

}  // namespace stickslip
