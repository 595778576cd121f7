// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

void ComparisonOptions::validate() const {
  if (schemes.empty()) throw InputError("compare: no scheme given");
  if (steps.empty()) throw InputError("compare: no step size given");
  for (double h : steps)
    if (!(h > 0) || !std::isfinite(h)) throw InputError(fmt::format("compare: step {} must be a finite time > 0", h));
  if (reference_refinement < 2)
    throw InputError(fmt::format("compare: reference_refinement = {} must be >= 2", reference_refinement));
  if (samples < 1) throw InputError(fmt::format("compare: samples = {} must be >= 1", samples));
}

double fitted_order(const std::vector<double>& steps, const std::vector<double>& errors) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!(errors[i] > 0) || !std::isfinite(errors[i])) continue;
    const double x = std::log(steps[i]), y = std::log(errors[i]);
    n += 1;
    sx += x;
    sy += y;
    sxx += x * x;
    sxy += x * y;
  }
  const double determinant = n * sxx - sx * sx;
  return n >= 2 && determinant > 0 ? (n * sxy - sx * sy) / determinant : std::nan("");
}

namespace {
void measure_errors(const Trajectory& reference, ComparedRun& run) {
  const Trajectory& trajectory = run.simulation.trajectory;
  const Index rows = std::min(reference.rows(), trajectory.rows());
  const Index nq = static_cast<Index>(trajectory.names().coordinates.size()),
              nv = static_cast<Index>(trajectory.names().velocities.size());
  double squares = 0;
  for (Index k = 0; k < rows; ++k) {
    for (Index i = 0; i < nq; ++i)
      run.position_error = std::max(run.position_error, std::abs(trajectory.q(k, i) - reference.q(k, i)));
    for (Index i = 0; i < nv; ++i) squares += std::pow(trajectory.v(k, i) - reference.v(k, i), 2);
  }
  run.velocity_error = rows > 0 ? std::sqrt(squares / static_cast<double>(rows)) : 0.0;
}
}  // namespace

Comparison compare_schemes(const System& system, const State& initial, const SimulationOptions& base,
                           const ComparisonOptions& options, const std::function<bool(double)>& keep_going) {
  options.validate();
  for (SchemeKind scheme : options.schemes) require_supported(scheme, system);
  SimulationOptions run_options = base;
  run_options.steps = 0;
  run_options.output_step = 0;
  run_options.output_times.clear();
  const double span = base.end_time - base.start_time;
  for (int k = 1; k <= options.samples; ++k)
    run_options.output_times.push_back(k == options.samples ? base.end_time
                                                            : base.start_time + span * k / options.samples);

  // Work is proportional to the number of steps; the bar should be, too.
  const double smallest = *std::min_element(options.steps.begin(), options.steps.end());
  double total = options.reference_refinement / smallest, done = 0;
  for (double h : options.steps) total += static_cast<double>(options.schemes.size()) / h;
  auto timed_run = [&](double& wall) {
    SimulationHooks hooks;
    const double weight = 1 / run_options.step;
    if (keep_going)
      hooks.keep_going = [&](const State& s) {
        return keep_going((done + weight * (s.t - base.start_time) / span) / total);
      };
    const auto begin = std::chrono::steady_clock::now();
    Simulation simulation = simulate(system, initial, run_options, hooks);
    wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    done += weight;
    return simulation;
  };

  Comparison result;
  run_options.scheme = SchemeKind::moreau;
  result.reference_step = run_options.step = smallest / options.reference_refinement;
  const MoreauOptions asked = run_options.moreau;
  run_options.moreau.locate_reversals = true;
  double wall = 0;
  result.reference = timed_run(wall);
  run_options.moreau = asked;
  if (result.reference.status != Status::success) {
    result.status = result.reference.status;
    result.message = fmt::format("the reference run (moreau, step {:g} s) failed: {}", result.reference_step,
                                 result.reference.message);
    return result;
  }
  for (SchemeKind scheme : options.schemes) {
    ObservedOrder order{scheme, 0, 0};
    std::vector<double> position, velocity;
    for (double h : options.steps) {
      ComparedRun run;
      run.scheme = run_options.scheme = scheme;
      run.step = run_options.step = h;
      run.simulation = timed_run(run.wall_seconds);
      const bool complete = run.simulation.trajectory.rows() == result.reference.trajectory.rows();
      measure_errors(result.reference.trajectory, run);
      position.push_back(complete ? run.position_error : std::nan(""));
      velocity.push_back(complete ? run.velocity_error : std::nan(""));
      if (run.simulation.status != Status::success) {
        result.status = run.simulation.status;
        result.message = fmt::format("{}, step {:g} s: {}", to_string(scheme), h, run.simulation.message);
      }
      result.runs.push_back(std::move(run));
      if (result.status == Status::interrupted) return result;
    }
    order.position = fitted_order(options.steps, position);
    order.velocity = fitted_order(options.steps, velocity);
    result.orders.push_back(order);
  }
  return result;
}

}  // namespace stickslip
