// SPDX-License-Identifier: Apache-2.0
// Cost of periodic motions: one JSON object on standard output.
//   evaluation spring|beam REPEATS         residual with Jacobian of the two comparison problems, best CPU time
//   disc HARMONICS SECTORS CHECK FREQUENCY...   a bladed disc through its resonance; CHECK = 1: also reduced to
//   platforms,
//                                          tips and modes, and that against time stepping
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>

#include "benchmarks/periodic/bladed_disc.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/periodic/fourier_basis.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "stickslip/periodic/weighted_residual.hpp"
#include "tests/support/harmonic_balance_peer.hpp"

namespace stickslip {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

PeriodicOptions options_of(double omega, int harmonics, int samples) {
  PeriodicOptions options;
  options.period = 2 * M_PI / omega;
  options.harmonics = harmonics;
  options.samples = samples;
  return options;
}

/// Coefficients of all coordinates, harmonic by harmonic (mean, cosines, sines): the order of the peers.
std::string coefficients(const Orbit& orbit, int harmonics) {
  const auto samples = static_cast<int>(orbit.q.size());
  const FourierBasis basis(harmonics, samples);
  const Index n = orbit.q[0].size();
  DenseMatrix all(n, 2 * harmonics + 1);
  Vector q(samples), row(2 * harmonics + 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < samples; ++j) q[j] = orbit.q[static_cast<std::size_t>(j)][i];
    basis.test(BasisField::displacement, q, row);
    all.row(i) = row.transpose();
  }
  std::vector<std::string> numbers;
  for (Index k = 0; k < all.cols(); ++k)
    for (Index i = 0; i < n; ++i) numbers.push_back(fmt::format("{:.17g}", all(i, k)));
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

int evaluation(const std::string& name, int repeats) {
  const bool spring = name == "spring";
  const double omega = spring ? 0.7 : 195;
  const auto system = spring ? two_masses_with_stop(omega) : beam_with_friction(omega, 6e-7);
  const PeriodicOptions options = spring ? options_of(omega, 21, 1024) : options_of(omega, 7, 128);
  const Vector origin = Vector::Zero(system->info().nv());
  WeightedResidual problem(*system, options, 0, origin);
  Vector start = problem.linear_start();
  for (double w = 0.6; spring && w < omega - 1e-9;
       w += 0.005) {  // one solution alone at 0.6: from there up the upper part
    const auto nearby = two_masses_with_stop(w);
    WeightedResidual before(*nearby, options_of(w, 21, 1024), 0, origin);
    start = solve_residual(before, w == 0.6 ? before.linear_start() : start, {.homotopy = w == 0.6}).X;
  }
  const ResidualSolution solution = solve_residual(problem, start, {.tolerance = 1e-12, .homotopy = false});
  Vector F;
  DenseMatrix J;
  double best = HUGE_VAL;
  for (int k = 0; k < repeats; ++k) {
    const double begin = cpu_seconds();
    problem.evaluate(solution.X, 0, F, &J);
    best = std::min(best, cpu_seconds() - begin);
  }
  double changed_best = HUGE_VAL;  // all but the basis made anew, as a branch in the frequency does
  for (int k = 0; k < std::max(1, repeats / 10); ++k) {
    const double begin = cpu_seconds();
    const auto changed = spring ? two_masses_with_stop(1.001 * omega) : beam_with_friction(1.001 * omega, 6e-7);
    WeightedResidual other(*changed, options, 0, origin, &problem);
    other.evaluate(solution.X, 0, F, &J);
    changed_best = std::min(changed_best, cpu_seconds() - begin);
  }
  fmt::print(
      "{{\"problem\": \"{}\", \"omega\": {}, \"unknowns\": {}, \"status\": \"{}\", \"seconds\": {:.6e}, "
      "\"new_frequency_seconds\": {:.6e}, "
      "\"X\": {}}}\n",
      name, omega, problem.unknowns(), to_string(solution.status), best, changed_best,
      coefficients(problem.orbit(solution.X), options.harmonics));
  return 0;
}

struct Check {
  double reduced_tip = 0, stepped_tip = 0, seconds = 0;
  Index coordinates = 0;
  std::string status;
};

/// The model reduced to platforms, tips and modes: amplitude of a tip by harmonics, and in the last of many periods of
/// the fixed-step scheme that begins with them, in which friction alone would move it away by far more than what is
/// looked for.
Check against_stepping(const BladedDisc& model, double omega) {
  constexpr Index kModes = 150;
  constexpr int kHarmonics = 15, kPeriods = 10, kSteps = 400, kRowsPerPeriod = 100;
  const double begin = cpu_seconds();
  const auto system = model.reduced_system(omega, kModes);
  WeightedResidual problem(*system, options_of(omega, kHarmonics, 0), 0, Vector::Zero(system->info().nv()));
  const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {.tolerance = 1e-8});
  const Orbit orbit = problem.orbit(solution.X);
  const Index tip = model.reduced_tip(0);
  SimulationOptions options;
  options.scheme = SchemeKind::moreau;
  options.end_time = kPeriods * orbit.period;
  options.steps = kPeriods * kSteps;
  options.output_step = orbit.period / kRowsPerPeriod;
  const Simulation run = simulate(*system, {0, orbit.q[0], orbit.v[0], {}, {}}, options, {});
  const Index rows = run.trajectory.rows();
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (Index k = std::max<Index>(0, rows - kRowsPerPeriod - 1); k < rows; ++k) {
    low = std::min(low, run.trajectory.q(k, tip));
    high = std::max(high, run.trajectory.q(k, tip));
  }
  return {0.5 * (orbit.maximum[tip] - orbit.minimum[tip]), 0.5 * (high - low), cpu_seconds() - begin,
          system->info().nv(), fmt::format("{}, {}", to_string(solution.status), to_string(run.status))};
}

int disc(int harmonics, int sectors, bool check, const std::vector<double>& frequencies) {
  BladedDisc model;
  model.sectors = sectors;
  std::vector<std::string> points;
  Vector X;
  const double start = cpu_seconds();
  for (const double omega : frequencies) {
    const double begin = cpu_seconds();
    const auto system = model.system(omega);
    WeightedResidual problem(*system, options_of(omega, harmonics, 0), 0, Vector::Zero(model.size()));
    const ResidualSolution solution =
        solve_residual(problem, X.size() ? X : problem.linear_start(), {.tolerance = 1e-8, .homotopy = X.size() == 0});
    const double seconds = cpu_seconds() - begin;
    if (solution.status == Status::success) X = solution.X;
    const Orbit orbit = problem.orbit(solution.X);
    Check compared;
    if (check) compared = against_stepping(model, omega);
    points.push_back(
        fmt::format("{{\"omega\": {:.6g}, \"status\": \"{}\", \"iterations\": {}, \"tip\": {:.9g}, \"stick\": {:.4g}, "
                    "\"seconds\": {:.4g}, \"unknowns\": {}, \"reduced_tip\": {:.9g}, \"stepped_tip\": {:.9g}, "
                    "\"reduced_coordinates\": {}, \"check_seconds\": {:.4g}, \"check_status\": \"{}\"}}",
                    omega, to_string(solution.status), solution.iterations, orbit.maximum[model.tip(0)],
                    orbit.stick_fraction.mean(), seconds, problem.unknowns(), compared.reduced_tip,
                    compared.stepped_tip, compared.coordinates, compared.seconds, compared.status));
  }
  fmt::print(
      "{{\"coordinates\": {}, \"contacts\": {}, \"harmonics\": {}, \"seconds\": {:.4g}, \"megabytes\": {:.4g}, "
      "\"points\": [{}]}}\n",
      model.size(), sectors, harmonics, cpu_seconds() - start, megabytes(), fmt::join(points, ", "));
  return 0;
}

}  // namespace
}  // namespace stickslip

int main(int argc, char** argv) {
  if (argc == 4 && !std::strcmp(argv[1], "evaluation")) return stickslip::evaluation(argv[2], std::stoi(argv[3]));
  if (argc > 5 && !std::strcmp(argv[1], "disc")) {
    std::vector<double> frequencies;
    for (int k = 5; k < argc; ++k) frequencies.push_back(std::stod(argv[k]));
    return stickslip::disc(std::stoi(argv[2]), std::stoi(argv[3]), std::stoi(argv[4]) != 0, frequencies);
  }
  fmt::print(stderr, "evaluation spring|beam REPEATS, or disc HARMONICS SECTORS CHECK FREQUENCY...\n");
  return 2;
}
