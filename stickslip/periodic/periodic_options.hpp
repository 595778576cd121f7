// SPDX-License-Identifier: Apache-2.0
// What a periodic motion is looked for with. Field names are the keys of [periodic] in model files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "stickslip/model/state_function.hpp"
#include "stickslip/periodic/cyclic_symmetry.hpp"
#include "stickslip/periodic/law_equality.hpp"

namespace stickslip {

enum class PeriodicMethod { fourier, spline, stepping, event };
enum class PeriodicStart { linear, run, file };
std::string_view to_string(PeriodicMethod method);
std::string_view to_string(PeriodicStart start);
/// Each throws InputError naming the nearest known word.
PeriodicMethod periodic_method_from(std::string_view name);
PeriodicStart periodic_start_from(std::string_view name);

struct PeriodicOptions {
  /// Of the excitation; autonomous: a first guess. [s]
  double period = 0;
  int periods = 1;          ///< of the excitation in one period of the motion; >= 1
  bool autonomous = false;  ///< the period is unknown
  /// Autonomous: what is 0 at t = 0, of (period, q, v) in the layout of StateFunction with the period in place of t.
  std::optional<StateFunction> phase = std::nullopt;
  /// What is 0 at t = 0 beside it, likewise, where orbits form a family: an amplitude, an energy, period - 1.4.
  std::optional<StateFunction> condition = std::nullopt;
  PeriodicMethod method = PeriodicMethod::fourier;
  int harmonics = 15;  ///< H of `fourier`
  int samples = 0;     ///< per period, of `fourier`; 0: the next good number above 8 H and 128
  int steps = 256;     ///< of `stepping` and `spline`, per period
  int spline_displacement = 2, spline_reaction = 1;  ///< degrees
  LawForm law = LawForm::projection;
  bool polish = true;
  double rho = 1;  ///< of the projection, in units of √(k m) of the law
  PeriodicStart start = PeriodicStart::linear;
  int start_periods = 0;    ///< of a run; 0: to run.end_time, else twenty
  std::string start_file;   ///< orbit.csv of an earlier result
  double tolerance = 1e-9;  ///< of the equations of the method, relative to the forces in them
  int max_iterations = 200;
  CyclicSymmetry cyclic =
      {};  ///< the model is one sector of a structure that a wave travels round; `fourier`, not polished

  double motion_period() const { return period * periods; }
  int chosen_samples() const;
  /// Throws InputError with key, value and remedy.
  void validate() const;
};

}  // namespace stickslip
