// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/segment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/compliant/compliant_dynamics.hpp"
#include "stickslip/motion/constrained_motion.hpp"

namespace stickslip {

namespace {

/// The times asked for and those that make the reactions there means over a short time, ascending and apart.
std::vector<double> output_times(const SegmentPlan& plan, bool own_steps) {
  const double span = plan.end_time - plan.start_time, closest = 1e-12 * span;
  std::vector<double> times = plan.times;
  times.push_back(plan.end_time);
  if (plan.short_means && own_steps)
    for (const double t : plan.times) times.push_back(std::max(plan.start_time, t - kReactionPart * span));
  std::sort(times.begin(), times.end());
  std::vector<double> apart;
  for (const double t : times)
    if (apart.empty() || t > apart.back() + closest) apart.push_back(t);
  apart.back() = plan.end_time;
  return apart;
}

}  // namespace

SegmentInput Segment::input(const SegmentPlan& plan, const Vector& unknowns, const std::optional<State>& start) const {
  SegmentInput input{with_values(*base_, *unknowns_, unknowns), {}, {}};
  SimulationOptions& run = input.options;
  run = input.model.options();
  if (run.steps > 0) {  // the step size stays that of the whole run
    run.step = (run.end_time - run.start_time) / static_cast<double>(run.steps);
    run.steps = 0;
  }
  if (!(plan.end_time > plan.start_time))
    throw InputError(fmt::format("the end {} s must be after the start {} s", plan.end_time, plan.start_time));
  run.start_time = plan.start_time;
  run.end_time = plan.end_time;
  const System& system = input.model.system();
  input.start = start ? *start : input.model.initial();
  input.start.t = plan.start_time;
  if (run.scheme == SchemeKind::compliant && run.compliant.epsilon == 0)  // contacts stay those of the whole run
    run.compliant.epsilon = default_compliance(system, input.model.initial(), input.model.options().span().length());
  if (start) {
    auto whole = std::make_shared<State>(input.model.initial());
    whole->t = input.model.options().start_time;
    run.whole_start = std::move(whole);
    // Elsewhere the state says what laws do; here what slips may stick as well, where a static coefficient holds it.
    if (run.scheme != SchemeKind::compliant) input.start.modes.clear();
  }
  if (start && !system.laws().constraints().empty()) {  // an iterate need not be on the constraints
    ConsistentStart on = make_consistent(system, plan.start_time, start->q, start->v, {.policy = StartPolicy::project});
    input.start.q = std::move(on.q);
    input.start.v = std::move(on.v);
  }
  return input;
}

const OutputRow& Segment::row_at(const std::vector<OutputRow>& rows, double t) {
  auto later =
      std::lower_bound(rows.begin(), rows.end(), t, [](const OutputRow& row, double at) { return row.t < at; });
  if (later == rows.end()) return rows.back();
  if (later != rows.begin() && t - (later - 1)->t < later->t - t) --later;
  return *later;
}

Segment::RawRun Segment::simulate_rows(const SegmentPlan& plan, const SegmentInput& input,
                                       const Variations* variations) const {
  ++runs_;
  SimulationOptions options = input.options;
  options.output_step = 0;
  options.output_times = output_times(plan, chooses_own_steps(options.scheme));
  options.sensitivities = variations ? variations->names() : std::vector<std::string>{};
  RawRun raw;
  SimulationHooks hooks;
  hooks.keep_trajectory = false;
  hooks.stop = stop_;
  hooks.keep_going = [this](const State&) { return !raised(stop_); };
  hooks.on_row = [&](const OutputRow& row) { raw.rows.push_back(row); };
  raw.simulation = simulate(input.model.system(), input.start, options, hooks, variations);
  return raw;
}

SampledRun Segment::run(const SegmentPlan& plan, const Vector& unknowns, const std::optional<State>& start) const {
  SampledRun result;
  try {
    const SegmentInput made = input(plan, unknowns, start);
    RawRun raw = simulate_rows(plan, made, nullptr);
    result.status = raw.simulation.status;
    result.message = std::move(raw.simulation.message);
    result.final = std::move(raw.simulation.final);
    if (!result.usable()) return result;
    for (const double t : plan.times)
      result.rows.push_back(layout_->values(row_at(raw.rows, t), made.model.parameters(), unknowns));
  } catch (const InputError& error) {
    result.status = Status::refused;
    result.message = error.what();
  }
  return result;
}

State moved_state(const Kinematics& kinematics, const State& state, const Vector& p) {
  State moved = state;
  const Index nv = kinematics.nv();
  kinematics.displace(p.head(nv), moved.q);
  moved.v += p.segment(nv, nv);
  moved.z += p.tail(state.z.size());
  return moved;
}

Vector state_difference(const Kinematics& kinematics, const State& to, const State& from) {
  const Index nv = kinematics.nv();
  Vector delta;
  kinematics.difference(to.q, from.q, delta);
  Vector p(2 * nv + from.z.size());
  p << delta, to.v - from.v, to.z - from.z;
  return p;
}

}  // namespace stickslip
