// SPDX-License-Identifier: Apache-2.0
// Polygonal and box friction cones against the round one: how the motion differs, and that facets make it vanish.
#include <gtest/gtest.h>

#include "tests/support/body_models.hpp"

namespace stickslip::cone_facets_test {
namespace {

using namespace body_models;

/// A flat block that slides over a level plane in a direction between two facets, until it rests.
Eigen::Vector3d stopped_at(SetKind cone, int facets) {
  const double angle = 0.3;
  BodyModel model = cube_on_plane(0.4, 0, {2 * std::cos(angle), 2 * std::sin(angle), 0});
  model.shapes[0].size = {1, 1, 1e-3};
  model.bodies[0].position = {0, 0, 5e-4};
  model.contacts[0].law.cone = cone;
  model.contacts[0].law.facets = facets;
  const Simulation r = run(model, options(1e-3, 2));
  EXPECT_EQ(r.status, Status::success) << r.message;
  return r.final.q.head<3>();
}

TEST(ConeFacets, MotionApproachesThatOfTheDiskAsFacetsGrow) {
  const Eigen::Vector3d round = stopped_at(SetKind::friction_cone, 8);
  EXPECT_NEAR(round.norm(), 4 / (2 * 0.4 * 9.81), 1e-3);
  double previous = 0;
  for (const int facets : {8, 16, 32, 64}) {
    const double error = (stopped_at(SetKind::polygonal_cone, facets) - round).norm();
    RecordProperty("facets_" + std::to_string(facets), std::to_string(error));
    // Friction points to a vertex, up to π/facets off the velocity: the path bends by that much, less at each doubling.
    EXPECT_LT(error, 0.6 * round.norm() * M_PI / facets) << facets;
    if (previous > 0) {
      EXPECT_LT(error, 0.75 * previous) << facets;
    }
    previous = error;
  }
}

TEST(ConeFacets, BoxConeDecouplesTheTwoTangents) {
  // |r_1|, |r_2| <= μ r_N: each tangent brakes with μ g by itself.
  const Eigen::Vector3d end = stopped_at(SetKind::box_cone, 8);
  const double vx = 2 * std::cos(0.3), vy = 2 * std::sin(0.3);
  EXPECT_NEAR(end.x(), vx * vx / (2 * 0.4 * 9.81), 1e-3);
  EXPECT_NEAR(end.y(), vy * vy / (2 * 0.4 * 9.81), 1e-3);
}

}  // namespace
}  // namespace stickslip::cone_facets_test
