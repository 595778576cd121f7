// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/event/taylor_flow.hpp"

namespace stickslip {

void ComparisonOptions::validate() const {
  if (schemes.empty()) throw InputError("compare: no scheme given");
  if (steps.empty()) throw InputError("compare: no step size given");
  for (double h : steps)
    if (!(h > 0) || !std::isfinite(h)) throw InputError(fmt::format("compare: step {} must be a finite time > 0", h));
  if (tolerances.empty()) throw InputError("compare: no tolerance given");
  for (double tolerance : tolerances)
    if (!(tolerance >= 1e-14 && tolerance <= 0.1))
      throw InputError(fmt::format("compare: tolerance {} must lie in [1e-14, 0.1]", tolerance));
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

OrderFit judged_order(const std::vector<double>& sizes, const std::vector<double>& errors, double floor, double least) {
  std::vector<double> used(errors.size(), std::nan(""));
  double n = 0, mean_x = 0, mean_y = 0;
  bool hidden = false;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!std::isfinite(errors[i])) continue;
    if (!(errors[i] > floor)) {
      hidden = true;
      continue;
    }
    used[i] = errors[i];
    n += 1;
    mean_x += std::log(sizes[i]);
    mean_y += std::log(errors[i]);
  }
  if (n < 3)
    return {std::nan(""), hidden ? "errors are at round-off or at that of the reference" : "fewer than three runs"};
  const double slope = fitted_order(sizes, used);
  mean_x /= n;
  mean_y /= n;
  double sxx = 0, residual = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!std::isfinite(used[i])) continue;
    const double x = std::log(sizes[i]) - mean_x, y = std::log(used[i]) - mean_y;
    sxx += x * x;
    residual += (y - slope * x) * (y - slope * x);
  }
  if (!std::isfinite(slope)) return {std::nan(""), "fewer than three sizes"};
  if (slope < least) return {std::nan(""), "errors do not fall"};
  const double uncertain = std::sqrt(residual / ((n - 2) * sxx));
  if (uncertain > kSlopeError)
    return {std::nan(""), fmt::format("errors scatter too much: slope {:.2f} within {:.2f}, more sizes would tell",
                                      slope, uncertain)};
  return {slope, ""};
}

namespace {

/// Empty where the scheme takes the system, else why not.
std::string refusal(SchemeKind scheme, const System& system) {
  try {
    require_supported(scheme, system);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

void measure_errors(const Trajectory& reference, ComparedRun& run) {
  const Trajectory& trajectory = run.simulation.trajectory;
  const Index rows = std::min(reference.rows(), trajectory.rows());
  const Index nq = static_cast<Index>(trajectory.names().coordinates.size()),
              nv = static_cast<Index>(trajectory.names().velocities.size());
  double squares = 0, largest = 0;
  for (Index k = 0; k < rows; ++k) {
    for (Index i = 0; i < nq; ++i)
      run.position_error = std::max(run.position_error, std::abs(trajectory.q(k, i) - reference.q(k, i)));
    double here = 0;
    for (Index i = 0; i < nv; ++i) here += std::pow(trajectory.v(k, i) - reference.v(k, i), 2);
    squares += here;
    largest = std::max(largest, here);
  }
  run.velocity_peak = squares > 0 ? largest / squares : 0.0;
  run.velocity_error = rows > 0 ? std::sqrt(squares / static_cast<double>(rows)) : 0.0;
}

/// Errors of position and velocity that say nothing, beside a reference as accurate as this one.
std::pair<double, double> error_floors(const Comparison& comparison) {
  const Trajectory& rows = comparison.reference.trajectory;
  double position = 0, squares = 0;
  for (Index k = 0; k < rows.rows(); ++k) {
    for (std::size_t i = 0; i < rows.names().coordinates.size(); ++i)
      position = std::max(position, std::abs(rows.q(k, static_cast<Index>(i))));
    for (std::size_t i = 0; i < rows.names().velocities.size(); ++i)
      squares += std::pow(rows.v(k, static_cast<Index>(i)), 2);
  }
  const double part = std::max(kRoundOffFloor, kReferenceFloor * comparison.reference_tolerance);
  return {part * position, part * std::sqrt(squares / static_cast<double>(std::max<Index>(rows.rows(), 1)))};
}

/// The worst that happened becomes the status of the comparison: a stop, then a run that did not end, then an audit.
void note_status(const ComparedRun& run, Comparison& result) {
  const Status status = run.simulation.status;
  if (status == Status::success) return;
  const bool own = run.tolerance > 0;
  const std::string message = fmt::format("{}, {} {:g}{}: {}", to_string(run.scheme), own ? "tolerance" : "step",
                                          own ? run.tolerance : run.step, own ? "" : " s", run.simulation.message);
  if (result.status == Status::success || (result.status == Status::audit_failed && status != Status::audit_failed) ||
      status == Status::interrupted) {
    result.status = status;
    result.message = message;
  }
}

/// Runs of one model with everything but scheme, step and tolerance fixed, timed and counted for the progress bar.
class Runner {
 public:
  Runner(const System& system, const State& initial, const SimulationOptions& base, const ComparisonOptions& options,
         const std::function<bool(double)>& keep_going)
      : system_(system), initial_(initial), run_(base), asked_(base), keep_going_(keep_going), stop_(options.stop) {
    run_.steps = 0;
    run_.output_step = 0;
    run_.output_times.clear();
    run_.sensitivities.clear();  // motions are compared, under schemes with and without derivatives
    const double span = base.end_time - base.start_time;
    for (int k = 1; k <= options.samples; ++k)
      run_.output_times.push_back(k == options.samples ? base.end_time : base.start_time + span * k / options.samples);
    // Work is proportional to the number of steps; the bar should be, too. `event` is taken for as much as one
    // fixed-step run of 2000 steps, which it is within a factor of a few.
    own_steps_ = 2000 / span;
    total_ = own_steps_;
    for (SchemeKind scheme : options.schemes) {
      if (chooses_own_steps(scheme)) total_ += own_steps_ * static_cast<double>(options.tolerances.size());
      for (double h : options.steps) total_ += chooses_own_steps(scheme) ? 0 : 1 / h;
    }
  }

  Simulation reference_by_moreau(double step) {
    run_.moreau.locate_reversals = true;
    total_ += 1 / step;
    double wall = 0;
    Simulation simulation = fixed_step(SchemeKind::moreau, step, wall);
    run_.moreau = asked_.moreau;
    return simulation;
  }
  Simulation reference_by_event(bool exact) {
    double wall = 0;
    return own_steps(SchemeKind::event, kReferenceTolerance, exact ? FlowKind::exact : FlowKind::integrator, wall);
  }
  Simulation reference_by_compliant() {
    double wall = 0;
    return own_steps(SchemeKind::compliant, kReferenceTolerance, FlowKind::integrator, wall);
  }
  Simulation fixed_step(SchemeKind scheme, double step, double& wall) {
    run_.scheme = scheme;
    run_.step = step;
    return timed(1 / step, wall);
  }
  Simulation own_steps(SchemeKind scheme, double tolerance, FlowKind flow, double& wall) {
    run_.scheme = scheme;
    run_.step = 0;
    run_.tolerance = tolerance;
    run_.event.flow = flow;
    run_.event.absolute_tolerance = 0;
    return timed(own_steps_, wall);
  }

 private:
  Simulation timed(double weight, double& wall) {
    SimulationHooks hooks;
    hooks.stop = stop_;
    const double start = run_.start_time, span = run_.end_time - start;
    if (keep_going_)
      hooks.keep_going = [&](const State& s) { return keep_going_((done_ + weight * (s.t - start) / span) / total_); };
    // The best of a few, where that costs nothing: a short run measured once measures what else the machine does.
    Simulation simulation;
    double total = 0;
    for (int repeat = 0; repeat < 3 && total < 0.1 && simulation.status != Status::interrupted; ++repeat) {
      const auto begin = std::chrono::steady_clock::now();
      simulation = simulate(system_, initial_, run_, hooks);
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      wall = repeat == 0 ? seconds : std::min(wall, seconds);
      total += seconds;
    }
    done_ += weight;
    return simulation;
  }

  const System& system_;
  const State& initial_;
  SimulationOptions run_;
  const SimulationOptions& asked_;
  const std::function<bool(double)>& keep_going_;
  StopRequest stop_;
  double own_steps_ = 0, total_ = 0, done_ = 0;
};

/// `compliant` with itself: what gives way is another model than what event and moreau take it for.
bool find_compliant_reference(Runner& runner, Comparison& result) {
  result.reference_scheme = SchemeKind::compliant;
  result.reference_tolerance = kReferenceTolerance;
  result.reference_note = "compliant alone: its contacts give way, which no other scheme knows";
  result.reference = runner.reference_by_compliant();
  result.status = result.reference.status;
  if (result.status != Status::success)
    result.message = fmt::format("the reference run (compliant) failed: {}", result.reference.message);
  return result.status == Status::success;
}

/// False if there is none.
bool find_reference(const System& system, const ComparisonOptions& options, Runner& runner, Comparison& result) {
  const auto compliant = std::count(options.schemes.begin(), options.schemes.end(), SchemeKind::compliant);
  if (compliant > 0 && compliant == std::ssize(options.schemes)) return find_compliant_reference(runner, result);
  result.reference_note = refusal(SchemeKind::event, system);
  if (result.reference_note.empty()) {
    std::string reason;
    const bool exact = TaylorFlow::takes(system, reason);
    result.reference_scheme = SchemeKind::event;
    result.reference_tolerance = exact ? 0 : kReferenceTolerance;
    result.reference = runner.reference_by_event(exact);
    if (result.reference.status == Status::success) return true;
    result.status = result.reference.status;
    result.message = fmt::format("the reference run (event) failed: {}", result.reference.message);
    if (result.status == Status::interrupted) return false;
    result.reference_note = fmt::format("event ended without success: {}", result.reference.message);
  }
  if (!refusal(SchemeKind::moreau, system).empty()) return false;
  result.status = Status::success;
  result.message.clear();
  result.reference_scheme = SchemeKind::moreau;
  result.reference_tolerance = 0;
  result.reference_step = *std::min_element(options.steps.begin(), options.steps.end()) / options.reference_refinement;
  result.reference = runner.reference_by_moreau(result.reference_step);
  if (result.reference.status == Status::success) return true;
  result.status = result.reference.status;
  result.message = fmt::format("the reference run (moreau, step {:g} s) failed: {}", result.reference_step,
                               result.reference.message);
  return false;
}

}  // namespace

std::vector<SchemeKind> comparable_schemes(const System& system) {
  std::vector<SchemeKind> schemes;
  for (const SchemeKind scheme : {SchemeKind::splitting, SchemeKind::moreau, SchemeKind::event})
    if (refusal(scheme, system).empty()) schemes.push_back(scheme);
  return schemes;
}

Comparison compare_schemes(const System& system, const State& initial, const SimulationOptions& base,
                           const ComparisonOptions& options, const std::function<bool(double)>& keep_going) {
  options.validate();
  for (SchemeKind scheme : options.schemes) require_supported(scheme, system);
  Runner runner(system, initial, base, options, keep_going);
  Comparison result;
  if (!find_reference(system, options, runner, result)) return result;
  if (result.reference_scheme != SchemeKind::compliant &&
      std::find(options.schemes.begin(), options.schemes.end(), SchemeKind::compliant) != options.schemes.end())
    result.reference_note += fmt::format(
        "{}compliant is another model, whose contacts give way: its difference does not fall with its "
        "tolerance; with --schemes compliant it is compared with itself",
        result.reference_note.empty() ? "" : "; ");
  const auto [position_floor, velocity_floor] = error_floors(result);
  for (SchemeKind scheme : options.schemes) {
    const bool own = chooses_own_steps(scheme);
    const std::vector<double>& sizes = own ? options.tolerances : options.steps;
    std::vector<double> position, velocity;
    bool one_sample = false;
    for (double size : sizes) {
      ComparedRun run;
      run.scheme = scheme;
      (own ? run.tolerance : run.step) = size;
      run.simulation = own ? runner.own_steps(scheme, size, FlowKind::integrator, run.wall_seconds)
                           : runner.fixed_step(scheme, size, run.wall_seconds);
      const bool complete = run.simulation.trajectory.rows() == result.reference.trajectory.rows();
      measure_errors(result.reference.trajectory, run);
      position.push_back(complete ? run.position_error : std::nan(""));
      velocity.push_back(complete ? run.velocity_error : std::nan(""));
      one_sample |= complete && run.velocity_error > velocity_floor && run.velocity_peak > kOneSample;
      note_status(run, result);
      result.runs.push_back(std::move(run));
      if (result.status == Status::interrupted) return result;
    }
    const OrderFit p = judged_order(sizes, position, position_floor);
    OrderFit v = judged_order(sizes, velocity, velocity_floor);
    if (one_sample && std::isfinite(v.order)) v = {std::nan(""), "one sample near an event dominates"};
    result.orders.push_back({scheme, own, p.order, v.order, p.reason, v.reason});
  }
  return result;
}

}  // namespace stickslip
