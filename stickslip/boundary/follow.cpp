// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "stickslip/boundary/shooting.hpp"
#include "stickslip/boundary/shooting_map.hpp"

namespace stickslip {

namespace {

/// Times of the output of the whole motion that fall into one part.
void restrict_output(SimulationOptions& run) {
  if (run.output_times.empty()) return;
  std::erase_if(run.output_times, [&](double t) { return t < run.start_time || t > run.end_time; });
  if (run.output_times.empty()) run.output_times.push_back(run.end_time);
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
    restrict_output(input.options);
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
      if (part > 0 && row.t == input.options.start_time) return;  // the part before ended there
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
