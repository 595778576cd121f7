// SPDX-License-Identifier: Apache-2.0
// What contact must never change: momentum in free space, a body at rest, the sign of the energy.
#include <gtest/gtest.h>

#include <random>

#include "stickslip/common/error.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/body_models.hpp"

namespace stickslip::contact_invariants_test {
namespace {

using namespace body_models;
using Eigen::Vector3d;

/// Boxes and spheres thrown at each other without gravity.
BodyModel swarm(double mu, double restitution) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(-1, 1);
  BodyModel model;
  for (int k = 0; k < 12; ++k) {
    const Vector3d place(1.2 * (k % 3 - 1), 1.2 * (k / 3 % 2), 1.2 * (k / 6));
    const Vector3d inward = -0.8 * (place - Vector3d(0, 0.6, 0.6));
    RigidBody b = body("b" + std::to_string(k), 1 + 0.3 * k, place, inward,
                       {3 * unit(random), 3 * unit(random), 3 * unit(random)});
    const double size = 0.5 + 0.2 * unit(random);
    if (k % 2 == 0) {
      model.shapes.push_back(sphere(k, 0.5 * size));
      b.inertia = 0.1 * b.mass * size * size * Eigen::Matrix3d::Identity();
    } else {
      model.shapes.push_back(box(k, {size, 0.7 * size, 0.5 * size}));
      b.inertia = (b.mass * size * size / 12 * Vector3d(0.74, 1.25, 1.49)).asDiagonal();
    }
    model.bodies.push_back(b);
  }
  model.contacts = {contact("*", "*", mu, restitution)};
  return model;
}

TEST(ContactInvariants, FreeCollisionsKeepMomentumAndAngularMomentum) {
  for (const double e : {0.0, 0.6}) {
    const BodyModel model = swarm(0.4, e);
    const State s = start(model);
    const Simulation r = run(model, options(2e-3, 3));
    ASSERT_EQ(r.status, Status::success) << r.message;
    ASSERT_GT(r.trajectory.events.size(), 5u);
    const double scale = 20;  // Σ m |v|
    EXPECT_LT((momentum(model, r.final.v) - momentum(model, s.v)).norm(), 1e-13 * scale);
    // Correction of penetration moves bodies by impulses of zero sum: positions change, momentum about the origin may
    // not, beyond the product of the two.
    EXPECT_LT((angular_momentum(model, r.final.q, r.final.v) - angular_momentum(model, s.q, s.v)).norm(),
              1e-11 * scale);
  }
}

TEST(ContactInvariants, ContactsWithoutRestitutionMakeNoEnergy) {
  const Simulation r = run(swarm(0.4, 0), options(2e-3, 3));
  EXPECT_LT(audit_value(r, "contact_gain"), 1e-12);
  for (Index row = 1; row < r.trajectory.rows(); ++row)
    EXPECT_LE(r.trajectory.energy(row).kinetic, r.trajectory.energy(row - 1).kinetic * (1 + 1e-12));
}

TEST(ContactInvariants, CubeAtRestDoesNotMoveInAHundredThousandSteps) {
  const BodyModel model = cube_on_plane(0.5);
  const State s = start(model);
  const Simulation r = run(model, options(1e-3, 100));
  ASSERT_EQ(r.status, Status::success) << r.message;
  ASSERT_EQ(r.steps, 100000);
  EXPECT_LT((r.final.q - s.q).lpNorm<Eigen::Infinity>(), 1e-12);
  EXPECT_LE(audit_value(r, "most_iterations"), 20);
  EXPECT_TRUE(r.trajectory.events.size() <= 1) << r.trajectory.events.size();  // it closes once
}

TEST(ContactInvariants, CubeDroppedFlatComesToRestWithoutPenetration) {
  BodyModel model = cube_on_plane(0.5);
  model.bodies[0].position.z() = 0.8;
  const Simulation r = run(model, options(1e-3, 3));
  ASSERT_EQ(r.status, Status::success) << r.message;
  EXPECT_NEAR(r.final.q[2], 0.5, 1e-9);
  EXPECT_LT(r.final.v.norm(), 1e-12);
  EXPECT_LT(audit_value(r, "penetration"), 1e-6);
}

TEST(ContactInvariants, CoincidentContactsCarryTheLoadTogether) {
  BodyModel model = cube_on_plane(0.5);
  model.shapes.insert(model.shapes.begin(), model.shapes[0]);  // every contact point twice
  model.bodies[0].inertia = Eigen::Matrix3d::Identity() / 6;
  const State s = start(model);
  const Simulation r = run(model, options(1e-3, 1));
  ASSERT_EQ(r.status, Status::success) << r.message;
  EXPECT_LT((r.final.q - s.q).lpNorm<Eigen::Infinity>(), 1e-12);
  EXPECT_NEAR(r.final_reaction[0], 9.81, 1e-9);
}

TEST(ContactInvariants, StartThatPenetratesIsRefusedByName) {
  BodyModel model = cube_on_plane(0.5);
  model.bodies[0].position.z() = 0.49;
  try {
    run(model, options(1e-3, 1));
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("'cube_ground' penetrates by 0.01"), std::string::npos) << error.what();
  }
}

/// Newton's law with friction and e > 0: an oblique rod-like impact may gain energy; the audit must say so or have
/// none.
TEST(ContactInvariants, EnergyMadeByRestitutionIsReportedNotAsserted) {
  BodyModel model = cube_on_plane(0.9, 0, {3, 0, -1}, 0.9);
  model.shapes[0].size = {1, 0.2, 0.2};
  model.bodies[0].position = {0, 0, 0.6};
  model.bodies[0].orientation = Eigen::Quaterniond(Eigen::AngleAxisd(0.9, Eigen::Vector3d::UnitY()));
  model.bodies[0].spin = {0, 4, 0};
  const Simulation r = run(model, options(1e-4, 2));
  ASSERT_EQ(r.status, Status::success) << r.message;
  EXPECT_FALSE(audit_item(r, "contact_gain").guaranteed);
  EXPECT_TRUE(audit_item(r, "energy").guaranteed);
  EXPECT_TRUE(audit_item(r, "energy").ok);
  EXPECT_EQ(audit_item(r, "steps_with_contact_gain").value > 0, audit_item(r, "contact_gain").value > 1e-12);
}

TEST(ContactInvariants, MassRatioOfTenThousandRests) {
  BodyModel model = cube_on_plane(0.5);
  model.bodies.push_back(body("heavy", 1e4, {0, 0, 1.5}));
  model.shapes.insert(model.shapes.begin() + 1, box(1, {1, 1, 1}));
  model.contacts = {contact("*", "*", 0.5, 0)};
  const State s = start(model);
  const Simulation r = run(model, options(1e-3, 1));
  ASSERT_EQ(r.status, Status::success) << r.message;
  EXPECT_LT((r.final.q - s.q).lpNorm<Eigen::Infinity>(), 1e-10);
}

}  // namespace
}  // namespace stickslip::contact_invariants_test
