// SPDX-License-Identifier: Apache-2.0
// Cost of periodic motions: one JSON object on standard output.
//   evaluation spring|beam REPEATS         residual with Jacobian of the two comparison problems, best CPU time
//   disc HARMONICS SECTORS CHECK FREQUENCY...   a bladed disc through its resonance; CHECK = 1: against time stepping
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <ctime>

#include "benchmarks/periodic/bladed_disc.hpp"
#include "stickslip/periodic/certificates.hpp"
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

int evaluation(const std::string& name, int repeats) {
  const bool spring = name == "spring";
  const double omega = spring ? 0.7 : 195;
  const auto system = spring ? two_masses_with_stop(omega) : beam_with_friction(omega, 6e-7);
  const PeriodicOptions options = spring ? options_of(omega, 21, 1024) : options_of(omega, 7, 128);
  WeightedResidual problem(*system, options, 0, Vector::Zero(system->info().nv()));
  const Vector X = 3 * problem.linear_start();
  Vector F;
  DenseMatrix J;
  double best = HUGE_VAL;
  for (int k = 0; k < repeats; ++k) {
    const double begin = cpu_seconds();
    problem.evaluate(X, 0, F, &J);
    best = std::min(best, cpu_seconds() - begin);
  }
  const double begin = cpu_seconds();
  const auto changed = spring ? two_masses_with_stop(1.001 * omega) : beam_with_friction(1.001 * omega, 6e-7);
  WeightedResidual other(*changed, options, 0, Vector::Zero(system->info().nv()));
  other.evaluate(X, 0, F, &J);
  fmt::print("{{\"problem\": \"{}\", \"unknowns\": {}, \"seconds\": {:.6e}, \"new_frequency_seconds\": {:.6e}}}\n", name,
             problem.unknowns(), best, cpu_seconds() - begin);
  return 0;
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
    double distance = NAN;
    if (check) {
      std::vector<Certificate> list;
      add_stepping_certificate(*system, orbit, 0, CertificateLimits{static_cast<double>(harmonics)}, nullptr, list);
      if (!list.empty()) distance = list.front().value;
    }
    points.push_back(fmt::format(
        "{{\"omega\": {:.6g}, \"status\": \"{}\", \"iterations\": {}, \"tip\": {:.9g}, \"stick\": {:.4g}, \"seconds\": {:.4g}, \"unknowns\": {}, \"stepping_distance\": {}}}",
        omega, to_string(solution.status), solution.iterations, orbit.maximum[model.tip(0)], orbit.stick_fraction.mean(), seconds,
        problem.unknowns(), std::isfinite(distance) ? fmt::format("{:.3g}", distance) : "null"));
  }
  fmt::print("{{\"coordinates\": {}, \"contacts\": {}, \"harmonics\": {}, \"seconds\": {:.4g}, \"megabytes\": {:.4g}, \"points\": [{}]}}\n",
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
