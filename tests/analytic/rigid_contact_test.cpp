// SPDX-License-Identifier: Apache-2.0
// Bodies in contact against closed forms.
#include <gtest/gtest.h>

#include <numbers>

#include "tests/support/body_models.hpp"

namespace stickslip::rigid_contact_test {
namespace {

using namespace body_models;
using Eigen::Vector3d;

constexpr double kG = 9.81;

TEST(RigidContact, SlidingBlockStopsAfterTheClassicalDistance) {
  const double v0 = 3, mu = 0.5, expected = v0 * v0 / (2 * mu * kG);
  double previous = 0;
  for (const double h : {4e-3, 2e-3, 1e-3}) {
    const Simulation r = run(cube_on_plane(mu, 0, {v0, 0, 0}), options(h, 1.0));
    ASSERT_EQ(r.status, Status::success) << r.message;
    const double error = std::abs(r.final.q[0] - expected);
    // The block stops inside a step: the path is right to ½ μ g h², whatever the fraction.
    EXPECT_LE(error, 0.5 * mu * kG * h * h) << h;
    EXPECT_NEAR(r.final.v.norm(), 0, 1e-13);
    EXPECT_NEAR(r.trajectory.energy(r.trajectory.rows() - 1).friction_loss, 0.5 * v0 * v0, 1e-12);
    previous = error;
  }
  EXPECT_LT(previous, 1e-5);
}

TEST(RigidContact, BlockHoldsBelowAndSlidesAboveTheFrictionAngle) {
  const double slope = 0.4, difference = 1e-9, mu = std::tan(slope);
  const Simulation held = run(cube_on_plane(mu * (1 + difference), slope), options(1e-2, 10));
  const Simulation slides = run(cube_on_plane(mu * (1 - difference), slope), options(1e-2, 10));
  ASSERT_EQ(held.status, Status::success) << held.message;
  ASSERT_EQ(slides.status, Status::success) << slides.message;
  // At the edge of sticking a residual ε of the law leaves a velocity of about ε^(2/3): 1e-10 of the speed that one
  // step of gravity gives, for the first steps only.
  EXPECT_LT(std::abs(held.final.q[0]), 1e-10);
  EXPECT_LT(std::abs(held.final.v[0]), 1e-15);
  const double acceleration = kG * std::sin(slope) * difference;
  EXPECT_NEAR(slides.final.q[0], 0.5 * acceleration * 100, 0.02 * 0.5 * acceleration * 100);
  EXPECT_EQ(held.final.modes[0], Mode::stick);
  EXPECT_EQ(slides.final.modes[0], Mode::slip);
}

/// With μ = tan(slope) the speed v and its angle φ to the line of fall obey v (1 + cos φ) = v0: a block pushed sideways
/// ends at v0/2 straight down.
TEST(RigidContact, BlockPushedSidewaysOnItsFrictionAngleEndsAtHalfItsSpeedDownhill) {
  const double slope = 0.5, v0 = 1.0;
  std::vector<double> errors;
  for (const double h : {8e-3, 4e-3, 2e-3}) {
    BodyModel model = cube_on_plane(std::tan(slope), slope, {0, v0, 0});
    // A flat and heavy block does not tilt: its foot is its mass centre.
    model.shapes[0].size = {1, 1, 1e-3};
    model.bodies[0].position = {0, 0, 5e-4};
    const Simulation r = run(model, options(h, 6.0));
    ASSERT_EQ(r.status, Status::success) << r.message;
    EXPECT_LT(std::abs(r.final.v[1]), 1e-6);
    errors.push_back(std::abs(r.final.v[0] - v0 / 2));
  }
  EXPECT_LT(errors.back(), 2 * 2e-3 * v0);  // order 1: the direction of friction is that at the end of the step
  EXPECT_GT(std::log2(errors[0] / errors[1]), 0.9);
  EXPECT_GT(std::log2(errors[1] / errors[2]), 0.9);
}

TEST(RigidContact, SphereSetDownSlidingRollsAtFiveSeventhsOfItsSpeed) {
  BodyModel model;
  model.gravity = {0, 0, -kG};
  const double v0 = 2, mu = 0.2, radius = 0.1;
  model.bodies.push_back(body("ball", 1, {0, 0, radius}, {v0, 0, 0}));
  model.shapes = {sphere(0, radius), ground_plane()};
  model.contacts = {contact("ball", "ground", mu, 0)};
  const Simulation r = run(model, options(1e-3, 2));
  ASSERT_EQ(r.status, Status::success) << r.message;
  EXPECT_NEAR(r.final.v[0], 5.0 / 7.0 * v0, 1e-12);  // a balance of momentum about the contact point: no order in it
  EXPECT_NEAR(r.final.v[4], 5.0 / 7.0 * v0 / radius, 1e-11);
  const double sliding = 2 * v0 / (7 * mu * kG);
  bool rolls = false;
  for (const Event& e : r.trajectory.events)
    if (e.kind == EventKind::stick) {
      EXPECT_NEAR(e.t, sliding, 1.5e-3);
      rolls = true;
    }
  EXPECT_TRUE(rolls);
}

TEST(RigidContact, RestitutionSendsASphereToTheSquareOfItInHeight) {
  BodyModel model;
  model.gravity = {0, 0, -kG};
  model.bodies.push_back(body("ball", 1, {0, 0, 1.1}));
  model.shapes = {sphere(0, 0.1), ground_plane()};
  model.contacts = {contact("ball", "ground", 0, 0.8)};
  std::vector<double> errors;
  for (const double h : {1e-3, 2.5e-4}) {
    const double fall = std::sqrt(2 / kG), top = fall + 0.8 * fall;
    SimulationOptions o = options(h, top);
    o.output_step = 0;
    const Simulation r = run(model, o);
    ASSERT_EQ(r.status, Status::success) << r.message;
    errors.push_back(std::abs(r.final.q[2] - 0.1 - 0.64));
  }
  EXPECT_LT(errors[1], 2e-3);
}

/// sn, cn, dn by the arithmetic-geometric mean (Abramowitz and Stegun 16.4).
std::array<double, 3> jacobi(double u, double m) {
  std::vector<double> a{1}, c{std::sqrt(m)};
  double b = std::sqrt(1 - m);
  while (std::abs(c.back()) > 1e-16) {
    const double a0 = a.back();
    a.push_back(0.5 * (a0 + b));
    c.push_back(0.5 * (a0 - b));
    b = std::sqrt(a0 * b);
  }
  const auto n = a.size() - 1;
  double phi = std::pow(2.0, static_cast<double>(n)) * a[n] * u;
  double before = phi;
  for (std::size_t k = n; k > 0; --k) {
    before = phi;
    phi = 0.5 * (phi + std::asin(c[k] / a[k] * std::sin(phi)));
  }
  const double cn = std::cos(phi);
  return {std::sin(phi), cn, n > 0 ? cn / std::cos(before - phi) : 1.0};
}

/// Euler's top with J1 < J2 < J3 and 2 T J2 < L²: ω = (ω10 cn, -ω20 sn, ω30 dn)(p t), started on ω2 = 0.
TEST(RigidContact, AsymmetricTopFollowsTheEllipticFunctionsWithOrderTwo) {
  const Vector3d J(1, 2, 2.8), w0(0.9, 0, 1.1);
  const double L2 = std::pow(J[0] * w0[0], 2) + std::pow(J[2] * w0[2], 2),
               T2 = J[0] * w0[0] * w0[0] + J[2] * w0[2] * w0[2];
  ASSERT_GT(L2, T2 * J[1]);
  const double p = std::sqrt((J[2] - J[1]) * (L2 - J[0] * T2) / (J[0] * J[1] * J[2]));
  const double m = (J[1] - J[0]) * (J[2] * T2 - L2) / ((J[2] - J[1]) * (L2 - J[0] * T2));
  const double w20 = std::sqrt((J[2] * T2 - L2) / (J[1] * (J[2] - J[1])));
  const double t = 10;
  const auto [sn, cn, dn] = jacobi(p * t, m);
  BodyModel model;
  model.bodies.push_back(body("top", 1, {0, 0, 0}, {0.3, 0, 0}, w0));
  model.bodies[0].inertia = J.asDiagonal();
  const Vector3d exact(w0[0] * cn, w20 * sn, w0[2] * dn);  // sign of ω2: ω2' = (J3 - J1) ω3 ω1 / J2 > 0
  std::vector<double> errors;
  for (const double h : {0.02, 0.01, 0.005}) {
    const Simulation r = run(model, options(h, t));
    ASSERT_EQ(r.status, Status::success) << r.message;
    errors.push_back((Vector3d(r.final.v.segment<3>(3)) - exact).norm());
    const Vector3d L = angular_momentum(model, r.final.q, r.final.v), L0 = J.cwiseProduct(w0);
    const double round_off = 1e-15 * t / h;  // some units in the last place per step
    EXPECT_LT((L - L0).norm(), round_off * L0.norm());
    EXPECT_NEAR(r.trajectory.energy(r.trajectory.rows() - 1).kinetic, 0.5 * T2 + 0.5 * 0.09, round_off);
  }
  EXPECT_LT(errors.back(), 1e-3);
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.05);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.05);
}

TEST(RigidContact, TwoSpheresInFreeSpaceExchangeMomentumAsNewtonSays) {
  BodyModel model;
  model.bodies = {body("a", 1, {-1, 0, 0}, {2, 0, 0}), body("b", 3, {1, 0, 0})};
  model.shapes = {sphere(0, 0.2), sphere(1, 0.3)};
  const double e = 0.7;
  model.contacts = {contact("*", "*", 0, e)};
  const Simulation r = run(model, options(1e-3, 2));
  ASSERT_EQ(r.status, Status::success) << r.message;
  const double common = 2.0 / 4.0;
  EXPECT_NEAR(r.final.v[0], common - 0.75 * e * 2, 1e-14);
  EXPECT_NEAR(r.final.v[6], common + 0.25 * e * 2, 1e-14);
}

TEST(RigidContact, BlockAtRestHoldsByTheStaticCoefficientFromTheFirstStepOn) {
  const double slope = 0.45;
  BodyModel model = cube_on_plane(0.3, slope);
  model.contacts[0].law.mu_static = 0.6;  // tan(slope) = 0.483
  const Simulation held = run(model, options(1e-3, 1));
  ASSERT_EQ(held.status, Status::success) << held.message;
  EXPECT_LT(std::abs(held.final.q[0]), 1e-12);
  model.bodies[0].velocity = {0.1, 0, 0};
  const Simulation slides = run(model, options(1e-3, 1));
  const double acceleration = kG * (std::sin(slope) - 0.3 * std::cos(slope));
  EXPECT_NEAR(slides.final.v[0], 0.1 + acceleration, 1e-9);
}

/// A light box under a heavy one: the light one must not be thrown out, whatever the ratio of the momenta.
TEST(RigidContact, AHeavyBoxStaysOnALightOneOrTheRunSaysSo) {
  for (const double ratio : {1e2, 1e6, 1e7, 1e8, 1e9, 1e12}) {
    BodyModel model;
    model.gravity = {0, 0, -kG};
    model.bodies = {body("light", 1, {0, 0, 0.1}), body("heavy", ratio, {0, 0, 0.3})};
    model.shapes = {box(0, {0.2, 0.2, 0.2}), box(1, {0.2, 0.2, 0.2}), ground_plane()};
    model.contacts = {contact("*", "*", 0.5, 0)};
    const Simulation r = run(model, options(1e-3, 0.1));
    if (ratio <= 1e8) {
      EXPECT_EQ(r.status, Status::success) << ratio << ": " << r.message;
    }
    if (r.status != Status::success) continue;
    EXPECT_NEAR(r.final.q[2], 0.1, 1e-8) << ratio;
    EXPECT_NEAR(r.final.q[9], 0.3, 1e-8) << ratio;
  }
}

/// What rounding allows lies above the tolerance: with `strict` the run ends, and says which key lets it pass.
TEST(RigidContact, AStepAboveItsToleranceGoesOnAndIsCountedUnlessTheRunIsStrict) {
  BodyModel model;
  model.gravity = {0, 0, -kG};
  model.bodies = {body("light", 1, {0, 0, 0.1}), body("heavy", 1e9, {0, 0, 0.3})};
  model.shapes = {box(0, {0.2, 0.2, 0.2}), box(1, {0.2, 0.2, 0.2}), ground_plane()};
  model.contacts = {contact("*", "*", 0.5, 0)};
  SimulationOptions o = options(1e-3, 0.02);
  o.moreau.contact_tolerance = 1e-8;
  const Simulation counted = run(model, o);
  double above = 0;
  for (const AuditItem& item : counted.audit)
    if (item.name == "above_tolerance") above = item.value;
  if (counted.status == Status::success) {
    EXPECT_GT(above, 0);
  }
  o.moreau.strict = true;
  const Simulation strict = run(model, o);
  EXPECT_EQ(strict.status, Status::not_converged);
  EXPECT_NE(strict.message.find("run.moreau.contact_tolerance="), std::string::npos) << strict.message;
}

}  // namespace
}  // namespace stickslip::rigid_contact_test
