// SPDX-License-Identifier: Apache-2.0
// Blows of shapes in `moreau`: nothing is inside anything at the end of a step, blows that follow one another within a
// step come in time, and what they do to the energy is booked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/audit_value.hpp"
#include "tests/support/body_models.hpp"

namespace stickslip::blows_of_a_step_test {
namespace {

using namespace body_models;
using Eigen::Vector3d;

constexpr double kAllowed = 1e-6;  // of the smallest radius or half edge

Shape wall(const Vector3d& normal, double distance) {
  Shape s = ground_plane(normal);
  s.pose.position = -distance * normal;
  return s;
}

struct Watched {
  Simulation run;
  double deepest = 0;  // at the end of any step [m]
};

Watched watch(const BodyModel& model, const SimulationOptions& o) {
  const std::unique_ptr<System> system = make_system(model);
  SystemWorkspace workspace(*system);
  ContactPoints points;
  Watched watched;
  SimulationHooks hooks;
  hooks.keep_going = [&](const State& state) {
    system->laws().contact_source().find(state.t, state.q, 0.0, workspace, points);
    for (const ContactSite& point : points.points) watched.deepest = std::max(watched.deepest, -point.gap);
    return true;
  };
  watched.run = simulate(*system, start(model), o, hooks);
  return watched;
}

/// Bodies thrown about in a box with gravity.
BodyModel thrown(bool boxes, ImpactLaw law, double mu, double e) {
  BodyModel model;
  model.gravity = {0, 0, -9.81};
  for (int k = 0; k < 12; ++k) {
    const Vector3d place(0.12 * (k % 2 - 0.5) + 0.01 * std::sin(3 * k), 0.12 * (k / 2 % 2 - 0.5), 0.1 + 0.13 * (k / 4));
    model.bodies.push_back(body("b" + std::to_string(k), 0.3 + 0.1 * (k % 3), place,
                                {std::sin(7 * k), std::cos(5 * k), -1}, {4 * std::sin(k), 3, 5 * std::cos(k)}));
    model.shapes.push_back(boxes ? box(k, {0.08, 0.07, 0.06}) : sphere(k, 0.05));
  }
  model.shapes.push_back(wall(Vector3d::UnitZ(), 0));
  for (const Vector3d& n : {Vector3d(1, 0, 0), Vector3d(-1, 0, 0), Vector3d(0, 1, 0), Vector3d(0, -1, 0)})
    model.shapes.push_back(wall(n, 0.15));
  model.contacts = {contact("*", "*", mu, e)};
  model.contacts[0].law.impact = law;
  return model;
}

TEST(BlowsOfAStep, LeaveNothingInsideAtItsEnd) {
  for (const double e : {0.0, 0.5, 0.9})
    for (const bool boxes : {false, true}) {
      const Watched w = watch(thrown(boxes, ImpactLaw::newton, 0.3, e), options(1e-3, 0.8));
      ASSERT_EQ(w.run.status, Status::success) << w.run.message;  // the balance of energy is closed
      EXPECT_LT(w.deepest, kAllowed * (boxes ? 0.03 : 0.05)) << e << (boxes ? " boxes" : " spheres");
    }
  for (const ImpactLaw law : {ImpactLaw::poisson, ImpactLaw::energetic}) {
    const Watched w = watch(thrown(false, law, 0.3, 0.7), options(1e-3, 0.8));
    ASSERT_EQ(w.run.status, Status::success) << w.run.message;
    EXPECT_LT(w.deepest, kAllowed * 0.05) << static_cast<int>(law);
    EXPECT_LT(audit_value(w.run, "contact_gain"), 1e-12);
  }
}

TEST(BlowsOfAStep, AreTakenAtOnceInARowOfElasticSpheres) {
  constexpr int kSpheres = 10;
  constexpr double kGap = 2e-5, kSpeed = 3, kFirst = 0.02, kRadius = 0.05, kEnd = 0.05;
  for (const double h : {1e-3, 2.5e-4}) {  // the way of a step is many gaps
    BodyModel model;
    for (int k = 0; k < kSpheres; ++k) {
      const double x = k == 0 ? 0.0 : kFirst + 2 * kRadius * k + kGap * (k - 1);
      model.bodies.push_back(body("b" + std::to_string(k), 1, {x, 0, 0}, {k == 0 ? kSpeed : 0.0, 0, 0}));
      model.shapes.push_back(sphere(k, kRadius));
    }
    model.contacts = {contact("*", "*", 0, 1)};
    const Watched w = watch(model, options(h, kEnd));
    ASSERT_EQ(w.run.status, Status::success) << w.run.message;
    EXPECT_LT(w.deepest, kAllowed * kRadius);
    for (int k = 0; k + 1 < kSpheres; ++k) EXPECT_NEAR(w.run.final.v[6 * k], 0, 1e-12) << k;
    EXPECT_NEAR(w.run.final.v[6 * (kSpheres - 1)], kSpeed, 1e-12);
    // The first blow is in time to a step, the others follow in that step.
    const double way = w.run.final.q[7 * (kSpheres - 1)] - model.bodies.back().position.x();
    EXPECT_NEAR(way, kSpeed * kEnd - kFirst - (kSpheres - 2) * kGap, h * kSpeed);
  }
}

TEST(BlowsOfAStep, OfABallBetweenTwoWallsComeInTime) {
  constexpr double kHalf = 0.3, kRadius = 0.05, kSpeed = 3, kEnd = 1.0;
  for (const double e : {1.0, 0.8})
    for (const double h : {2e-3, 5e-4}) {
      BodyModel model;
      model.bodies = {body("ball", 1, {0, 0, 0}, {kSpeed, 0, 0})};
      model.shapes = {sphere(0, kRadius), wall({1, 0, 0}, kHalf), wall({-1, 0, 0}, kHalf)};
      model.contacts = {contact("ball", "ground", 0, e)};
      const Watched w = watch(model, options(h, kEnd));
      ASSERT_EQ(w.run.status, Status::success) << w.run.message;
      double x = 0, v = kSpeed, left = kEnd;
      int bounces = 0;
      for (;; ++bounces) {
        const double to_wall = (kHalf - kRadius - x * (v > 0 ? 1 : -1)) / std::abs(v);
        if (to_wall > left) break;
        x = (v > 0 ? 1 : -1) * (kHalf - kRadius);
        v *= -e;
        left -= to_wall;
      }
      ASSERT_GT(bounces, 2);
      EXPECT_LT(w.deepest, kAllowed * kRadius);
      EXPECT_NEAR(w.run.final.v[0], v, 1e-12);
      EXPECT_NEAR(w.run.final.q[0], x + v * left, 2 * bounces * h * kSpeed) << e << ' ' << h;
      EXPECT_EQ(audit_value(w.run, "energy_correction"), 0.0);
    }
}

/// It needs no help: its blows come before it would be inside.
TEST(BlowsOfAStep, ABallThatComesToRestOnTheGroundLiesOnIt) {
  BodyModel model;
  model.gravity = {0, 0, -9.81};
  model.bodies = {body("ball", 1, {0, 0, 0.5}, {0.3, 0, 0})};
  model.shapes = {sphere(0, 0.1), ground_plane()};
  model.contacts = {contact("ball", "ground", 0.4, 0.6)};
  const Watched w = watch(model, options(1e-3, 4));
  ASSERT_EQ(w.run.status, Status::success) << w.run.message;
  EXPECT_LT(w.deepest, kAllowed * 0.1);
  EXPECT_NEAR(w.run.final.q[2], 0.1, 1e-12);
  EXPECT_EQ(w.run.final.v[2], 0.0);
  EXPECT_EQ(audit_value(w.run, "energy_correction"), 0.0);
}

}  // namespace
}  // namespace stickslip::blows_of_a_step_test
