// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"
#include "stickslip/motion/compliant/compliant.hpp"

namespace stickslip {

namespace {

constexpr Words<DerivativeMethod, 3> kMethods{"derivatives", {"automatic", "forward", "adjoint"}};

// In columns of derivatives: what a functional costs on the way back, and the way back itself with its stages.
constexpr Index kAdjointCost = 2, kWayBack = 3;

void require_times(const GradientProblem& problem) {
  const TimeSpan run = problem.options.span();
  for (const Functional& functional : problem.functionals)
    if (!(functional.time >= run.start && functional.time <= run.end))
      throw InputError(fmt::format("the time {} s of a functional must lie in the run, [{}, {}] s", functional.time,
                                   run.start, run.end));
}

/// Functionals in the order of time.
std::vector<std::size_t> by_time(const std::vector<Functional>& functionals) {
  std::vector<std::size_t> order(functionals.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return functionals[a].time < functionals[b].time; });
  return order;
}

/// Breakpoints of the forces and times of functionals, where steps end as well.
std::vector<double> step_ends(const GradientProblem& problem, StopRequest stop) {
  const TimeSpan run = problem.options.span();
  std::vector<double> times = problem.system.find_breakpoints(run.start, run.end, stop).times;
  const SmoothStretch clock({}, run);
  for (const Functional& functional : problem.functionals) {
    const double t = functional.time, near = clock.same_time(t);
    const auto at = std::lower_bound(times.begin(), times.end(), t - near);
    if (t - run.start <= near || run.end - t <= near || (at != times.end() && *at <= t + near)) continue;
    times.insert(at, t);
  }
  return times;
}

/// An unknown near whose value there are other jumps of forces than at it; none: -1. Where they only move, they are
/// followed.
Index maker_of_jumps(const GradientProblem& problem) {
  const TimeSpan run = problem.options.span();
  const std::size_t own = problem.system.breakpoints(run.start, run.end).size();
  for (Index j = 0; j < problem.variations.size(); ++j)
    for (const ParameterVariation::Neighbour& near : problem.variations.neighbours(j))
      if (near.parts.system->breakpoints(run.start, run.end).size() != own) return j;
  return -1;
}

/// Along the motion to t, parts ending where a force jumps, as those of a run do.
StepOutcome go_to(double t, const std::vector<double>& ends, CompliantScheme& scheme, StepRecord& record) {
  StepOutcome outcome;
  while (record.state.t < t && outcome.status == Status::success) {
    const auto next = std::upper_bound(ends.begin(), ends.end(), record.state.t);
    outcome = scheme.step(next != ends.end() ? std::min(*next, t) : t, record);
  }
  return outcome;
}

GradientSolution go_back(const GradientProblem& problem, const GradientOptions& options) {
  const SimulationOptions& run = problem.options;
  GradientSolution solution{.method = DerivativeMethod::adjoint};
  if (const Index maker = maker_of_jumps(problem); maker >= 0) {
    solution.status = Status::refused;
    solution.message = fmt::format(
        "near its value '{}' makes a jump of a force come or go, which the adjoint does not follow; use "
        "derivatives = \"forward\"",
        problem.variations.names()[static_cast<std::size_t>(maker)]);
    return solution;
  }
  const double step = run.steps > 0 ? run.span().length() / static_cast<double>(run.steps) : run.step;
  const std::vector<double> ends = step_ends(problem, options.stop);
  CompliantScheme scheme(problem.system, run.compliant, run.tolerance, step, run.span(), ends, options.stop,
                         &problem.variations);
  CompliantTape tape;
  scheme.record_on(tape);
  StepRecord record;
  record.state = problem.start;
  record.state.t = run.start_time;
  scheme.start(record);
  const Index m = static_cast<Index>(problem.functionals.size());
  solution.values.setZero(m);
  for (const std::size_t i : by_time(problem.functionals)) {
    const Functional& functional = problem.functionals[i];
    StepOutcome outcome = go_to(functional.time, ends, scheme, record);
    solution.status = outcome.status;
    solution.message = std::move(outcome.message);
    if (solution.status != Status::success) return solution;
    Vector weights = Vector::Zero(problem.system.info().nq() + problem.system.info().nv());
    solution.values[static_cast<Index>(i)] = functional.value(record.state, weights);
    scheme.mark(static_cast<Index>(i), record.state.t, weights);
  }
  solution.final = record.state;
  bool exists = true;
  if (scheme.gradient(m, solution.gradient, exists) && exists) return solution;
  solution.status = raised(options.stop) ? Status::interrupted : Status::not_finite;
  solution.message =
      raised(options.stop)
          ? "stopped on the way back along the motion"
          : "the adjoint found no derivative: several forces jump at one instant that changes of the "
            "state move apart; use derivatives = \"forward\", which tells for each unknown whether it does";
  return solution;
}

GradientSolution carry_along(const GradientProblem& problem, const GradientOptions& options) {
  GradientSolution solution{.method = DerivativeMethod::forward};
  SimulationOptions run = problem.options;
  const Index m = static_cast<Index>(problem.functionals.size()), n = problem.variations.size();
  const Index numbers = problem.system.info().nq() + problem.system.info().nv();
  const std::vector<std::size_t> order = by_time(problem.functionals);
  run.output_step = 0;
  run.output_times.clear();
  for (const std::size_t i : order)
    if (const double t = problem.functionals[i].time; run.output_times.empty() || t > run.output_times.back())
      run.output_times.push_back(t);
  if (run.output_times.empty()) run.output_times.push_back(run.end_time);
  run.sensitivities = problem.variations.names();
  solution.values.setZero(m);
  solution.gradient.setZero(m, n);
  std::size_t next = 0;
  SimulationHooks hooks;
  hooks.stop = options.stop;
  hooks.keep_trajectory = false;
  const SmoothStretch clock({}, run.span());
  hooks.on_row = [&](const OutputRow& row) {
    for (; next < order.size() && problem.functionals[order[next]].time <= row.t + clock.same_time(row.t); ++next) {
      State state{.t = row.t, .q = row.q, .v = row.v};
      Vector slope = Vector::Zero(numbers);
      const auto i = static_cast<Index>(order[next]);
      solution.values[i] = problem.functionals[order[next]].value(state, slope);
      solution.gradient.row(i) = slope.transpose() * row.sensitivity.topRows(numbers);
    }
  };
  Simulation simulation = simulate(problem.system, problem.start, run, hooks, &problem.variations);
  solution.status = simulation.status;
  solution.message = std::move(simulation.message);
  solution.final = std::move(simulation.final);
  return solution;
}

}  // namespace

std::string_view to_string(DerivativeMethod method) { return kMethods.of(method); }
DerivativeMethod derivative_method_from(std::string_view word) { return kMethods.from(word); }

bool has_adjoint(const SimulationOptions& run) {
  return run.scheme == SchemeKind::compliant && !run.compliant.quasistatic;
}

DerivativeMethod cheaper_method(const SimulationOptions& run, Index functionals, Index unknowns) {
  return has_adjoint(run) && kAdjointCost * (functionals + kWayBack) < unknowns ? DerivativeMethod::adjoint
                                                                                : DerivativeMethod::forward;
}

GradientSolution solve(const GradientProblem& problem, const GradientOptions& options) {
  problem.options.validate();
  require_supported(problem.options.scheme, problem.system);
  require_sensitivities(problem.options.scheme);
  require_times(problem);
  if (options.method == DerivativeMethod::adjoint && !has_adjoint(problem.options))
    throw InputError(fmt::format(
        "scheme '{}'{} has no adjoint; use derivatives = \"forward\", or scheme = \"compliant\" with its inertia",
        to_string(problem.options.scheme), problem.options.compliant.quasistatic ? " without inertia" : ""));
  const DerivativeMethod method =
      options.method == DerivativeMethod::automatic
          ? cheaper_method(problem.options, static_cast<Index>(problem.functionals.size()), problem.variations.size())
          : options.method;
  if (method == DerivativeMethod::forward) return carry_along(problem, options);
  GradientSolution back = go_back(problem, options);
  // Where the way back cannot say whether a derivative exists, or does not follow a jump, columns can.
  if ((back.status == Status::not_finite || back.status == Status::refused) &&
      options.method == DerivativeMethod::automatic)
    return carry_along(problem, options);
  return back;
}

}  // namespace stickslip
