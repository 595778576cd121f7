// SPDX-License-Identifier: Apache-2.0
// Friction with a spring in series (Jenkins' element): closed forms in time, and as a periodic motion.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "stickslip/periodic/solve_periodic.hpp"
#include "stickslip/periodic/weighted_residual.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/one_mass.hpp"

namespace stickslip::elastic_friction_test {
namespace {

struct Units {
  double length = 1, mass = 1, time = 1;
  double force() const { return mass * length / (time * time); }
  double stiffness() const { return mass / (time * time); }
};

/// m x'' + k x = f(t) + r, r of a slider of limit c behind a spring k_t.
std::unique_ptr<System> oscillator(double k, double k_t, double c, const std::string& force, const Units& u = {}) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = dense({{u.mass}});
  model.stiffness = dense({{k * u.stiffness()}});
  model.force.components = {StateFunction(Expression::parse(force, state_symbols(model.coordinates, {})))};
  FrictionElement law;
  law.name = "slider";
  law.directions = {on(0)};
  law.limit = c * u.force();
  law.stiffness = k_t * u.stiffness();
  model.friction = {law};
  return make_system(std::move(model));
}

struct Motion {
  double x, v, d;
};

/// x'' = r from x = 0, d = 0 with v0 > 0: spring, slip, then free vibration about the place where the slip ended.
Motion exact_motion(double k_t, double c, double v0, double t) {
  const double w = std::sqrt(k_t), D = c / k_t;
  if (v0 / w <= D) return {v0 / w * std::sin(w * t), v0 * std::cos(w * t), v0 / w * std::sin(w * t)};
  const double t1 = std::asin(w * D / v0) / w, v1 = std::sqrt(v0 * v0 - w * w * D * D);
  if (t < t1) return {v0 / w * std::sin(w * t), v0 * std::cos(w * t), v0 / w * std::sin(w * t)};
  const double t2 = t1 + v1 / c, s = t - t1;
  if (t < t2) return {D + v1 * s - 0.5 * c * s * s, v1 - c * s, D};
  const double end = D + 0.5 * v1 * v1 / c, angle = w * (t - t2);
  return {end - D + D * std::cos(angle), -w * D * std::sin(angle), D * std::cos(angle)};
}

Simulation run(const System& system, double v0, double end, long steps) {
  SimulationOptions options;
  options.scheme = SchemeKind::moreau;
  options.end_time = end;
  options.steps = steps;
  return simulate(system, {0, Vector::Zero(1), Vector{{v0}}, {}, {}}, options);
}

TEST(ElasticFriction, FreeMotionHasItsClosedFormWithOrderTwo) {
  const double k_t = 100, c = 1, v0 = 1, end = 1.5;
  const auto system = oscillator(0, k_t, c, "0");
  std::vector<double> errors;
  for (const long steps : {300L, 600L, 1200L, 2400L}) {
    const Simulation s = run(*system, v0, end, steps);
    ASSERT_EQ(s.status, Status::success) << s.message;
    const Motion exact = exact_motion(k_t, c, v0, end);
    errors.push_back(std::abs(s.final.q[0] - exact.x) + 0.1 * std::abs(s.final.v[0] - exact.v));
    EXPECT_NEAR(s.final.z[0], exact.d, 10 * errors.back() + 1e-12);
  }
  EXPECT_LT(errors.back(), 2e-6);
  EXPECT_GT(std::log2(errors[0] / errors[3]) / 3, 1.7);
}

TEST(ElasticFriction, EnergyOfTheSpringIsStoredAndTheRestIsLostByFriction) {
  const double k_t = 100, c = 1, v0 = 1;
  const auto system = oscillator(0, k_t, c, "0");
  const Simulation s = run(*system, v0, 1.5, 1500);
  ASSERT_EQ(s.status, Status::success) << s.message;
  // What is left vibrates with the energy ½ c²/k_t.
  const double left = 0.5 * c * c / k_t;
  const EnergyLedger& energy = s.trajectory.energy(s.trajectory.rows() - 1);
  EXPECT_NEAR(energy.kinetic + energy.potential, left, 1e-6);
  EXPECT_NEAR(energy.friction_loss, 0.5 * v0 * v0 - left, 1e-6);
  EXPECT_LT(audit_value(s, "energy"), 1e-12);
  // Below the limit nothing is lost.
  const Simulation small = run(*system, 0.05, 1.5, 300);
  EXPECT_LT(std::abs(audit_value(small, "energy_friction_loss")), 1e-15);
}

TEST(ElasticFriction, IsTheSameInAllUnits) {
  const Simulation one = run(*oscillator(10, 100, 1, "0"), 1, 1.5, 600);
  for (const double L : {1e-6, 1e6})
    for (const double M : {1e-6, 1e6})
      for (const double T : {1e-6, 1e6}) {
        const Units u{L, M, T};
        const Simulation s = run(*oscillator(10, 100, 1, "0", u), L / T, 1.5 * T, 600);
        ASSERT_EQ(s.status, Status::success) << s.message;
        EXPECT_NEAR(s.final.q[0] / L, one.final.q[0], 1e-11);
        EXPECT_NEAR(s.final.z[0] / L, one.final.z[0], 1e-11);
      }
}

TEST(ElasticFriction, StiffSpringIsRigidFriction) {
  OneMass rigid;
  rigid.stiffness = 1;
  rigid.limit = 0.2;
  rigid.force = "cos(0.8*t)";
  const Simulation s = run(*make_system(rigid), 0, 10, 4000);
  double before = HUGE_VAL;
  for (const double k_t :
       {1e2, 1e3, 1e4}) {  // the spring gives back c²/k_t at every turn: distance of order c/√(k_t m)
    const Simulation stiff = run(*oscillator(1, k_t, 0.2, "cos(0.8*t)"), 0, 10, 4000);
    ASSERT_EQ(stiff.status, Status::success) << stiff.message;
    const double distance = std::abs(stiff.final.q[0] - s.final.q[0]);
    EXPECT_LT(distance, 0.6 * before) << k_t;
    before = distance;
  }
  EXPECT_LT(before, 0.02);
}

TEST(ElasticFriction, PlanarSpringReturnsRadially) {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = dense({{1, 0}, {0, 1}});
  FrictionElement law;
  law.name = "pad";
  law.directions = {on(0), on(1)};
  law.limit = 1;
  law.stiffness = 100;
  model.friction = {law};
  const auto system = make_system(std::move(model));
  SimulationOptions options;
  options.scheme = SchemeKind::moreau;
  options.end_time = 1.2;
  options.steps = 2400;
  const Simulation s = simulate(*system, {0, Vector::Zero(2), Vector{{0.6, 0.8}}, {}, {}}, options);
  ASSERT_EQ(s.status, Status::success) << s.message;
  const Motion exact = exact_motion(100, 1, 1, 1.2);  // along (0.6, 0.8)
  EXPECT_NEAR(s.final.q[0], 0.6 * exact.x, 1e-5);
  EXPECT_NEAR(s.final.q[1], 0.8 * exact.x, 1e-5);
}

/// The steady state of a long run: half of max - min over the last period.
double stepped_amplitude(const System& system, double period, int periods, long steps) {
  SimulationOptions options;
  options.scheme = SchemeKind::moreau;
  options.end_time = periods * period;
  options.steps = steps * periods;
  const Simulation s = simulate(system, {0, Vector::Zero(1), Vector::Zero(1), {}, {}}, options);
  double high = -HUGE_VAL, low = HUGE_VAL;
  for (Index row = s.trajectory.rows() - steps; row < s.trajectory.rows(); ++row) {
    high = std::max(high, s.trajectory.q(row, 0));
    low = std::min(low, s.trajectory.q(row, 0));
  }
  return 0.5 * (high - low);
}

TEST(ElasticFriction, PeriodicMotionIsThatOfALongRun) {
  for (const double b : {0.7, 1.4}) {
    const auto system = oscillator(1, 1, 0.3, fmt::format("cos({:.17g}*t)", b));
    // Order 2 of the steps: the limit from two of them.
    PeriodicOptions options;
    options.period = 2 * M_PI / b;
    const double coarse = stepped_amplitude(*system, options.period, 60, 200),
                 fine = stepped_amplitude(*system, options.period, 60, 400);
    const double exact = fine + (fine - coarse) / 3;
    double error = 0;
    for (const int harmonics : {3, 15}) {
      options.harmonics = harmonics;
      options.samples = 64 * harmonics;
      WeightedResidual problem(*system, options, 0, Vector::Zero(1));
      const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {});
      ASSERT_EQ(solution.status, Status::success) << b << " " << solution.message;
      const Orbit orbit = problem.orbit(solution.X);
      error = std::abs(0.5 * (orbit.maximum[0] - orbit.minimum[0]) - exact) / exact;
      EXPECT_LT(error, harmonics == 3 ? 1e-2 : 2e-4) << b;
      // The slider alone takes energy, whatever the spring does in between.
      for (std::size_t j = 0; j < orbit.t.size(); ++j) EXPECT_LE(orbit.r[j][0] * orbit.u[j][0], 0) << b;
      EXPECT_LT(orbit.friction_work[0], 0);
    }
  }
}

TEST(ElasticFriction, JacobianOfThePeriodicLawIsExact) {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = dense({{1, 0}, {0, 2}});
  model.stiffness = dense({{2, -1}, {-1, 3}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  model.force.components = {StateFunction(Expression::parse("3*cos(t)", symbols)),
                            StateFunction(Expression::parse("sin(t)", symbols))};
  FrictionElement one, two;
  one.name = "follows";
  one.directions = {between(0, 1)};
  one.limit = StateFunction(Expression::parse("0.3 + 0.1*y", symbols));
  one.stiffness = 2;
  two.name = "planar";
  two.directions = {on(0), on(1)};
  two.limit = 0.4;
  two.stiffness = 1.5;
  model.friction = {one, two};
  const auto system = make_system(std::move(model));
  PeriodicOptions options;
  options.period = 2 * M_PI;
  options.harmonics = 3;
  options.samples = 32;
  WeightedResidual problem(*system, options, 0, Vector::Zero(2));
  Vector X(problem.unknowns()), F, plus, minus;
  for (Index i = 0; i < X.size(); ++i) X[i] = 2 * std::sin(1.0 + 3.7 * static_cast<double>(i));
  DenseMatrix J;
  ASSERT_TRUE(problem.evaluate(X, 0, F, &J));
  for (Index i = 0; i < X.size(); ++i) {
    const double delta = 1e-6;
    Vector Y = X;
    Y[i] += delta;
    problem.evaluate(Y, 0, plus, nullptr);
    Y[i] -= 2 * delta;
    problem.evaluate(Y, 0, minus, nullptr);
    EXPECT_LT(((plus - minus) / (2 * delta) - J.col(i)).norm(), 1e-6 * (1 + J.col(i).norm())) << i;
  }
}

TEST(ElasticFriction, PeriodicMotionBelowTheLimitIsLinear) {
  const auto system = oscillator(1, 1, 100, "cos(0.7*t)");
  PeriodicOptions options;
  options.period = 2 * M_PI / 0.7;
  options.harmonics = 5;
  const PeriodicSolution solution = solve_periodic({*system, {0, Vector::Zero(1), Vector::Zero(1), {}, {}}, options});
  ASSERT_EQ(solution.status, Status::success) << solution.message;
  EXPECT_NEAR(solution.amplitude()[0], 1 / (2 - 0.49), 1e-9);
}

}  // namespace
}  // namespace stickslip::elastic_friction_test
