// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "stickslip/boundary/shooting.hpp"
#include "stickslip/boundary/shooting_input.hpp"
#include "stickslip/boundary/shooting_map.hpp"

namespace stickslip {

namespace {

constexpr double kSameTime = 1e-9;  // of a part: times nearer than that are one

/// Times of the output of the whole motion that fall into one part. With output_step the last is the end of the motion.
/// False: none does, and the row at its end is not asked for.
bool restrict_output(SimulationOptions& run, double first, double last) {
  const double same = kSameTime * (run.end_time - run.start_time);
  std::vector<double>& times = run.output_times;
  if (run.output_step > 0 && run.expected_rows() <= kMostRows) {
    const double begin = std::max(0.0, std::floor((run.start_time - first) / run.output_step));
    for (double k = begin; first + k * run.output_step < run.end_time + same; ++k)
      times.push_back(first + k * run.output_step);
    if (run.end_time == last && (times.empty() || times.back() < last - same)) times.push_back(last);
    run.output_step = 0;
  }
  if (times.empty()) return true;
  for (double& t : times)
    if (std::abs(t - run.start_time) <= same)
      t = run.start_time;
    else if (std::abs(t - run.end_time) <= same)
      t = run.end_time;
  std::erase_if(times, [&](double t) { return t < run.start_time || t > run.end_time; });
  const bool some = !times.empty();
  if (!some) times.push_back(run.end_time);
  return some || run.end_time == last;
}

void keep_worst(std::vector<AuditItem>& audit, const std::vector<AuditItem>& more) {
  if (audit.empty()) audit = more;
  for (std::size_t k = 0; k < std::min(audit.size(), more.size()); ++k) {
    const bool breaks = audit[k].ok && !more[k].ok;
    if (breaks || (audit[k].ok == more[k].ok && more[k].value > audit[k].value)) audit[k] = more[k];
  }
}

/// The outcome of a later part added to that of those before it.
void join(Simulation& whole, Simulation part) {
  whole.status = part.status == Status::success ? whole.status : part.status;
  if (!part.message.empty()) whole.message = std::move(part.message);
  whole.final = std::move(part.final);
  whole.final_reaction = std::move(part.final_reaction);
  whole.steps += part.steps;
  whole.problems += part.problems;
  keep_worst(whole.audit, part.audit);
  for (std::string& note : part.notes)
    if (std::find(whole.notes.begin(), whole.notes.end(), note) == whole.notes.end())
      whole.notes.push_back(std::move(note));
  for (std::size_t kind = 0; kind < whole.event_counts.size(); ++kind)
    whole.event_counts[kind] += part.event_counts[kind];
  whole.last = std::move(part.last);
}

bool goes_on(const Simulation& part) { return part.status == Status::success || part.status == Status::audit_failed; }

}  // namespace

Simulation follow(const ShootingProblem& problem, const ShootingSolution& solution, const SimulationHooks& hooks) {
  const bool cut = problem.segments > 1 || !problem.nodes.empty();
  if (cut && solution.nodes.empty()) return follow(in_one_segment(problem), solution, hooks);
  const ColumnLayout layout(problem.model.system(), problem.model.parameters(), problem.unknowns);
  const ShootingMap map(problem, layout, {.stop = hooks.stop});
  Simulation whole;
  for (Index part = 0; part <= map.node_count(); ++part) {
    std::optional<State> start;
    if (part > 0) {
      start = solution.nodes[static_cast<std::size_t>(part - 1)];
      start->modes = whole.final.modes;
    }
    SegmentInput input = map.segment().input(map.plan(part, solution.unknowns), solution.unknowns, start);
    const double first = map.plan(0, solution.unknowns).start_time;
    const double last = map.plan(map.node_count(), solution.unknowns).end_time;
    const bool rows = restrict_output(input.options, first, last);
    input.options.sensitivities.clear();  // those of a run, not of this
    if (map.node_count() == 0) return simulate(input.model.system(), input.start, input.options, hooks);
    if (part == 0 && hooks.keep_trajectory)
      whole.trajectory = Trajectory(trajectory_names(input.model.system(), input.options), map.kinematics().nq(),
                                    map.kinematics().nv(),
                                    static_cast<Index>(input.options.expected_rows()) * (map.node_count() + 1) + 2);
    SimulationHooks inner;
    inner.stop = hooks.stop;
    inner.keep_going = hooks.keep_going;
    inner.keep_trajectory = false;
    inner.on_row = [&](const OutputRow& row) {
      if (!rows || (part > 0 && row.t == input.options.start_time)) return;  // the part before ended there
      if (hooks.keep_trajectory) whole.trajectory.append(row);
      if (hooks.on_row) hooks.on_row(row);
    };
    inner.on_event = [&](const Event& event) {
      if (hooks.keep_trajectory) whole.trajectory.events.push_back(event);
      if (hooks.on_event) hooks.on_event(event);
    };
    Simulation one = simulate(input.model.system(), input.start, input.options, inner);
    const bool on = goes_on(one);
    join(whole, std::move(one));
    if (!on) break;
  }
  return whole;
}

}  // namespace stickslip
