// SPDX-License-Identifier: Apache-2.0
// Den Hartog's oscillator, m x'' + k x + F sgn x' = P cos ωt: closed forms against weighted residuals and event orbits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/periodic/periodic_equations.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "stickslip/periodic/solve_periodic.hpp"
#include "stickslip/periodic/weighted_residual.hpp"
#include "tests/support/den_hartog.hpp"
#include "tests/support/one_mass.hpp"

namespace stickslip::periodic_friction_test {
namespace {

std::unique_ptr<System> oscillator(double b, double f) {
  OneMass m;
  m.stiffness = 1;
  m.limit = f;
  m.force = fmt::format("cos({:.17g}*t)", b);
  return make_system(m);
}

PeriodicOptions forced(double b, int harmonics) {
  PeriodicOptions options;
  options.period = 2 * M_PI / b;
  options.harmonics = harmonics;
  return options;
}

double amplitude(const Orbit& orbit) { return 0.5 * (orbit.maximum[0] - orbit.minimum[0]); }

TEST(PeriodicFriction, NewtonFromTheLinearResponseConvergesForEveryScaling) {
  for (const auto& [b, f] : {std::pair{0.45, 0.4}, {0.8, 0.4}, {2.0, 0.4}, {0.4, 0.6}, {0.3, 0.8}, {0.999, 0.9}})
    for (const double rho : {0.1, 1.0, 10.0, 100.0}) {
      const auto system = oscillator(b, f);
      PeriodicOptions options = forced(b, 33);
      options.rho = rho;
      WeightedResidual problem(*system, options, 0, Vector::Zero(1));
      const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {});
      EXPECT_EQ(solution.status, Status::success) << b << " " << f << " " << rho;
      EXPECT_LE(solution.residual, 1e-9);
      EXPECT_LT(problem.orbit(solution.X).friction_work[0], 0);
    }
}

/// Relative error of the amplitude by harmonics alone; the law is sharp where rho is large, and samples tell its
/// switching.
double fourier_error(double b, double f, int harmonics) {
  const std::optional<DenHartog> exact = den_hartog(b, f);
  if (!exact) return 0;
  const auto system = oscillator(b, f);
  PeriodicOptions options = forced(b, harmonics);
  options.rho = 100;
  options.samples = 16 * (harmonics + 1);
  WeightedResidual problem(*system, options, 0, Vector::Zero(1));
  const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {});
  if (solution.status != Status::success) return HUGE_VAL;
  return std::abs(amplitude(problem.orbit(solution.X)) / exact->X - 1);
}

TEST(PeriodicFriction, HarmonicsAloneComeToAThousandth) {
  for (int k = 0; k < 30; ++k) {
    const double b = 0.2 + 2.8 * k / 29;
    EXPECT_LT(fourier_error(b, 0.2, 127), 1e-3) << b;
    if (k % 6 == 1) {
      EXPECT_LT(fourier_error(b, 0.1, 127), 1e-3) << b;
    }
  }
  EXPECT_LT(fourier_error(0.45, 0.4, 511), 1e-3);
}

/// Harmonics overshoot the jumps of the reaction by the same part however many there are; in the mean square they
/// converge.
TEST(PeriodicFriction, CertificatesHoldWithFewAndManyHarmonics) {
  std::vector<double> cone;
  for (const int harmonics : {15, 255}) {
    const auto system = oscillator(0.8, 0.4);
    PeriodicOptions options = forced(0.8, harmonics);
    options.rho = 100;
    WeightedResidual problem(*system, options, 0, Vector::Zero(1));
    const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {});
    ASSERT_EQ(solution.status, Status::success);
    std::vector<Certificate> list;
    CertificateLimits limits;
    limits.resolution = harmonics;
    add_law_certificates(*system, problem.orbit(solution.X), limits, list);
    for (const Certificate& certificate : list) {
      EXPECT_TRUE(certificate.ok) << certificate.name << " " << certificate.value << " " << harmonics;
      if (certificate.name == "cone") cone.push_back(certificate.value);
    }
  }
  ASSERT_EQ(cone.size(), 2u);
  EXPECT_LT(cone[1], 0.5 * cone[0]);
}

TEST(PeriodicFriction, PolishedOrbitIsDenHartogsToTenDigits) {
  int compared = 0;
  PeriodicHooks quick;
  quick.certify = false;
  for (const double f : {0.1, 0.2, 0.4, 0.6, 0.75})
    for (int k = 0; k < 30; ++k) {
      const double b = 0.2 + 2.8 * k / 29;
      const std::optional<DenHartog> exact = den_hartog(b, f);
      if (!exact) continue;  // more than two stops per period: no closed form
      ++compared;
      const auto system = oscillator(b, f);
      const PeriodicSolution found =
          solve_periodic({*system, {0, Vector::Zero(1), Vector::Zero(1), {}, {}}, forced(b, 15)}, quick);
      ASSERT_EQ(found.status, Status::success) << b << " " << f << " " << found.message;
      EXPECT_TRUE(found.polished) << b << " " << f;
      EXPECT_NEAR(amplitude(found.orbit), exact->X, 1e-10 * std::max(1.0, exact->X)) << b << " " << f;
      EXPECT_NEAR(found.orbit.stick_fraction[0], exact->stick_fraction, 1e-9) << b << " " << f;
      EXPECT_LT(found.orbit.friction_work[0], 0);
      EXPECT_LT(std::abs(found.multipliers[0]), 1);
    }
  EXPECT_GE(compared, 145);  // of 150
}

TEST(PeriodicFriction, PeriodicSteppingIsOfSecondOrderWithSticking) {
  const double b = 0.45, f = 0.4, exact = den_hartog(b, f)->X;
  const auto system = oscillator(b, f);
  PeriodicOptions options = forced(b, 15);
  options.method = PeriodicMethod::stepping;
  std::vector<double> errors;
  for (const int steps : {64, 1024}) {
    options.steps = steps;
    const auto problem = make_equations(*system, options, 0, Vector::Zero(1));
    const ResidualSolution solution = solve_residual(*problem, problem->linear_start(), {});
    ASSERT_EQ(solution.status, Status::success) << steps;
    const Orbit orbit = problem->orbit(solution.X);
    EXPECT_LT(orbit.friction_work[0], 0);
    errors.push_back(std::abs(amplitude(orbit) - exact));
  }
  EXPECT_LT(errors[1], 5e-5);
  EXPECT_GT(std::log(errors[0] / errors[1]) / std::log(16.0), 1.5);
}

}  // namespace
}  // namespace stickslip::periodic_friction_test
