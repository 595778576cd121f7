// SPDX-License-Identifier: Apache-2.0
#include "papers/periodic/experiments.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "stickslip/periodic/weighted_residual.hpp"

namespace stickslip {

namespace embedded {
extern const std::string_view model_forced_oscillator, model_toy_on_belt, model_impact_oscillator,
    model_conservative_bounce;
}

namespace paper5 {

namespace {

PeriodicSolution solve(std::string_view text, const char* name, const std::vector<std::string>& settings,
                       StopRequest stop) {
  const ModelFile model = parse_model(text, name, settings);
  State initial = model.initial;
  initial.t = model.run.start_time;
  const double length = model.has_run ? model.run.end_time - model.run.start_time : 0;
  const PeriodicProblem problem{*model.system, initial, model.periodic->options, length, model.run.event, nullptr, {}};
  PeriodicHooks hooks;
  hooks.stop = stop;
  return solve_periodic(problem, hooks);
}

double fitted_order(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::size_t k = 0; k < x.size(); ++k) {
    const double a = std::log(x[k]), b = std::log(y[k]);
    sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  const double n = static_cast<double>(x.size());
  return -(n * sxy - sx * sy) / (n * sxx - sx * sx);
}

}  // namespace

PeriodicSolution solve_oscillator(const Oscillator& o, std::vector<std::string> settings, StopRequest stop) {
  settings.push_back(fmt::format("parameters.omega={:.17g}", o.b));
  settings.push_back(fmt::format("parameters.c={:.17g}", o.f));
  return solve(embedded::model_forced_oscillator, "forced-oscillator.toml", settings, stop);
}

PeriodicSolution solve_toy(std::vector<std::string> settings, StopRequest stop) {
  return solve(embedded::model_toy_on_belt, "toy-on-belt.toml", settings, stop);
}

PeriodicSolution solve_impacts(double omega, StopRequest stop) {
  return solve(embedded::model_impact_oscillator, "impact-oscillator.toml",
               {fmt::format("parameters.omega={:.17g}", omega)}, stop);
}

PeriodicSolution solve_bounce(std::vector<std::string> settings, StopRequest stop) {
  return solve(embedded::model_conservative_bounce, "bounce.toml", settings, stop);
}

double certificate(const PeriodicSolution& solution, std::string_view name) {
  for (const Certificate& c : solution.certificates)
    if (c.name == name) return c.value;
  return NAN;
}

NewtonCount count_newton() {
  NewtonCount count;
  for (const auto& [b, f] : {std::pair{0.45, 0.4}, {0.8, 0.4}, {2.0, 0.4}, {0.4, 0.6}})
    for (const double rho : {0.1, 1.0, 10.0, 100.0}) {
      const std::vector<std::string> settings{fmt::format("parameters.omega={}", b), fmt::format("parameters.c={}", f),
                                              "periodic.harmonics=33", fmt::format("periodic.rho={}", rho)};
      const ModelFile model = parse_model(embedded::model_forced_oscillator, "forced-oscillator.toml", settings);
      WeightedResidual problem(*model.system, model.periodic->options, 0, model.initial.q);
      ++count.cases;
      const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {});
      if (solution.status == Status::success) ++count.homotopy;
      count.most_iterations = std::max(count.most_iterations, solution.iterations);
      Vector X = problem.linear_start(), F, step;
      bool solved = false;
      for (int k = 0; k < 60 && !solved && problem.linearize(X, 0, F); ++k) {
        solved = F.lpNorm<Eigen::Infinity>() <= 1e-9;
        if (!solved && problem.newton_step(F, step)) X += step;
      }
      if (solved) ++count.plain;
    }
  return count;
}

BasisErrors basis_errors(const Oscillator& oscillator, const std::string& method, const std::vector<int>& sizes,
                         StopRequest stop) {
  BasisErrors errors{method, {}, {}, 0};
  for (const int size : sizes) {
    const PeriodicSolution solution =
        solve_oscillator(oscillator,
                         {"periodic.polish=false", "periodic.method=" + method,
                          fmt::format("periodic.{}={}", method == "fourier" ? "harmonics" : "steps", size)},
                         stop);
    if (solution.orbit.t.empty() || solution.amplitude().size() == 0) continue;
    errors.unknowns.push_back(static_cast<double>(solution.unknowns));
    errors.error.push_back(std::abs(solution.amplitude()[0] / oscillator.X - 1));
  }
  errors.order = fitted_order(errors.unknowns, errors.error);
  return errors;
}

bool run_all(Results& r, const ReproductionProgress& progress) {
  const StopRequest stop = progress.stop;
  if (!progress(0)) return false;
  r.wrong_min = solve_oscillator(kSlides, {"periodic.harmonics=9", "periodic.law=min"}, stop);
  r.wrong_max = solve_oscillator(kSlides, {"periodic.harmonics=9", "periodic.law=max"}, stop);
  r.right = solve_oscillator(kSlides, {"periodic.harmonics=9"}, stop);
  if (!progress(0.1)) return false;
  const std::vector<std::string> slip{"contact.belt.mu_static=0.3", "initial.position=[0.4, 0]", "periodic.phase=v_x"};
  const auto with = [](std::vector<std::string> settings, std::initializer_list<std::string> more) {
    settings.insert(settings.end(), more);
    return settings;
  };
  r.family = solve_toy(with(slip, {"periodic.method=event"}), stop);
  for (const double T : {1.3848432581, 1.46})
    r.members.push_back(
        solve_toy(with(slip, {fmt::format("periodic.condition=period - {}", T), "periodic.method=event"}), stop));
  if (!progress(0.3)) return false;
  r.grazing = solve_toy(
      {"contact.belt.mu_static=0.3", "initial.position=[0, 0]", "periodic.method=event", "periodic.period=1.46",
       "run.end_time=60", "periodic.condition=x - 0.7401449197", "periodic.phase=v_x"},
      stop);
  if (!progress(0.4)) return false;
  for (const int H : {1, 2, 3, 5, 9}) {
    const PeriodicSolution solution =
        solve_toy(with(slip, {"periodic.condition=period - 1.3848432581", "periodic.polish=false",
                              fmt::format("periodic.harmonics={}", H)}),
                  stop);
    r.harmonics.push_back(H);
    r.spectral.push_back(solution.orbit.minimum.size() == 0 ? NAN
                                                            : std::abs(solution.orbit.minimum[0] - 0.4285192018) +
                                                                  std::abs(solution.orbit.maximum[0] - 0.6476944244));
  }
  r.cycle = solve_toy({}, stop);
  if (!progress(0.6)) return false;
  for (const int H : {1, 3, 5, 9, 17}) {
    const PeriodicSolution solution =
        solve_bounce({fmt::format("periodic.harmonics={}", H), "periodic.polish=false"}, stop);
    r.bounce_harmonics.push_back(H);
    const bool found = solution.status == Status::success || solution.status == Status::audit_failed;
    r.bounce_error.push_back(found && solution.orbit.maximum.size() ? solution.orbit.maximum[0] / 0.08508157 - 1 : NAN);
  }
  r.bounce = solve_bounce({"periodic.method=event"}, stop);
  r.impacts = solve_impacts(2.6, stop);
  r.impacts_unstable = solve_impacts(2.8, stop);
  if (!progress(0.7)) return false;
  r.newton = count_newton();
  if (!progress(0.8)) return false;
  for (const auto& [oscillator, list] : {std::pair(kSticks, &r.sticks), std::pair(kSlides, &r.slides)}) {
    list->push_back(basis_errors(oscillator, "fourier", {9, 17, 33, 65}, stop));
    list->push_back(basis_errors(oscillator, "spline", {17, 33, 65}, stop));
    list->push_back(basis_errors(oscillator, "stepping", {32, 64, 128, 256, 512}, stop));
  }
  try {
    solve_oscillator(kSlides,
                     {"periodic.method=spline", "periodic.spline_displacement=1", "periodic.spline_reaction=0"}, stop);
  } catch (const InputError& error) {
    r.refused_pair = error.what();
  }
  r.polished_sticks = solve_oscillator(kSticks, {}, stop);
  r.polished_slides = solve_oscillator(kSlides, {}, stop);
  r.degenerate = solve_oscillator({0.5, 0.1, 4.0 / 3}, {}, stop);
  return progress(1);
}

}  // namespace paper5
}  // namespace stickslip
