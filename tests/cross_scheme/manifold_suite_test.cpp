// SPDX-License-Identifier: Apache-2.0
// A system that a user has written, with more numbers of position than velocities (a body on a ball joint with friction
// about its axis, tests/support/ball_pendulum.hpp), under every scheme that takes it.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/comparison.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/ball_pendulum.hpp"

namespace stickslip::manifold_suite_test {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;

constexpr double kLimit = 0.05, kEnd = 2;  // [N m], [s]

std::unique_ptr<System> pendulum(double limit = kLimit) {
  return ball_pendulum::make({}, {ball_pendulum::joint_friction(2, limit)});
}

State start() {
  State state;
  state.q = ball_pendulum::numbers(Quaterniond(0.8, 0.5, -0.3, 0.1).normalized());
  state.v = Vector{{0.4, -0.2, 1.5}};
  return state;
}

SimulationOptions options(SchemeKind scheme, double end = kEnd) {
  SimulationOptions o;
  o.scheme = scheme;
  o.step = 1.0 / 1024;
  o.end_time = end;
  o.tolerance = 1e-11;
  o.viscoelastic.epsilon = 1e-8;
  return o;
}

/// δ of the final orientations, and the difference of the velocities.
double distance(const System& system, const Simulation& a, const Simulation& b) {
  Vector delta;
  system.kinematics().difference(a.final.q, b.final.q, delta);
  return std::max(delta.lpNorm<Eigen::Infinity>(), (a.final.v - b.final.v).lpNorm<Eigen::Infinity>());
}

const Simulation& exact() {
  static const Simulation run = simulate(*pendulum(), start(), [] {
    SimulationOptions o = options(SchemeKind::event);
    o.tolerance = 1e-13;
    return o;
  }());
  return run;
}

class OnManifold : public testing::TestWithParam<SchemeKind> {};

TEST_P(OnManifold, EnergyIsAccountedFor) {
  const Simulation s = simulate(*pendulum(), start(), options(GetParam()));
  ASSERT_EQ(s.status, Status::success) << s.message;
  // The midpoint rule leaves O(h²) where energies are not quadratic.
  EXPECT_LT(audit_value(s, "energy"), GetParam() == SchemeKind::moreau ? 1e-5 : 1e-8);
  EXPECT_GT(audit_value(s, "energy_friction_loss"), 0.01);
  EXPECT_NEAR(s.final.q.norm(), 1, 4e-16);
}

TEST_P(OnManifold, ConvergesToTheExactMotionThroughItsEvents) {
  ASSERT_EQ(exact().status, Status::success) << exact().message;
  const auto system = pendulum();
  std::vector<double> size, error;
  auto add = [&](double parameter, const SimulationOptions& o) {
    const Simulation s = simulate(*system, start(), o);
    ASSERT_EQ(s.status, Status::success) << s.message;
    size.push_back(parameter);
    error.push_back(distance(*system, s, exact()));
  };
  SimulationOptions o = options(GetParam());
  switch (GetParam()) {
    case SchemeKind::moreau:
      for (const double h : {0.004, 0.002, 0.001, 0.0005}) {
        o.step = h;
        add(h, o);
      }
      EXPECT_NEAR(fitted_order(size, error), 2, 0.15);
      break;
    case SchemeKind::viscoelastic:
      for (const double epsilon : {1e-5, 1e-6, 1e-7, 1e-8}) {
        o.viscoelastic.epsilon = epsilon;
        add(epsilon, o);
      }
      // A slip that stops: the springs have to be wound, which takes a time of size √ε.
      EXPECT_GT(fitted_order(size, error), 0.45);
      EXPECT_LT(error.back(), 3 * std::sqrt(size.back()));
      break;
    default:
      add(o.tolerance, o);
      EXPECT_LT(error.back(), 1e-9);
  }
}

TEST_P(OnManifold, WhatSticksStays) {
  // Friction above what gravity can do about this axis: it stops once and for all.
  const Simulation s = simulate(*pendulum(2.0), start(), options(GetParam()));
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_EQ(s.final.modes[0], Mode::stick);
  double stop = 0;
  for (const Event& event : s.trajectory.events)
    if (event.kind == EventKind::stick) stop = event.t;
  EXPECT_GT(stop, 0);
  EXPECT_LT(stop, 0.5);
  double fastest = 0;
  for (Index row = 0; row < s.trajectory.rows(); ++row)
    if (s.trajectory.t(row) > stop + 0.01) fastest = std::max(fastest, std::abs(s.trajectory.v(row, 2)));
  // A spring-damper gives by ε F'/c while the load on it changes.
  EXPECT_LE(fastest, GetParam() == SchemeKind::viscoelastic ? 1e-5 : 1e-12);
}

TEST_P(OnManifold, RestartGoesOnAsIfNothingHadHappened) {
  const auto system = pendulum();
  const SimulationOptions o = options(GetParam());
  const Simulation whole = simulate(*system, start(), o);
  SimulationOptions first = o;
  first.end_time = 0.75;
  const Simulation begun = simulate(*system, start(), first);
  SimulationHooks hooks;
  hooks.resume = &begun.last;
  const Simulation second = simulate(*system, start(), o, hooks);
  ASSERT_EQ(second.status, Status::success) << second.message;
  // Integrators begin anew there: they agree to their tolerance.
  EXPECT_LE(distance(*system, second, whole), GetParam() == SchemeKind::moreau ? 0.0 : 1e3 * o.tolerance);
  EXPECT_EQ(second.event_counts, whole.event_counts);
}

INSTANTIATE_TEST_SUITE_P(Schemes, OnManifold,
                         testing::Values(SchemeKind::moreau, SchemeKind::event, SchemeKind::viscoelastic),
                         [](const auto& row) { return std::string(to_string(row.param)); });

TEST(Manifolds, SplittingRefusesThemAndNamesAnother) {
  try {
    simulate(*pendulum(), start(), options(SchemeKind::splitting));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("moreau"), std::string::npos) << error.what();
  }
}

// A symmetric top that precesses steadily, C ω_3 Ω = A Ω² cos ϑ + m g l; friction about its axis takes c/C from its
// spin per second, however it nutates.
TEST(Manifolds, SpinningTopPrecessesAndSlowsDownAsInClosedForm) {
  ball_pendulum::Parameters p;
  p.mass = 1;
  p.center = {0, 0, 0.3};
  p.J = Vector3d(0.12, 0.12, 0.02).asDiagonal();
  const double tilt = 0.4, rate = 1.5, end = 1.5;
  State initial;
  initial.q = Vector{{std::cos(tilt / 2), std::sin(tilt / 2), 0, 0}};
  initial.v = Vector{{0, rate * std::sin(tilt), (0.12 * rate * rate * std::cos(tilt) + 9.81 * 0.3) / (0.02 * rate)}};
  SimulationOptions o = options(SchemeKind::event, end);
  o.tolerance = 1e-13;
  const Vector3d axis(std::sin(tilt) * std::sin(rate * end), -std::sin(tilt) * std::cos(rate * end), std::cos(tilt));
  auto off = [&](const Simulation& s) {
    return (ball_pendulum::orientation(s.final.q) * Vector3d::UnitZ() - axis).norm();
  };
  const auto smooth = ball_pendulum::make(p);
  EXPECT_LT(off(simulate(*smooth, initial, o)), 1e-10);
  std::vector<double> steps{0.002, 0.001, 0.0005}, errors;
  for (const double h : steps) {
    SimulationOptions fixed = options(SchemeKind::moreau, end);
    fixed.step = h;
    errors.push_back(off(simulate(*smooth, initial, fixed)));
  }
  EXPECT_NEAR(fitted_order(steps, errors), 2, 0.1);
  const double friction = 0.5;
  const auto rough = ball_pendulum::make(p, {ball_pendulum::joint_friction(2, friction)});
  for (const SchemeKind scheme : {SchemeKind::event, SchemeKind::moreau, SchemeKind::viscoelastic}) {
    const Simulation s = simulate(*rough, initial, options(scheme, end));
    ASSERT_EQ(s.status, Status::success) << to_string(scheme) << ": " << s.message;
    const double spin = initial.v[2] - friction / 0.02 * end;
    EXPECT_NEAR(s.final.v[2], spin, scheme == SchemeKind::viscoelastic ? 1e-6 : 1e-9) << to_string(scheme);
  }
}

/// The end of a rod of 1 m along the body's -z over a floor 0.05 m above its lowest place; k = 0: rigid, e = 1.
std::unique_ptr<System> pendulum_over_floor(double k = 0) {
  ExpressionContact floor;
  floor.law.name = "floor";
  floor.law.tangents = 0;
  floor.law.restitution = 1;
  if (k > 0) {
    ContactCompliance spring;
    spring.stiffness.entries = {{StateFunction(k)}};
    floor.law.compliance = std::make_shared<const ContactCompliance>(std::move(spring));
  }
  floor.gap = function_of(4, 3, [](double, const auto& q) { return 2.0 * (q[1] * q[1] + q[2] * q[2]) - 0.05; });
  return ball_pendulum::make({}, {}, {floor});
}

/// Every scheme that takes contacts, on a user's system with more numbers of position than velocities.
TEST(Manifolds, ContactGivenByAFunctionBouncesAlikeUnderEveryScheme) {
  const auto rigid = pendulum_over_floor();
  const double end = 1;
  const Simulation reference = simulate(*rigid, start(), options(SchemeKind::event, end));
  ASSERT_EQ(reference.status, Status::success) << reference.message;
  ASSERT_GE(reference.event_counts[static_cast<std::size_t>(EventKind::impact)], 1);
  EXPECT_LT(audit_value(reference, "energy"), 1e-9);
  EXPECT_NEAR(reference.final.q.norm(), 1, 4e-16);

  std::vector<double> softness{1e-4, 1e-5, 1e-6}, errors;
  for (const double s : softness) {
    const Simulation soft = simulate(*pendulum_over_floor(1 / s), start(), options(SchemeKind::compliant, end));
    ASSERT_EQ(soft.status, Status::success) << soft.message;
    EXPECT_LT(audit_value(soft, "energy"), 1e-8);
    errors.push_back(distance(*rigid, soft, reference));
  }
  EXPECT_NEAR(fitted_order(softness, errors), 0.5, 0.1);  // an impact lasts pi sqrt(m/k)

  std::vector<double> steps{1.0 / 512, 1.0 / 2048, 1.0 / 8192}, step_errors;
  for (const double h : steps) {
    SimulationOptions o = options(SchemeKind::moreau, end);
    o.step = h;
    const Simulation s = simulate(*rigid, start(), o);
    ASSERT_EQ(s.status, Status::success) << s.message;
    step_errors.push_back(distance(*rigid, s, reference));
  }
  EXPECT_LT(step_errors.back(), 0.02);
  EXPECT_LT(step_errors.back(), 0.3 * step_errors.front());
}

}  // namespace
}  // namespace stickslip::manifold_suite_test
