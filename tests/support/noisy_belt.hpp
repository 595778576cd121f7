// SPDX-License-Identifier: Apache-2.0
// A mass on a spring on a moving belt whose friction is looked for, and measurements of it with noise:
//
//   m x'' + k x = r - viscous (x' - V),   |r| <= static_limit in stick, = limit in slip
//
// The noise is normal, by Box and Muller from the 64-bit Mersenne twister: the same numbers on every machine.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "stickslip/boundary/fit.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/case.hpp"

namespace stickslip {

class NormalNoise {
 public:
  explicit NormalNoise(unsigned seed) : random_(seed) {}
  double operator()() {
    const double u = uniform(), w = uniform();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * w);
  }

 private:
  /// In (0, 1].
  double uniform() { return (static_cast<double>(random_() >> 11) + 1) * 0x1p-53; }
  std::mt19937_64 random_;
};

struct NoisyBelt {
  double limit = 1.0, static_limit = 1.5, viscous = 0.1;  ///< true values
  double end_time = 40, sample = 0.1;                     ///< of the data [s]
  double position_noise = 0.02;                           ///< standard deviation [m]
  double velocity_noise = 0;                              ///< [m/s]; 0: not measured
  double start_factor = 1.3;                              ///< the start of the fit over the true values

  Case model() const {
    return Case({{"limit", limit}, {"static_limit", static_limit}, {"viscous", viscous}}, [*this](const Parameters& p) {
      MatrixModel belt;
      belt.coordinates = {"x"};
      belt.mass = dense({{1}});
      belt.stiffness = dense({{1}});
      belt.friction = {{.name = "belt",
                        .directions = {on(0)},
                        .limit = p["limit"],
                        .static_limit = StateFunction(p["static_limit"]),
                        .viscous = p["viscous"],
                        .surface_velocity = {0.2}}};
      return CaseParts{.system = make_system(std::move(belt)),
                       .initial = {.q = Vector{{0.0}}, .v = Vector{{0.0}}},
                       .options = {.scheme = SchemeKind::event, .end_time = end_time}};
    });
  }

  FitProblem problem(unsigned seed) const {
    FitProblem fit{model(), {}, {}};
    for (const auto& [name, value] : fit.model.parameters())
      fit.unknowns.push_back({.name = name, .key = name, .start = start_factor * value, .min = 0, .max = 10});
    SimulationOptions options = fit.model.options();
    for (int k = 1; k * sample <= end_time * (1 + 1e-12); ++k) fit.data.times.push_back(k * sample);
    options.output_times = fit.data.times;
    const Simulation truth = simulate(fit.model.system(), fit.model.initial(), options);
    const ColumnLayout layout(fit.model.system(), fit.model.parameters(), fit.unknowns);
    NormalNoise noise(seed);
    fit.data.columns.push_back({.name = "x", .model = Expression::parse("x", layout.symbols())});
    for (Index k = 0; k < truth.trajectory.rows(); ++k)
      fit.data.columns[0].values.push_back(truth.trajectory.q(k, 0) + position_noise * noise());
    if (velocity_noise > 0) {
      fit.data.columns.push_back({.name = "v_x", .model = Expression::parse("v_x", layout.symbols())});
      for (Index k = 0; k < truth.trajectory.rows(); ++k)
        fit.data.columns[1].values.push_back(truth.trajectory.v(k, 0) + velocity_noise * noise());
    }
    return fit;
  }
};

/// How often each unknown lies within so many standard errors of its true value.
struct Coverage {
  int repetitions = 0, converged = 0;
  std::vector<int> within_two, within_three;  ///< per unknown
};

inline Coverage coverage(const NoisyBelt& belt, int repetitions, unsigned first_seed) {
  Coverage result{repetitions, 0, std::vector<int>(3), std::vector<int>(3)};
  for (int k = 0; k < repetitions; ++k) {
    const FitProblem problem = belt.problem(first_seed + static_cast<unsigned>(k));
    const FitSolution solution = fit(problem);
    result.converged += solution.status == Status::success;
    for (Index j = 0; j < 3; ++j) {
      const double truth = problem.model.get(problem.unknowns[static_cast<std::size_t>(j)].key);
      const double off = std::abs(solution.unknowns[j] - truth) / solution.standard_errors[j];
      result.within_two[static_cast<std::size_t>(j)] += off <= 2;
      result.within_three[static_cast<std::size_t>(j)] += off <= 3;
    }
  }
  return result;
}

}  // namespace stickslip
