// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/weighted_residual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/model/equation_model.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "tests/support/one_mass.hpp"

namespace stickslip::weighted_residual_test {
namespace {

StateFunction parse(const std::string& text, const std::vector<std::string>& coordinates) {
  return StateFunction(Expression::parse(text, state_symbols(coordinates, {})));
}

/// Three masses in a chain with friction of every kind; the third one has no law.
std::unique_ptr<System> chain(bool nonlinear) {
  MatrixModel model;
  model.coordinates = {"x", "y", "z"};
  model.mass = dense({{1, 0.1, 0}, {0.1, 2, 0}, {0, 0, 1.5}});
  model.damping = dense({{0.2, 0, 0}, {0, 0.1, -0.05}, {0, -0.05, 0.3}});
  model.stiffness = dense({{3, -1, 0}, {-1, 4, -2}, {0, -2, 5}});
  model.force.components = {parse(nonlinear ? "cos(t) - 0.3*x^3 - 0.1*v_x*x" : "cos(t)", model.coordinates),
                            parse("0", model.coordinates), parse("0.5*sin(2*t)", model.coordinates)};
  FrictionElement first;
  first.name = "first";
  first.directions = {on(0)};
  first.limit = parse("0.3 + 0.05*x^2 + 0.02*sin(t)", model.coordinates);
  first.weakening = {WeakeningShape::algebraic, 0.3, 0.2};
  first.viscous = 0.1;
  first.surface_velocity = {parse("0.1*cos(t)", model.coordinates)};
  FrictionElement planar;
  planar.name = "planar";
  planar.directions = {between(1, 0), on(1)};
  planar.limit = 0.2;
  model.friction = {first, planar};
  return make_system(std::move(model));
}

std::unique_ptr<System> pendulum_on_belt() {
  EquationModel model;
  model.coordinates = {"x", "y"};
  model.mass = {{StateFunction(1.0), parse("0.2*cos(x)", model.coordinates)},
                {parse("0.2*cos(x)", model.coordinates), StateFunction(1.5)}};
  model.force = {parse("sin(t) - 2*sin(x) - 0.1*v_x", model.coordinates),
                 parse("-5 - 3*y - 0.2*v_y*x", model.coordinates)};
  ExpressionContact contact;
  contact.law.name = "floor";
  contact.law.tangents = 1;
  contact.law.mu = 0.3;
  contact.gap = parse("y + 0.1*x^2", model.coordinates);
  contact.slip = {parse("x + 0.05*x*y", model.coordinates)};
  contact.surface_velocity = {StateFunction(0.2)};
  model.contacts = {contact};
  return make_system(std::move(model));
}

/// Largest difference between the Jacobian and central differences, over the largest entry.
double jacobian_error(const System& system, PeriodicOptions options, double smoothing) {
  WeightedResidual problem(system, options, 0, Vector::Zero(system.info().nv()));
  std::mt19937 random(5);
  std::normal_distribution<double> normal(0, 0.4);
  Vector X(problem.unknowns());
  for (double& x : X) x = normal(random);
  if (options.autonomous) X[X.size() - 1] = 1.1;
  problem.set_phase_reference(X);
  Vector F, plus, minus;
  DenseMatrix J;
  EXPECT_TRUE(problem.evaluate(X, smoothing, F, &J));
  double error = 0;
  const double h = 1e-6;
  for (Index k = 0; k < X.size(); ++k) {
    Vector shifted = X;
    shifted[k] = X[k] + h;
    problem.evaluate(shifted, smoothing, plus, nullptr);
    shifted[k] = X[k] - h;
    problem.evaluate(shifted, smoothing, minus, nullptr);
    error = std::max(error, ((plus - minus) / (2 * h) - J.col(k)).cwiseAbs().maxCoeff());
  }
  return error / J.cwiseAbs().maxCoeff();
}

PeriodicOptions forced(int harmonics) {
  PeriodicOptions options;
  options.period = 2 * M_PI;
  options.harmonics = harmonics;
  return options;
}

TEST(WeightedResidual, JacobianOfALinearSystemWithFrictionIsExact) {
  EXPECT_LT(jacobian_error(*chain(false), forced(4), 0.1), 1e-7);
  EXPECT_LT(jacobian_error(*chain(false), forced(4), 0), 1e-5);  // a sample may lie within the difference of a kink
}

TEST(WeightedResidual, JacobianOfForcesOfTheStateIsExact) {
  EXPECT_LT(jacobian_error(*chain(true), forced(4), 0.1), 1e-7);
}

TEST(WeightedResidual, JacobianOfEquationsWithACurvedContactIsExact) {
  EXPECT_LT(jacobian_error(*pendulum_on_belt(), forced(3), 0.1), 1e-6);
}

TEST(WeightedResidual, JacobianWithSplinesIsExact) {
  PeriodicOptions options = forced(1);
  options.method = PeriodicMethod::spline;
  options.steps = 12;
  EXPECT_LT(jacobian_error(*chain(true), options, 0.1), 1e-7);
}

TEST(WeightedResidual, JacobianByTheUnknownPeriodIsExact) {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = dense({{1, 0}, {0, 2}});
  model.stiffness = dense({{3, -1}, {-1, 4}});
  model.force.components = {parse("-0.4*(x^2 - 1)*v_x", model.coordinates), parse("0", model.coordinates)};
  FrictionElement law;
  law.name = "belt";
  law.directions = {on(1)};
  law.limit = 0.3;
  law.surface_velocity = {StateFunction(0.2)};
  law.weakening = {WeakeningShape::tanh, 0.4, 0.5};
  model.friction = {law};
  PeriodicOptions options = forced(3);
  options.autonomous = true;
  EXPECT_LT(jacobian_error(*make_system(model), options, 0.1), 1e-6);
  options.phase = parse("v_x", model.coordinates);
  options.condition = parse("x - 0.3 + 0.1*t", model.coordinates);  // t stands for the period there
  EXPECT_LT(jacobian_error(*make_system(model), options, 0.1), 1e-6);
}

TEST(WeightedResidual, EliminatedCoordinatesObeyTheirEquations) {
  const auto system = chain(false);
  WeightedResidual problem(*system, forced(9), 0, Vector::Zero(3));
  // x and y carry laws: 19 numbers each, and three components of reactions.
  EXPECT_EQ(problem.unknowns(), (2 + 3) * 19);
  const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {});
  ASSERT_EQ(solution.status, Status::success) << solution.message;
  const Orbit orbit = problem.orbit(solution.X);
  // 1.5 z'' - 0.05 y' + 0.3 z' - 2 y + 5 z = ½ sin 2t, by differences of the rows.
  const std::size_t n = orbit.t.size();
  const double h = orbit.t[1] - orbit.t[0];
  for (std::size_t j = 0; j < n; ++j) {
    const auto v = [&](std::size_t k, Index i) { return orbit.v[k % n][i]; };
    const double a = (8 * (v(j + 1, 2) - v(j + n - 1, 2)) - (v(j + 2, 2) - v(j + n - 2, 2))) / (12 * h);
    const Vector &q = orbit.q[j], &w = orbit.v[j];
    EXPECT_NEAR(1.5 * a - 0.05 * w[1] + 0.3 * w[2] - 2 * q[1] + 5 * q[2], 0.5 * std::sin(2 * orbit.t[j]), 0.02);
  }
}

TEST(WeightedResidual, LinearSystemIsSolvedByItsStart) {
  OneMass m;
  m.stiffness = 4;
  m.damping = 0.3;
  m.force = "2*cos(1.5*t)";
  const auto system = make_system(m);
  PeriodicOptions options = forced(3);
  options.period = 2 * M_PI / 1.5;
  WeightedResidual problem(*system, options, 0, Vector::Zero(1));
  const Orbit orbit = problem.orbit(problem.linear_start());
  const double exact = 2 / std::hypot(4 - 2.25, 0.45);
  EXPECT_NEAR(orbit.maximum[0], exact, 2e-2 * exact);  // the largest of the samples
  double square = 0;
  for (const Vector& q : orbit.q) square += q[0] * q[0];
  EXPECT_NEAR(std::sqrt(2 * square / static_cast<double>(orbit.q.size())), exact, 1e-12);
}

TEST(WeightedResidual, RefusesWhatItCannotState) {
  OneMass m;
  m.limit = 1;
  m.static_limit = 1.2;
  m.force = "cos(t)";
  EXPECT_THROW(WeightedResidual(*make_system(m), forced(3), 0, Vector::Zero(1)), InputError);
}

TEST(PeriodicOptions, TooFewSamplesAreRefused) {
  PeriodicOptions options = forced(10);
  options.samples = 25;
  EXPECT_THROW(options.validate(), InputError);
  options.samples = 40;
  EXPECT_NO_THROW(options.validate());
  EXPECT_GE(forced(15).chosen_samples(), 8 * 15);
}

TEST(WeightedResidual, StepInTheReactionsAloneIsThatOfTheWholeJacobian) {
  MatrixModel model;
  model.coordinates = {"x", "y", "z"};
  model.mass = dense({{1, 0.1, 0}, {0.1, 2, 0}, {0, 0, 1.5}});
  model.damping = dense({{0.2, 0, 0}, {0, 0.1, -0.05}, {0, -0.05, 0.3}});
  model.stiffness = dense({{3, -1, 0}, {-1, 4, -2}, {0, -2, 5}});
  model.force.components = {parse("cos(t)", model.coordinates), parse("0", model.coordinates),
                            parse("0.5*sin(2*t)", model.coordinates)};
  FrictionElement first, second;
  first.name = "first", first.directions = {on(0)}, first.limit = 0.3;
  second.name = "second", second.directions = {between(1, 0)}, second.limit = 0.2, second.stiffness = 3;
  model.friction = {first, second};
  const auto system = make_system(std::move(model));
  PeriodicOptions options;
  options.period = 2 * M_PI;
  options.harmonics = 5;
  WeightedResidual problem(*system, options, 0, Vector::Zero(3));
  Vector X = problem.linear_start(), F, step;
  for (Index i = 0; i < X.size(); ++i) X[i] += 0.1 * std::sin(1.0 + static_cast<double>(i));
  ASSERT_TRUE(problem.linearize(X, 0.1, F));
  ASSERT_TRUE(problem.newton_step(F, step));
  DenseMatrix J;
  problem.copy_jacobian(J);
  EXPECT_LT((J * step + F).norm(), 1e-10 * F.norm());
}

}  // namespace
}  // namespace stickslip::weighted_residual_test
