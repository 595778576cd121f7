// SPDX-License-Identifier: Apache-2.0
// A run step by step, for programs that act between two steps: simulate() is `while (run.step())`.
//
//   Stepping run(system, initial, options);
//   while (run.step()) look_at(run.state());
//   Simulation simulation = run.finish();
//
// A step is one of the grid of simulate.hpp; of schemes that choose their own steps, the way to the next output time.
// Between two steps a program may change what functions of the model look at (inputs, which are held over a step):
// forces, limits and surface velocities then jump there. It says so beforehand and each time: to fixed steps every end
// is a jump; schemes that choose their own begin anew.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stickslip/motion/grid.hpp"
#include "stickslip/motion/recorder.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

/// A look into the scheme after a part of a step, for what no row, event or audit holds (moreau/step_problem.hpp). The
/// part went from `start` to `end`; where the outcome is no success, `end` is what was aimed at. [s]
using StepObserver = std::function<void(const Scheme& scheme, double start, double end, const StepOutcome& outcome)>;

class Stepping {
 public:
  /// System and variations must outlive it; a step to go on from (hooks.resume) this call. As simulate(), bad input
  /// throws InputError. `inputs`: forces, limits and surface velocities may jump between steps.
  Stepping(const System& system, const State& initial, const SimulationOptions& options,
           const SimulationHooks& hooks = {}, const Variations* variations = nullptr, bool inputs = false);
  Stepping(const Stepping&) = delete;
  Stepping& operator=(const Stepping&) = delete;

  /// One step further. False: the run has ended, here or before.
  bool step();
  /// Inputs have changed since the last step. Modes that this changes are events.
  void inputs_changed();
  /// From now on called after every part of a step, solved or not.
  void observe(StepObserver observer) { observer_ = std::move(observer); }
  bool done() const { return result_.status != Status::success || next_step_ >= grid_.steps(); }
  const State& state() const { return record_.state; }
  Status status() const { return result_.status; }
  const std::string& message() const { return result_.message; }
  double grid_step() const { return grid_.step(); }  ///< [s]; 0: steps differ
  long steps_left() const { return grid_.steps() - next_step_; }
  /// Mean over the last step; zero before the first. [N, N m]
  const Vector& reaction() { return recorder_->mean_reaction(record_); }
  const EnergyLedger& energy() const { return record_.energy; }
  /// What has come of it, with the audit. Nothing can be done with the run afterwards.
  Simulation finish();

 private:
  /// `goes_on`: from a state that the run has come to.
  void make_scheme(const Variations* variations, bool goes_on);
  void begin_anew();
  /// To the end of a step of the grid, in parts where the scheme stops on the way or forces jump.
  void take_step(double end);
  /// `end`, or the next breakpoint before it.
  double target_before(double end);
  void hand_out_events();
  void save(Checkpoint& checkpoint);
  /// After start() of the scheme, which has made room for everything.
  void restore(const Checkpoint& checkpoint);
  void exchange(Memory& memory);
  static std::string run_label();
  std::string scheme_label() const;

  const System& system_;
  const SimulationOptions options_;
  const SimulationHooks hooks_;
  Simulation result_;
  Grid grid_;
  BreakpointSearch search_;
  const bool inputs_;
  std::shared_ptr<const State> start_;  // of the whole run
  std::unique_ptr<Scheme> scheme_;
  std::optional<Recorder> recorder_;
  std::vector<AuditPart*> parts_;  // of the scheme
  StepObserver observer_;
  StepRecord record_;
  AuditLedger ledger_;
  std::ptrdiff_t next_break_ = 0;
  long next_step_ = 0;
  bool first_part_ = true;  // of the step under way
};

}  // namespace stickslip
