// SPDX-License-Identifier: Apache-2.0
// One simulate() for every scheme: the grid of steps, breakpoints, output, stop requests, restart and the audit.
//
// Steps end at t_n = start + n h exactly (no accumulated sums); the last one is shorter if h does not divide the time.
// With breakpoints = step_ends a step that contains a jump of a force, limit or surface velocity is cut there.
// Output rows between step ends are interpolated: positions by the cubic Hermite polynomial of the step (linearly where
// an impact happened), velocities linearly, reactions as the mean over the step.
//
// `event` and `viscoelastic` choose their own steps: the grid above is then that of the output alone (output_step or
// output_times, else step or steps, else 1000 equal parts), and rows are exact there.
#pragma once

#include <functional>
#include <optional>

#include "stickslip/common/deadline.hpp"
#include "stickslip/motion/audit.hpp"
#include "stickslip/motion/event/event.hpp"
#include "stickslip/motion/moreau/moreau.hpp"
#include "stickslip/motion/moreau/moreau_contact.hpp"
#include "stickslip/motion/splitting/splitting.hpp"
#include "stickslip/motion/trajectory.hpp"
#include "stickslip/motion/viscoelastic/viscoelastic.hpp"

namespace stickslip {

enum class BreakpointPolicy { step_ends, ignore };

/// Field names are the keys of [run] in model files.
struct SimulationOptions {
  SchemeKind scheme = SchemeKind::moreau;
  double step = 0;          ///< [s]; or
  long steps = 0;           ///< number of steps; exactly one of the two is given (event: neither is needed, see below)
  double tolerance = 1e-9;  ///< relative, of schemes that choose their own step (event)
  double start_time = 0;    ///< [s]
  double end_time = 0;      ///< [s]
  BreakpointPolicy breakpoints = BreakpointPolicy::step_ends;
  double output_step = 0;            ///< [s]; 0: every step
  std::vector<double> output_times;  ///< [s], ascending; instead of output_step
  MoreauOptions moreau;
  SplittingOptions splitting;
  EventOptions event;
  ViscoelasticOptions viscoelastic;
  void validate() const;
};

/// What happens while it runs. All may be empty.
struct SimulationHooks {
  std::function<bool(const State&)> keep_going;  ///< after every step; false stops the run (status interrupted)
  std::function<void(const OutputRow&)> on_row;  ///< every output row, as soon as it is known
  std::function<void(const Event&)> on_event;
  /// Raised by a signal or another thread: ends a long step as well. What a scheme that chooses its own steps has
  /// computed inside it counts; a step of fixed size does not.
  StopRequest stop = nullptr;
};

struct Simulation {
  Status status = Status::success;
  std::string message;  ///< what happened and what to do; empty on success
  Trajectory trajectory;
  State final;            ///< a run can go on from here
  Vector final_reaction;  ///< mean over the last step
  long steps = 0;
  long problems = 0;  ///< inclusions solved
  std::vector<AuditItem> audit;
  std::vector<std::string> notes;  ///< what to know about the run (run_notes.hpp)
};

/// `initial.modes` may be empty. Bad input throws InputError; a numerical failure is a status, with everything up to it
/// kept.
Simulation simulate(const System& system, const State& initial, const SimulationOptions& options,
                    const SimulationHooks& hooks = {});

}  // namespace stickslip
