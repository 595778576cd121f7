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

/// An unknown that moves the time at which a force jumps; none: -1. Steps of the motion alone do not see what that
/// does.
Index mover_of_jumps(const GradientProblem& problem) {
  const TimeSpan run = problem.options.span();
  const std::vector<double> own = problem.system.breakpoints(run.start, run.end);
  for (Index j = 0; j < problem.variations.size(); ++j)
    for (const ParameterVariation::Neighbour& near : problem.variations.neighbours(j))
      if (near.parts.system->breakpoints(run.start, run.end) != own) return j;
  return -1;
}

/// What the way back does not follow; empty: nothing. Measured against columns and differences of runs.
std::string beyond_adjoint(const GradientProblem& problem) {
  const SimulationOptions& run = problem.options;
  if (const Index mover = mover_of_jumps(problem); mover >= 0)
    return fmt::format("'{}' moves the time at which a force jumps",
                       problem.variations.names()[static_cast<std::size_t>(mover)]);
  const bool fixed =
      run.compliant.integrator == CompliantIntegrator::heun || run.compliant.integrator == CompliantIntegrator::rk4;
  if (fixed && !problem.system.breakpoints(run.span().start, run.span().end).empty())
    return "a force jumps within fixed steps";
  for (const ContactElement& contact : problem.system.laws().contacts())
    if (contact.mu_static.value_or(0) > contact.mu && contact.compliance && contact.compliance->normal_damping > 0)
      return fmt::format("contact '{}' has a static coefficient and normal damping", contact.name);
  return "";
}

GradientSolution go_back(const GradientProblem& problem, const GradientOptions& options) {
  const SimulationOptions& run = problem.options;
  GradientSolution solution{.method = DerivativeMethod::adjoint};
  if (const std::string why = beyond_adjoint(problem); !why.empty()) {
    solution.status = Status::refused;
    solution.message = fmt::format("{}, which the adjoint does not follow; use derivatives = \"forward\"", why);
    return solution;
  }
  const double step = run.steps > 0 ? run.span().length() / static_cast<double>(run.steps) : run.step;
  CompliantScheme scheme(problem.system, run.compliant, run.tolerance, step, run.span(),
                         step_ends(problem, options.stop), options.stop, &problem.variations);
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
    if (record.state.t < functional.time) {
      StepOutcome outcome = scheme.step(functional.time, record);
      solution.status = outcome.status;
      solution.message = std::move(outcome.message);
      if (solution.status != Status::success) return solution;
    }
    TapeMark mark{static_cast<Index>(i), Vector::Zero(problem.system.info().nq() + problem.system.info().nv())};
    solution.values[mark.functional] = functional.value(record.state, mark.weights);
    tape.push_back(std::move(mark));
  }
  solution.final = record.state;
  bool exists = true;
  if (scheme.gradient(m, solution.gradient, exists) && exists) return solution;
  solution.status = raised(options.stop) ? Status::interrupted : Status::not_finite;
  solution.message = raised(options.stop)
                         ? "stopped on the way back along the motion"
                         : "the adjoint found no derivative: several forces jump at one instant that changes of the "
                           "state move apart; forward derivatives tell which unknowns do";
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
