// SPDX-License-Identifier: Apache-2.0
// Motions of trees with known answers: elliptic integrals, joints below and above their limit, closed loops.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/simulate.hpp"
#include "tests/support/chain_model.hpp"

namespace stickslip::tree_motion_test {
namespace {

Simulation run(const BodyModel& model, SchemeKind scheme, double end_time, double tolerance, double step = 1e-3) {
  const auto system = make_system(model);
  State start;
  start.q = start_positions(model);
  start.v = start_velocities(model);
  SimulationOptions options;
  options.scheme = scheme;
  options.end_time = end_time;
  options.tolerance = tolerance;
  options.step = step;
  Simulation result = simulate(*system, start, options);
  EXPECT_EQ(result.status, Status::success) << result.message;
  for (const AuditItem& item : result.audit) EXPECT_TRUE(item.ok) << item.name << " " << item.value;
  return result;
}

/// A mass on a light arm: 1 kg at 0.1 m, level; its weight has the moment 0.981 N m.
BodyModel arm(double limit) {
  BodyModel model;
  model.gravity = {0, -9.81, 0};
  RigidBody body;
  body.name = "arm";
  body.mass = 1;
  body.center = {0.1, 0, 0};
  body.inertia = Eigen::Matrix3d::Zero();
  model.bodies.push_back(body);
  Hinge hinge;
  hinge.name = "joint";
  hinge.axes = {HingeAxis::rz};
  model.hinges.push_back(hinge);
  if (limit > 0) model.friction.push_back({.name = "dry", .directions = {on(0)}, .limit = limit});
  return model;
}

constexpr double kLoad = 0.981, kInertia = 0.01;

TEST(TreeMotion, APendulumFollowsEllipticIntegrals) {
  BodyModel model = arm(0);
  const double amplitude = 2.0;  // from hanging down
  model.hinges[0].position_0 = {amplitude - M_PI / 2};
  const double omega = std::sqrt(kLoad / kInertia), k = std::sin(amplitude / 2);
  for (const double t : {0.05, 0.13}) {  // before it passes the bottom, at K/ω = 0.21 s
    const Simulation result = run(model, SchemeKind::event, t, 1e-13);
    const double angle = result.final.q[0] + M_PI / 2;
    // sin(θ/2) = k sin φ, F(φ, k) = K(k) - ω t
    const double phi = std::asin(std::sin(angle / 2) / k);
    EXPECT_NEAR((std::comp_ellint_1(k) - std::ellint_1(k, phi)) / omega, t, 1e-11);
  }
  // A whole period later it is where it was.
  const Simulation result = run(model, SchemeKind::event, 4 * std::comp_ellint_1(k) / omega, 1e-13);
  EXPECT_NEAR(result.final.q[0], amplitude - M_PI / 2, 1e-10);
}

TEST(TreeMotion, AJointBelowItsLimitDoesNotMoveByOneBit) {
  for (const SchemeKind scheme : {SchemeKind::moreau, SchemeKind::event}) {
    BodyModel model = arm(kLoad / 0.99);
    model.hinges[0].position_0 = {0.0};
    EXPECT_EQ(run(model, scheme, 10, 1e-9, 1e-2).final.q[0], 0.0);
    // The same moment from a motor, at a position that is no round number.
    model = arm(1.0);
    model.gravity.setZero();
    model.hinges[0].position_0 = {0.1234567891};
    model.hinges[0].force = {0.99};
    EXPECT_EQ(run(model, scheme, 10, 1e-9, 1e-2).final.q[0], 0.1234567891);
  }
}

TEST(TreeMotion, AJointAboveItsLimitAcceleratesAsItShould) {
  BodyModel model = arm(1.0);
  model.gravity.setZero();
  model.hinges[0].force = {1.01};
  const double acceleration = 0.01 / kInertia, t = 0.3;
  for (const SchemeKind scheme : {SchemeKind::moreau, SchemeKind::event}) {
    const Simulation result = run(model, scheme, t, 1e-12, 1e-2);
    EXPECT_NEAR(result.final.v[0], acceleration * t, 1e-12);
    EXPECT_NEAR(result.final.q[0], 0.5 * acceleration * t * t, 1e-12);
  }
}

TEST(TreeMotion, AChainKeepsItsEnergy) {
  const BodyModel model = test::chain_model(6);
  const auto system = make_system(model);
  const Vector q = start_positions(model), v = start_velocities(model);
  const auto energy = [&](const Vector& x, const Vector& u) {
    return system->inertia().kinetic_energy(x, u) + system->forces().potential_energy(x);
  };
  const Simulation result = run(model, SchemeKind::event, 1, 1e-11);
  EXPECT_NEAR(energy(result.final.q, result.final.v), energy(q, v), 1e-9);
}

/// Peers differ by 1e-2 on it; here the tolerances agree to 1e-10 and time stepping converges to it with order 2.
TEST(TreeMotion, TwoLinksWithFrictionEndWhereTheToleranceSays) {
  constexpr double kExact = 1.7155741484;
  const BodyModel model = test::chain_model(2, 0.02);
  EXPECT_NEAR(run(model, SchemeKind::event, 2, 1e-10).final.q[0], kExact, 1e-9);
  const double coarse = run(model, SchemeKind::moreau, 2, 1e-10, 4e-3).final.q[0] - kExact,
               fine = run(model, SchemeKind::moreau, 2, 1e-10, 1e-3).final.q[0] - kExact;
  EXPECT_LT(std::abs(fine), 1e-5);
  EXPECT_GT(std::log(std::abs(coarse / fine)) / std::log(4.0), 1.8);
}

/// Likewise with more links: tolerances from 1e-8 to 1e-12 agree to 2e-11.
TEST(TreeMotion, LongerChainsWithFrictionEndWhereTheToleranceSays) {
  for (const auto& [links, exact] : {std::pair{6, 2.56120978918}, {20, 1.48327025898}}) {
    const BodyModel model = test::chain_model(links, 0.02);
    EXPECT_NEAR(run(model, SchemeKind::event, 2, 1e-8).final.q[0], exact, 1e-9);
  }
  const BodyModel model = test::chain_model(6, 0.02);
  const double coarse = run(model, SchemeKind::moreau, 2, 1e-10, 2e-3).final.q[0] - 2.56120978918,
               fine = run(model, SchemeKind::moreau, 2, 1e-10, 1e-3).final.q[0] - 2.56120978918;
  EXPECT_LT(std::abs(fine), 5e-5);
  EXPECT_GT(std::log2(std::abs(coarse / fine)), 1.8);
}

/// A hundred links are a mass matrix that rounding leaves eight digits of: the step settles as far as it can.
TEST(TreeMotion, AHundredLinksWithFrictionConverge) {
  run(test::chain_model(100, 0.02), SchemeKind::moreau, 0.005, 1e-9, 1e-3);
}

/// Rods from joint to joint, joints at the corners of a cube, axes y, z, x, y, z, x.
BodyModel bricard() {
  BodyModel model;
  model.gravity = {0, -9.81, 0};
  const std::array<Eigen::Vector3d, 6> joints{{{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}}};
  const std::array<HingeAxis, 5> axes{HingeAxis::ry, HingeAxis::rz, HingeAxis::rx, HingeAxis::ry, HingeAxis::rz};
  for (int i = 0; i < 5; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Eigen::Vector3d rod = joints[k + 1] - joints[k];
    RigidBody body;
    body.name = fmt::format("rod{}", i);
    body.mass = 1;
    body.center = rod / 2;
    const double thin = 0.02 / 12, across = 1.01 / 12;
    body.inertia = (across * Eigen::Vector3d::Ones() + (thin - across) * rod.cwiseAbs()).asDiagonal();
    model.bodies.push_back(body);
    Hinge hinge;
    hinge.name = fmt::format("j{}", i);
    hinge.parent = i - 1;
    hinge.child = i;
    if (i > 0) hinge.position = joints[k] - joints[k - 1];
    hinge.axes = {axes[k]};
    model.hinges.push_back(hinge);
  }
  Loop loop;
  loop.name = "close";
  loop.point_a = joints[5];
  loop.body_b = 4;
  loop.point_b = joints[5] - joints[4];
  loop.axes = {HingeAxis::rx};
  model.loops.push_back(loop);
  return model;
}

TEST(TreeMotion, BricardsMechanismHasItsPublishedPositions) {
  const BodyModel model = bricard();
  const auto system = make_system(model);
  const ConsistentStart start = make_consistent(*system, 0, start_positions(model), start_velocities(model), {});
  EXPECT_EQ(start.rank.rank, 4);
  EXPECT_EQ(start.rank.rows, 5);
  EXPECT_EQ(start.rank.dependent, std::vector<std::string>{"close.rz"});
  const Simulation result = run(model, SchemeKind::event, 1, 1e-11);
  const Tree tree = make_tree(model);
  std::vector<Pose> poses;
  body_poses(model, &tree, result.final.q, poses);
  EXPECT_LT((poses[2].position - Eigen::Vector3d(0.274481319265, -0.886707938735, -0.462330002687)).norm(), 1e-9);
}

}  // namespace
}  // namespace stickslip::tree_motion_test
