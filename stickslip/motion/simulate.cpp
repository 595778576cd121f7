// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/motion/grid.hpp"
#include "stickslip/motion/not_finite.hpp"
#include "stickslip/motion/recorder.hpp"
#include "stickslip/motion/run_notes.hpp"
#include "stickslip/motion/sensitivity.hpp"

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
    throw InputError(fmt::format("run.end_time = {} is too close to the start ({}): times below {:.3g} s lose their digits; "
                                 "use another unit of time", end_time, start_time, std::numeric_limits<double>::min()));
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

namespace {

/// Largest at the state beyond round-off of the gap, by a search that knows nothing of the run.
double penetration_at(const System& system, const State& s) {
  constexpr double kRoundOff = 1e-12;  // of the terms of a gap that is an expression
  if (system.laws().contacts().empty() || !s.q.allFinite()) return 0.0;
  SystemWorkspace workspace(system);
  ContactPoints found;
  system.laws().contact_source().find(s.t, s.q, 0.0, workspace, found);
  double deepest = 0;
  Index row = 0;
  for (const ContactSite& point : found.points) {
    double terms = 0;
    if (system.laws().contact_source().length() == 0)
      for (SparseMatrix::InnerIterator entry(found.Wt, row); entry; ++entry)
        terms += std::abs(entry.value() * s.q[entry.col()]);
    deepest = std::max(deepest, -point.gap - kRoundOff * terms);
    row += system.laws().contacts()[static_cast<std::size_t>(point.law)].size();
  }
  return deepest;
}

/// A force or limit that turns out to be impossible on the way ends the run like a numerical failure: what was computed
/// so far is kept.
StepOutcome take_step(const System& system, Scheme& scheme, double t_end, StepRecord& record) {
  try {
    StepOutcome outcome = scheme.step(t_end, record);
    if (outcome.status != Status::not_finite) return outcome;
    const std::string cause = not_finite_cause(system, record.state, t_end);
    if (!cause.empty()) outcome.message += (outcome.message.empty() ? "" : ": ") + cause;
    return outcome;
  } catch (const InputError& error) {
    const std::string message = error.what();
    if (message.find("t = ") != std::string::npos) return {Status::refused, message};
    return {Status::refused, fmt::format("in the step from t = {:.9g} s: {}", record.state.t, message)};
  }
}

void require_state(const System& system, const State& s) {
  const SystemInfo& info = system.info();
  if (s.q.size() != info.nq())
    throw InputError(fmt::format("initial.position has {} entries, expected {}", s.q.size(), info.nq()));
  if (s.v.size() != info.nv())
    throw InputError(fmt::format("initial.velocity has {} entries, expected {}", s.v.size(), info.nv()));
  if (!s.q.allFinite() || !s.v.allFinite()) throw InputError("initial position and velocity must be finite numbers");
}

/// All of a run but the options: what a checkpoint takes down.
struct Run {
  Scheme& scheme;
  StepRecord& record;
  AuditLedger& ledger;
  Recorder& recorder;
  Simulation& result;
  bool first_part = true;

  void save(std::string_view scheme_label, Checkpoint& checkpoint) {
    recorder.mean_reaction(record);
    checkpoint.state = record.state;
    checkpoint.rows = result.last.rows;
    checkpoint.events = result.last.events;
    checkpoint.memory.clear();
    checkpoint.memory.open(run_label());
    exchange(checkpoint.memory);
    checkpoint.memory.close();
    checkpoint.memory.open(audit_label(scheme_label));
    scheme.exchange_audit(checkpoint.memory);
    checkpoint.memory.close();
    checkpoint.memory.open(scheme_label);
    scheme.exchange(checkpoint.memory);
    checkpoint.memory.close();
  }
  /// After scheme.start(), which has made room for everything.
  void restore(std::string_view scheme_label, const Checkpoint& checkpoint) {
    result.last.rows = checkpoint.rows;
    result.last.events = checkpoint.events;
    Memory memory = checkpoint.memory;
    memory.rewind();
    const std::pair expected(record.sensitivity.rows(), record.sensitivity.cols());
    if (memory.open(run_label())) {
      exchange(memory);
      memory.close();
    } else if (record.sensitivity.size() > 0) {
      record.sensitivity.resize(0, 0);
    }
    if (expected != std::pair(record.sensitivity.rows(), record.sensitivity.cols()))
      throw InputError(
          "the state to go on from holds no derivatives by these run.sensitivities: start the run anew, or go on with "
          "those of the first part");
    if (memory.open(audit_label(scheme_label))) {
      scheme.exchange_audit(memory);
      memory.close();
    }
    if (memory.open(scheme_label) && scheme.exchange(memory)) record.state = checkpoint.state;
  }

 private:
  static std::string run_label() {
    return fmt::format("run 2 {} {} {}", version(), sizeof(AuditLedger), sizeof(EnergyLedger));
  }
  static std::string audit_label(std::string_view scheme) { return fmt::format("audit {}", scheme); }
  void exchange(Memory& memory) {
    memory.exchange(record.energy);
    memory.exchange(record.law_work);
    memory.exchange(record.sensitivity);
    memory.exchange(ledger);
    memory.exchange(result.steps);
    memory.exchange(result.event_counts);
    memory.exchange(first_part);
    recorder.exchange(memory);
  }
};

std::string scheme_label(const System& system, SchemeKind scheme) {
  return fmt::format("{} {} {} {} {} {}", to_string(scheme), version(), system.info().nq(), system.info().nv(),
                     system.laws().friction().size(), system.laws().contacts().size());
}

}  // namespace

TrajectoryNames trajectory_names(const System& system, const SimulationOptions& options) {
  const SchemeDescription& scheme = describe(options.scheme);
  TrajectoryNames names = trajectory_names(system, scheme.friction_velocity);
  names.unknowns = options.sensitivities;
  names.reaction_sensitivity = scheme.derivatives == Derivatives::state_and_reactions;
  return names;
}

Simulation simulate(const System& system, const State& initial, const SimulationOptions& options,
                    const SimulationHooks& hooks, const Variations* variations) {
  options.validate();
  require_supported(options.scheme, system);
  if (variations) require_sensitivities(options.scheme);
  require_state(system, hooks.resume ? hooks.resume->state : initial);
  const double start = options.start_time;
  const Grid grid(options);
  const long steps = grid.steps();
  const double h = grid.step();
  const BreakpointSearch search = system.find_breakpoints(start, options.end_time, hooks.stop);
  const std::vector<double>& breakpoints = search.times;
  const std::unique_ptr<Scheme> scheme = describe(options.scheme).make(system, options, breakpoints, hooks.stop, variations);

  Simulation result;
  result.notes = run_notes(system, options, search);
  const double rows = hooks.keep_trajectory ? std::min(options.expected_rows() + 2, 1e9) : 0;
  constexpr double kReservedRows = 4e6;
  const double reserved = std::min(rows, std::max(16.0, kReservedRows / static_cast<double>(1 + system.info().nq())));
  TrajectoryNames names = trajectory_names(system, options);
  names.unknowns = variations ? variations->names() : std::vector<std::string>();
  result.trajectory = Trajectory(std::move(names), system.info().nq(), system.info().nv(), static_cast<Index>(reserved));
  StepRecord record;
  record.state = hooks.resume ? hooks.resume->state : initial;
  if (!hooks.resume) record.state.t = start;
  scheme->start(record);
  AuditLedger ledger;
  Recorder recorder(system, options, h, *scheme, hooks, result);
  Run run{*scheme, record, ledger, recorder, result};
  const std::string label = scheme_label(system, options.scheme);
  if (hooks.resume) {
    recorder.go_on(record);
    run.restore(label, *hooks.resume);
  } else {
    recorder.start(record);
  }

  if (raised(hooks.stop)) result.status = Status::interrupted;  // perhaps within the search for jumps: no step without
  auto next_break = std::upper_bound(breakpoints.begin(), breakpoints.end(), record.state.t);
  for (long n = grid.step_at(record.state.t); n < steps && result.status == Status::success; ++n) {
    const double t1 = grid.end(n);
    while (record.state.t < t1) {
      double target = t1;
      if (options.breakpoints == BreakpointPolicy::step_ends) {
        while (next_break != breakpoints.end() && *next_break <= record.state.t + 1e-9 * h) ++next_break;
        if (next_break != breakpoints.end() && *next_break < t1 - 1e-9 * h) target = *next_break;
      }
      const double t0 = record.state.t;
      const StepOutcome outcome = take_step(system, *scheme, target, record);
      for (const Event& event : record.events) {
        if (hooks.keep_trajectory) result.trajectory.events.push_back(event);
        ++result.event_counts[static_cast<std::size_t>(event.kind)];
        ++result.last.events;
        if (hooks.on_event) hooks.on_event(event);
      }
      // Schemes that choose their own steps have come somewhere when a request stops them, and that counts.
      const bool stopped_inside = outcome.status == Status::interrupted && record.state.t > t0;
      if (outcome.status != Status::success) {
        result.status = outcome.status;
        result.message = outcome.message;
        if (!stopped_inside) break;
      }
      ledger.add(record);
      scheme->account(ledger);
      recorder.part_done(record, run.first_part, record.state.t >= t1);
      run.first_part = record.state.t >= t1;
      // A scheme that stops at every event may need many parts for one step.
      if (raised(hooks.stop) && record.state.t < t1) result.status = Status::interrupted;
      if (result.status != Status::success) break;
    }
    if (result.status != Status::success) break;
    ++result.steps;
    if (hooks.checkpoint)
      if (Checkpoint* checkpoint = hooks.checkpoint()) run.save(label, *checkpoint);
    const bool go_on = (!hooks.keep_going || hooks.keep_going(record.state)) && !raised(hooks.stop);
    if (!go_on && n + 1 < steps) result.status = Status::interrupted;
  }
  if (result.status == Status::interrupted)
    result.message = fmt::format("stopped at t = {:.9g} s of {:.9g} s; everything up to there is kept", record.state.t,
                                 options.end_time);
  result.final = record.state;
  result.final_reaction = recorder.mean_reaction(record);
  result.final_sensitivity = record.sensitivity;
  scheme->add_notes(result.notes);
  run.save(label, result.last);
  result.problems = ledger.problems;
  ledger.final_penetration = penetration_at(system, record.state);
  ledger.energy = record.energy;
  const AuditLimits limits = describe(options.scheme).limits(system, options);
  std::vector<AuditItem> of_the_scheme;
  scheme->add_audit(ledger, limits, of_the_scheme);
  result.audit = audit_report(ledger, limits, std::move(of_the_scheme));
  if (result.status == Status::success && !passed(result.audit)) {
    result.status = Status::audit_failed;
    result.message = audit_message(result.audit);
  }
  return result;
}

}  // namespace stickslip
