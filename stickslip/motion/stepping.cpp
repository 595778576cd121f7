// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/stepping.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/version.hpp"
#include "stickslip/motion/not_finite.hpp"
#include "stickslip/motion/run_notes.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

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
StepOutcome scheme_step(const System& system, Scheme& scheme, double t_end, StepRecord& record) {
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

/// With room for the rows that the run will have, up to a bound.
Trajectory empty_trajectory(const System& system, const SimulationOptions& options, const SimulationHooks& hooks,
                            const Variations* variations) {
  constexpr double kReservedNumbers = 4e6;  // beyond these a trajectory grows as it goes
  const double rows = hooks.keep_trajectory ? options.expected_rows() + 2 : 0;
  const double room = std::max(16.0, kReservedNumbers / static_cast<double>(1 + system.info().nq()));
  TrajectoryNames names = trajectory_names(system, options);
  names.unknowns = variations ? variations->names() : std::vector<std::string>();
  return Trajectory(std::move(names), system.info().nq(), system.info().nv(), static_cast<Index>(std::min(rows, room)));
}

/// With the end of the run, where a function jumps there: the motion is over by the left limit. A search over the run
/// alone cannot see it.
BreakpointSearch breakpoints_of_run(const System& system, const TimeSpan& run, StopRequest stop) {
  constexpr double kAround = 1e-9, kSame = 1e-12;  // of the run: looked at, and round-off of the clock
  BreakpointSearch search = system.find_breakpoints(run.start, run.end, stop);
  const double size = run.size(run.end);
  for (const double t : system.breakpoints(run.end - kAround * size, run.end + kAround * size))
    if (std::abs(t - run.end) <= kSame * size && (search.times.empty() || search.times.back() < run.end - kSame * size))
      search.times.push_back(run.end);
  return search;
}

/// Inputs may change at the end of every step of the grid: forces jump there.
std::vector<double> with_step_ends(const std::vector<double>& jumps, const Grid& grid) {
  std::vector<double> ends, times;
  ends.reserve(static_cast<std::size_t>(grid.steps()));
  for (long n = 0; n < grid.steps(); ++n) ends.push_back(grid.end(n));
  std::set_union(ends.begin(), ends.end(), jumps.begin(), jumps.end(), std::back_inserter(times));
  return times;
}

/// A caller that goes on from a checkpoint need not know the start: then what the run has come to stands for it.
std::shared_ptr<const State> start_of_run(const System& system, const State& initial, const SimulationOptions& options,
                                          const Checkpoint* resume) {
  const bool known = initial.q.size() == system.info().nq() && initial.v.size() == system.info().nv();
  auto start = std::make_shared<State>(known || !resume ? initial : resume->state);
  if (known) start->t = options.start_time;
  return start;
}

const SimulationOptions& validated(const System& system, const State& start, const SimulationOptions& options,
                                   const Variations* variations) {
  options.validate();
  require_supported(options.scheme, system);
  if (variations) require_sensitivities(options.scheme);
  require_state(system, start);
  return options;
}

}  // namespace

Stepping::Stepping(const System& system, const State& initial, const SimulationOptions& options,
                   const SimulationHooks& hooks, const Variations* variations, bool inputs)
    : system_(system),
      options_(validated(system, hooks.resume ? hooks.resume->state : initial, options, variations)),
      hooks_(hooks),
      grid_(options_),
      search_(breakpoints_of_run(system, options_.span(), hooks.stop)),
      inputs_(inputs) {
  start_ = options_.whole_start ? options_.whole_start : start_of_run(system, initial, options_, hooks_.resume);
  make_scheme(variations, hooks_.resume != nullptr);
  result_.notes = run_notes(system, options_, search_);
  result_.trajectory = empty_trajectory(system, options_, hooks_, variations);
  record_.state = hooks_.resume ? hooks_.resume->state : initial;
  if (!hooks_.resume) record_.state.t = options_.start_time;
  scheme_->start(record_);
  parts_ = scheme_->audit_parts();
  if (hooks_.resume) {
    recorder_->go_on(record_);
    restore(*hooks_.resume);
  } else {
    recorder_->start(record_);
  }
  next_break_ = std::upper_bound(search_.times.begin(), search_.times.end(), record_.state.t) - search_.times.begin();
  next_step_ = grid_.step_at(record_.state.t);
  if (raised(hooks_.stop)) result_.status = Status::interrupted;  // within the search for jumps: no step without them
}

void Stepping::make_scheme(const Variations* variations, bool goes_on) {
  const SchemeDescription& kind = describe(options_.scheme);
  const bool ends = inputs_ && !kind.own_steps;
  SimulationOptions options = options_;
  if (goes_on) options.whole_start = start_;
  scheme_ =
      kind.make(system_, options, ends ? with_step_ends(search_.times, grid_) : search_.times, hooks_.stop, variations);
  recorder_.emplace(system_, options_, grid_.step(), *scheme_, hooks_, result_);
}

void Stepping::inputs_changed() {
  if (done() || !chooses_own_steps(options_.scheme)) return;
  const std::vector<Mode> before = record_.state.modes;
  try {
    begin_anew();
  } catch (const InputError& error) {  // a limit that turns out to be impossible
    result_.status = Status::refused;
    result_.message = error.what();
    return;
  }
  record_.events.clear();
  for (std::size_t law = 0; law < before.size() && law < record_.state.modes.size(); ++law)
    if (const auto kind = event_between(before[law], record_.state.modes[law]))
      record_.events.push_back({record_.state.t, static_cast<int>(law), *kind, before[law], record_.state.modes[law]});
  hand_out_events();
}

/// As from a checkpoint, with modes that the forces of now decide.
void Stepping::begin_anew() {
  Checkpoint now;
  save(now);
  make_scheme(nullptr, true);
  record_.state.modes.clear();
  record_.state.facets.clear();
  scheme_->start(record_);
  const State started = record_.state;
  parts_ = scheme_->audit_parts();
  recorder_->go_on(record_);
  restore(now);
  record_.state = started;
}

bool Stepping::step() {
  if (done()) return false;
  const long n = next_step_++;
  take_step(grid_.end(n));
  if (result_.status != Status::success) return false;
  ++result_.steps;
  if (hooks_.checkpoint)
    if (Checkpoint* checkpoint = hooks_.checkpoint()) save(*checkpoint);
  const bool go_on = (!hooks_.keep_going || hooks_.keep_going(record_.state)) && !raised(hooks_.stop);
  if (!go_on && n + 1 < grid_.steps()) result_.status = Status::interrupted;
  return !done();
}

Simulation Stepping::finish() {
  if (result_.status == Status::interrupted)
    result_.message = fmt::format("stopped at t = {:.9g} s of {:.9g} s; everything up to there is kept",
                                  record_.state.t, options_.end_time);
  result_.final = record_.state;
  result_.final_reaction = recorder_->mean_reaction(record_);
  result_.final_sensitivity = record_.sensitivity;
  result_.problems = ledger_.problems;
  scheme_->add_notes(result_.notes);
  save(result_.last);
  ledger_.final_penetration = penetration_at(system_, record_.state);
  ledger_.energy = record_.energy;
  result_.audit = audit_report(ledger_, describe(options_.scheme).limits(system_, options_), parts_);
  if (result_.status == Status::success && !passed(result_.audit)) {
    result_.status = Status::audit_failed;
    result_.message = audit_message(result_.audit);
  }
  return std::move(result_);
}

void Stepping::take_step(double end) {
  while (record_.state.t < end && result_.status == Status::success) {
    const double t0 = record_.state.t;
    const double target = target_before(end);
    const StepOutcome outcome = scheme_step(system_, *scheme_, target, record_);
    if (observer_) observer_(*scheme_, t0, outcome.status == Status::success ? record_.state.t : target, outcome);
    if (!record_.events.empty()) hand_out_events();
    if (outcome.status != Status::success) {
      result_.status = outcome.status;
      result_.message = outcome.message;
      // Schemes that choose their own steps have come somewhere when a request stops them, and that counts.
      if (outcome.status != Status::interrupted || record_.state.t == t0) return;
    }
    ledger_.add(record_);
    for (AuditPart* part : parts_) part->account(ledger_);
    recorder_->part_done(record_, first_part_, record_.state.t >= end);
    first_part_ = record_.state.t >= end;
    // A scheme that stops at every event may need many parts for one step.
    if (raised(hooks_.stop) && record_.state.t < end) result_.status = Status::interrupted;
  }
}

double Stepping::target_before(double end) {
  if (options_.breakpoints != BreakpointPolicy::step_ends) return end;
  constexpr double kSameTime = 1e-9;  // of a step: nearer breakpoints are one with its ends
  const double near = kSameTime * grid_.step();
  const auto& times = search_.times;
  while (next_break_ < std::ssize(times) && times[next_break_] <= record_.state.t + near) ++next_break_;
  return next_break_ < std::ssize(times) && times[next_break_] < end - near ? times[next_break_] : end;
}

void Stepping::hand_out_events() {
  for (const Event& event : record_.events) {
    if (hooks_.keep_trajectory) result_.trajectory.events.push_back(event);
    ++result_.event_counts[static_cast<std::size_t>(event.kind)];
    ++result_.last.events;
    if (hooks_.on_event) hooks_.on_event(event);
  }
}

void Stepping::save(Checkpoint& checkpoint) {
  recorder_->mean_reaction(record_);
  checkpoint.state = record_.state;
  checkpoint.rows = result_.last.rows;
  checkpoint.events = result_.last.events;
  Memory& memory = checkpoint.memory;
  memory.clear();
  memory.open(run_label());
  exchange(memory);
  memory.close();
  memory.open("audit " + scheme_label());
  for (AuditPart* part : parts_) part->exchange(memory);
  memory.close();
  memory.open(scheme_label());
  scheme_->exchange(memory);
  memory.close();
}

void Stepping::restore(const Checkpoint& checkpoint) {
  result_.last.rows = checkpoint.rows;
  result_.last.events = checkpoint.events;
  Memory memory = checkpoint.memory;
  memory.rewind();
  const Index unknowns = record_.sensitivity.cols();
  if (memory.open(run_label())) {
    exchange(memory);
    memory.close();
  } else if (record_.sensitivity.size() > 0) {
    record_.sensitivity.resize(0, 0);
  }
  if (record_.sensitivity.cols() != unknowns)  // rows of internal states come and go
    throw InputError(
        "the state to go on from holds no derivatives by these run.sensitivities: start the run anew, or go on with "
        "those of the first part");
  if (memory.open("audit " + scheme_label())) {
    for (AuditPart* part : parts_) part->exchange(memory);
    memory.close();
  }
  if (memory.open(scheme_label()) && scheme_->exchange(memory)) record_.state = checkpoint.state;
}

void Stepping::exchange(Memory& memory) {
  memory.exchange(record_.energy);
  memory.exchange(record_.law_work);
  memory.exchange(record_.sensitivity);
  memory.exchange(ledger_);
  memory.exchange(result_.steps);
  memory.exchange(result_.event_counts);
  memory.exchange(first_part_);
  recorder_->exchange(memory);
}

std::string Stepping::run_label() {
  return fmt::format("run 3 {} {} {}", version(), sizeof(AuditLedger), sizeof(EnergyLedger));
}

std::string Stepping::scheme_label() const {
  return fmt::format("{} 2 {} {} {} {} {}", to_string(options_.scheme), version(), system_.info().nq(),
                     system_.info().nv(), system_.laws().friction().size(), system_.laws().contacts().size());
}

}  // namespace stickslip
