// SPDX-License-Identifier: Apache-2.0
// Exponents in ε of the spring-damper replacement of a constraint, measured on the skate with Λ(0) ≠ 0 against the
// exact scheme: one table for pairs (c, d) on both sides of the source's condition b = d²/(c m) >= 2.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "papers/viscoelastic/experiments.hpp"
#include "stickslip/motion/comparison.hpp"
#include "tests/support/one_mass.hpp"

namespace stickslip::epsilon_order_test {
namespace {

// Fitted over ε/c = 1e-4 ... 1e-8; the next term of each expansion is √ε smaller, which bends the fit by less than
// this.
constexpr double kTolerance = 0.05;

struct Pair {
  double c, d;
};
constexpr Pair kPairs[] = {{1, 2}, {1, std::numbers::sqrt2}, {1, 0.5}, {100, 2}};

TEST(EpsilonOrder, PrintedStartHasALayerThatVelocitiesAndForcesSee) {
  for (const Pair& pair : kPairs) {
    const EpsilonStudy study = paper4::skate_study(pair.c, pair.d, 0.5, false);
    ASSERT_EQ(study.status, Status::success) << study.message;
    const EpsilonErrors& e = study.exponents;
    EXPECT_NEAR(e.position, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.velocity, 0.5, kTolerance) << pair.d;
    EXPECT_NEAR(e.force, 0, kTolerance) << pair.d;
    EXPECT_NEAR(e.force_l2, 0.25, kTolerance) << pair.d;
    EXPECT_NEAR(e.late_position, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.late_velocity, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.late_force, 1, kTolerance) << pair.d;
  }
}

TEST(EpsilonOrder, PreparedStartRemovesTheLeadingLayer) {
  for (const Pair& pair : kPairs) {
    const EpsilonStudy study = paper4::skate_study(pair.c, pair.d, 0.5, true);
    ASSERT_EQ(study.status, Status::success) << study.message;
    const EpsilonErrors& e = study.exponents;
    EXPECT_NEAR(e.position, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.velocity, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.force, 0.5, kTolerance) << pair.d;
    EXPECT_NEAR(e.force_l2, 0.75, kTolerance) << pair.d;
    EXPECT_NEAR(e.late_force, 1, kTolerance) << pair.d;
  }
}

/// Largest difference of positions from the exact motion over two seconds, for m = 1, limit 1.
std::vector<double> friction_errors(const std::vector<double>& epsilons, double force, double v0) {
  const std::unique_ptr<System> system = make_system(OneMass{.force = std::to_string(force), .limit = 1});
  State start;
  start.q = Vector::Zero(1);
  start.v = Vector::Constant(1, v0);
  SimulationOptions options;
  options.scheme = SchemeKind::event;
  options.end_time = 2;
  options.output_step = 0.05;
  options.tolerance = 1e-11;
  const Simulation exact = simulate(*system, start, options);
  options.scheme = SchemeKind::viscoelastic;
  std::vector<double> errors;
  for (const double epsilon : epsilons) {
    options.viscoelastic.epsilon = epsilon;
    const Simulation soft = simulate(*system, start, options);
    EXPECT_EQ(soft.status, Status::success) << soft.message;
    double error = 0;
    for (Index k = 0; k < exact.trajectory.rows(); ++k)
      error = std::max(error, std::abs(soft.trajectory.q(k, 0) - exact.trajectory.q(k, 0)));
    errors.push_back(error);
  }
  return errors;
}

TEST(EpsilonOrder, FrictionThatStopsIsWithinEpsilonAndFrictionThatReversesWithinItsRoot) {
  const std::vector<double> epsilons{1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
  // Slides, stops at 2/3 s and stays: the loaded spring gives its force up over a way of size ε.
  EXPECT_NEAR(fitted_order(epsilons, friction_errors(epsilons, -0.5, 1)), 1, kTolerance);
  // Reverses at 1/3 s: the spring has to be wound the other way, which takes a time of size √ε.
  EXPECT_NEAR(fitted_order(epsilons, friction_errors(epsilons, 2, -1)), 0.5, kTolerance);
  // Slips from rest: the spring has to be wound up.
  EXPECT_NEAR(fitted_order(epsilons, friction_errors(epsilons, 2, 0)), 0.5, kTolerance);
}

TEST(EpsilonOrder, AReversalGainsTheVelocityThatTheDerivationSays) {
  // docs/theory-viscoelastic.md: critically damped, from Λ = -c to Λ = c while u grows from 0. Integrated here in the
  // scaled time τ = t/√ε by small steps of the classical method, independent of the scheme.
  const double f = 2, c = 1, d = 2;
  double zeta = -c, y = 0, tau = 0, h = 1e-4;  // y = u/√ε
  auto slope = [&](double z, double u, double& dz, double& du) {
    dz = u;
    du = f - (z + d * u);
  };
  while (zeta + d * y < c) {
    double z1, u1, z2, u2, z3, u3, z4, u4;
    slope(zeta, y, z1, u1);
    slope(zeta + h / 2 * z1, y + h / 2 * u1, z2, u2);
    slope(zeta + h / 2 * z2, y + h / 2 * u2, z3, u3);
    slope(zeta + h * z3, y + h * u3, z4, u4);
    zeta += h / 6 * (z1 + 2 * z2 + 2 * z3 + z4);
    y += h / 6 * (u1 + 2 * u2 + 2 * u3 + u4);
    tau += h;
  }
  const double gain = y - (f - c) * tau;  // over the ideal u, which has had Λ = c from the start, in units of √ε
  for (const double epsilon : {1e-6, 1e-8}) {
    const std::unique_ptr<System> system = make_system(OneMass{.force = "2", .limit = 1});
    State start;
    start.q = Vector::Zero(1);
    start.v = Vector::Constant(1, -1);
    SimulationOptions options;
    options.scheme = SchemeKind::viscoelastic;
    options.end_time = 1;
    options.output_step = 1;
    options.viscoelastic.epsilon = epsilon;
    options.tolerance = 1e-11;
    const Simulation s = simulate(*system, start, options);
    ASSERT_EQ(s.status, Status::success) << s.message;
    // -1 + 3/3 = 0 at 1/3 s, then 1 m/s² for 2/3 s.
    EXPECT_NEAR((s.final.v[0] - 2.0 / 3) / std::sqrt(epsilon), gain, 1e-2 * gain) << epsilon;
  }
}

TEST(EpsilonStudy, SquareIntegralOfTheForceErrorIsThatOfTheClosedForm) {
  // Weak damping makes the layer long, exponent 1 makes it short: neither may depend on where rows lie.
  struct Case {
    double d, epsilon, kappa;
  };
  for (const Case& c : {Case{0.1, 1e-8, 0.5}, Case{0.1, 1e-6, 0.5}, Case{2, 1e-6, 0.5}, Case{2, 1e-4, 1}}) {
    const paper4::SpringDamper law{1, c.d, c.epsilon, c.kappa, false};
    const ModelFile model = paper4::skate_model(paper4::skate_b(), law);
    EpsilonStudyOptions options;
    options.epsilons = {c.epsilon};
    const EpsilonStudy study = study_epsilon(*model.system, model.initial, 0, 10, options);
    ASSERT_EQ(study.status, Status::success) << study.message;
    // The layer, of length 40 √ε/d or, at κ = 1, of ε/d, on a grid of its own; the rest on another.
    const double layer = c.kappa == 1 ? 60 * c.epsilon / c.d : 60 * std::sqrt(c.epsilon) / c.d;
    double squares = 0;
    for (const auto& [from, to] : {std::pair(0.0, layer), std::pair(layer, 10.0)}) {
      const int parts = 40000;
      const double h = (to - from) / parts;
      for (int k = 0; k < parts; ++k) {
        const double t = from + (k + 0.5) * h;
        const double e = viscoelastic(paper4::skate_b(), law, t).lambda - ideal(paper4::skate_b(), t).lambda;
        squares += h * e * e;
      }
    }
    EXPECT_NEAR(study.runs[0].errors.force_l2, std::sqrt(squares), 0.01 * std::sqrt(squares))
        << c.d << " " << c.epsilon << " " << c.kappa;
  }
}

TEST(EpsilonCost, StiffIntegratorBarelyNoticesEpsilon) {
  const auto stiff = paper4::disc_cost(IntegratorKind::radau, {1e-4, 1e-8});
  ASSERT_EQ(stiff.size(), 2u);
  EXPECT_LT(stiff[1].evaluations, 5 * stiff[0].evaluations);
  const auto plain = paper4::disc_cost(IntegratorKind::dormand_prince, {1e-4, 1e-6});
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_GT(plain[1].evaluations, 4 * plain[0].evaluations);  // stability asks for steps of √ε: 10 times as many
}

}  // namespace
}  // namespace stickslip::epsilon_order_test
