// SPDX-License-Identifier: Apache-2.0
// One simulate() for every scheme: the grid of steps, breakpoints, output, stop requests, restart and the audit.
//
// Steps end at t_n = start + n h exactly (no accumulated sums; where h is a decimal number, n h is the double nearest
// to the decimal); the last one is shorter if h does not divide the time. With breakpoints = step_ends a step that
// contains a jump of a force, limit or surface velocity is cut there. Output rows between step ends are interpolated:
// positions by the cubic Hermite polynomial of the step (linearly where an impact happened), velocities linearly,
// reactions as the mean over the step.
//
// `event`, `compliant` and `viscoelastic` choose their own steps: the grid above is then that of the output alone
// (output_step or output_times, else step or steps, else 1000 equal parts), and rows are exact there.
//
// Going on: a Checkpoint holds all that a run is at the end of a step. The run that goes on from it has the grid, the
// ledgers and the audit of the first one; with the schemes that keep their memory in it (splitting, moreau) it gives
// the same bits as one that was never stopped. event and viscoelastic begin their smooth motion anew there: round-off
// with the exact flow, the tolerance with an integrator.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>

#include "stickslip/common/deadline.hpp"
#include "stickslip/motion/audit.hpp"
#include "stickslip/motion/compliant/compliant_options.hpp"
#include "stickslip/motion/event/event_options.hpp"
#include "stickslip/motion/moreau/moreau_options.hpp"
#include "stickslip/motion/scheme.hpp"
#include "stickslip/motion/splitting/splitting_options.hpp"
#include "stickslip/motion/time_span.hpp"
#include "stickslip/motion/trajectory.hpp"
#include "stickslip/motion/viscoelastic/viscoelastic_options.hpp"

namespace stickslip {

class Variations;

/// Rows of one trajectory, at most: a thousand columns are a terabyte then. More is a mistake in output_step or step.
inline constexpr double kMostRows = 1e8;

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
  double output_step = 0;                 ///< [s]; 0: every step
  std::vector<double> output_times = {};  ///< [s], ascending; instead of output_step
  /// Numbers of the case that the motion is differentiated by (sensitivity.hpp), as Case::set() takes them.
  std::vector<std::string> sensitivities = {};
  /// Not a key: the start of the run that this one is a part of, with its time; null: this is all of it. What follows
  /// from the start of a run (a compliance by default) follows from that one, and whether it can be meant was asked
  /// there.
  std::shared_ptr<const State> whole_start = {};
  MoreauOptions moreau = {};
  SplittingOptions splitting = {};
  EventOptions event = {};
  CompliantOptions compliant = {};
  ViscoelasticOptions viscoelastic = {};
  TimeSpan span() const { return {start_time, end_time}; }
  /// Rows of the trajectory, before the run: those of output_times or output_step, else one per step.
  double expected_rows() const;
  /// Throws InputError with key, value and remedy; also where there would be more than kMostRows rows, or steps that
  /// the times of the run cannot resolve.
  void validate() const;
};

/// What a run is at the end of a step.
struct Checkpoint {
  State state;
  Memory memory;              ///< ledgers, output and scheme; empty: a run goes on from the state alone
  long rows = 0, events = 0;  ///< handed out so far
};

/// What happens while it runs. All may be empty.
struct SimulationHooks {
  std::function<bool(const State&)> keep_going;  ///< after every step; false stops the run (status interrupted)
  std::function<void(const OutputRow&)> on_row;  ///< every output row, as soon as it is known
  std::function<void(const Event&)> on_event;
  /// Raised by a signal or another thread: ends a long step as well. What a scheme that chooses its own steps has
  /// computed inside it counts; a step of fixed size does not.
  StopRequest stop = nullptr;
  /// Asked after every step: where to put a checkpoint, or null for none now.
  std::function<Checkpoint*()> checkpoint;
  /// False: rows and events are handed to on_row and on_event alone, and Simulation::trajectory has none.
  bool keep_trajectory = true;
  /// Go on from here; `initial` is where the run began, if it is known, start_time that of the grid.
  const Checkpoint* resume = nullptr;
};

struct Simulation {
  Status status = Status::success;
  std::string message;  ///< what happened and what to do; empty on success
  Trajectory trajectory;
  State final;                    ///< a run can go on from here
  Vector final_reaction;          ///< mean over the last step
  DenseMatrix final_sensitivity;  ///< S at `final` (sensitivity.hpp); empty: none was asked for
  long steps = 0;
  long problems = 0;  ///< inclusions solved
  std::vector<AuditItem> audit;
  std::vector<std::string> notes;                    ///< what to know about the run (run_notes.hpp)
  std::array<long, kEventKindCount> event_counts{};  ///< by EventKind
  Checkpoint last;                                   ///< at `final`
};

/// Columns of the rows that a run with these options has.
TrajectoryNames trajectory_names(const System& system, const SimulationOptions& options);

/// `initial.modes` may be empty. Bad input throws InputError; a numerical failure is a status, with everything up to it
/// kept. `variations`: what the motion is differentiated by, made from the same system and start; Case::run() makes
/// them from options.sensitivities, which are not looked at here.
Simulation simulate(const System& system, const State& initial, const SimulationOptions& options,
                    const SimulationHooks& hooks = {}, const Variations* variations = nullptr);

}  // namespace stickslip
