// SPDX-License-Identifier: Apache-2.0
// Frequency and damping over the amplitude of one mass with friction against the closed form of its work per period,
// and the response curve made of them against the forced motion itself.
#include "stickslip/periodic/nonlinear_mode.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/periodic/residual_newton.hpp"

namespace stickslip::nonlinear_mode_test {
namespace {

/// x'' + b x' + k x = P cos(ωt) + r
std::unique_ptr<System> oscillator(double b, double k, double limit, double spring, double P, double omega) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = dense({{1}});
  model.stiffness = dense({{k}});
  model.damping = dense({{b}});
  const std::string text = fmt::format("{:.17g}*cos({:.17g}*t)", P, omega);
  model.force.components = {StateFunction(Expression::parse(text, state_symbols(model.coordinates, {})))};
  FrictionElement law;
  law.name = "pad";
  law.directions = {on(0)};
  law.limit = limit;
  law.stiffness = spring;
  model.friction = {law};
  return make_system(std::move(model));
}

PeriodicOptions with_harmonics(int harmonics, double omega) {
  PeriodicOptions options;
  options.harmonics = harmonics;
  options.period = 2 * M_PI / omega;
  return options;
}

TEST(NonlinearMode, WeakElasticFrictionHasTheStiffnessAndWorkOfItsHysteresis) {
  // Linear in the spring: k_eq = (k_t/π) (φ - ½ sin 2φ), cos φ = 1 - 2 δ/A, δ = c/k_t; work per period 4 c (A - δ).
  const double k_t = 1e-3, c = 1e-3, k = 1, delta = c / k_t;
  const auto system = oscillator(0, k, c, k_t, 0, 1);
  const NonlinearMode mode =
      solve_nonlinear_mode(*system, with_harmonics(9, 1), Vector::Zero(1), {.from = 20, .to = 0.5, .points = 12});
  ASSERT_EQ(mode.status, Status::success) << mode.message;
  ASSERT_EQ(mode.points.size(), 12u);
  for (const NonlinearModePoint& p : mode.points) {
    const double A = p.amplitude;
    const double phi = A > delta ? std::acos(1 - 2 * delta / A) : M_PI;
    const double k_eq = k_t / M_PI * (phi - 0.5 * std::sin(2 * phi));
    const double work = A > delta ? 4 * c * (A - delta) : 0.0;
    EXPECT_NEAR(p.omega, std::sqrt(k + k_eq), 2e-6) << A;  // k_t² in what the formula leaves out
    EXPECT_NEAR(p.damping, work / (2 * M_PI * p.omega * p.omega * A * A), 2e-6) << A;
  }
}

TEST(NonlinearMode, WeakRigidFrictionHasTheDampingOfItsWork) {
  const double c = 1e-3;
  const auto system = oscillator(0.002, 1, c, 0, 0, 1);
  const NonlinearMode mode =
      solve_nonlinear_mode(*system, with_harmonics(9, 1), Vector::Zero(1), {.from = 10, .to = 0.1, .points = 8});
  ASSERT_EQ(mode.status, Status::success) << mode.message;
  for (const NonlinearModePoint& p : mode.points) {
    EXPECT_NEAR(p.omega, 1, 2e-4) << p.amplitude;
    const double exact = 0.001 + 2 * c / (M_PI * p.amplitude);  // dampers, and 4 c A per period
    EXPECT_NEAR(p.damping, exact, 0.02 * exact) << p.amplitude;
  }
}

TEST(NonlinearMode, ResponseMadeOfTheModeIsTheForcedResponseNearResonance) {
  const double P = 0.05, k_t = 0.3, c = 0.2;
  const auto system = oscillator(0.02, 1, c, k_t, P, 1);
  const PeriodicOptions options = with_harmonics(9, 1);
  const NonlinearMode mode =
      solve_nonlinear_mode(*system, options, Vector::Zero(1), {.from = 5, .to = 0.05, .points = 60});
  ASSERT_EQ(mode.status, Status::success) << mode.message;
  const std::vector<SynthesisedPoint> curve = mode.response();
  ASSERT_GT(curve.size(), 20u);
  double largest = 0;
  for (const SynthesisedPoint& point : curve) {
    if (point.amplitude < 0.2) continue;  // far from resonance other terms than the mode's count
    const auto forced = oscillator(0.02, 1, c, k_t, P, point.omega);
    WeightedResidual problem(*forced, with_harmonics(9, point.omega), 0, Vector::Zero(1));
    const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {});
    ASSERT_EQ(solution.status, Status::success) << point.omega;
    const Vector x = solution.X.segment(1, 2) * problem.displacement_scale()[0];
    EXPECT_NEAR(x.norm(), point.amplitude, 0.02 * point.amplitude) << point.omega;
    largest = std::max(largest, point.amplitude);
  }
  EXPECT_GT(largest, 0.5);
}

}  // namespace
}  // namespace stickslip::nonlinear_mode_test
