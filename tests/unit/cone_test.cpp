// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/cone.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/set_samples.hpp"

namespace stickslip::cone_test {
namespace {

using samples::minus;
using samples::norm;
using samples::Point;
using samples::projection;
using samples::Random;
using samples::uniform;

// Coordinates of size 10 through a dozen operations.
constexpr double rounding = 10.0 * 32.0 * std::numeric_limits<double>::epsilon();

double residual(const Set& set, const Point& r, const Point& u) { return inclusion_residual(set, r, u); }

TEST(CoulombInPlane, HoldsForOpenStickingAndSlidingContacts) {
  const Set cone = friction_cone_set(0.5, 2);
  EXPECT_LE(residual(cone, {0.0, 0.0}, {3.0, 7.0}), rounding);   // open: free to move
  EXPECT_LE(residual(cone, {0.0, 0.0}, {0.0, -7.0}), rounding);  // touching without force, sliding
  EXPECT_LE(residual(cone, {4.0, 1.9}, {0.0, 0.0}), rounding);   // stick below the limit
  EXPECT_LE(residual(cone, {4.0, -2.0}, {0.0, 0.0}), rounding);  // stick at the limit
  EXPECT_LE(residual(cone, {4.0, -2.0}, {0.0, 3.0}), rounding);  // slides to +: force to -
  EXPECT_LE(residual(cone, {4.0, 2.0}, {0.0, -3.0}), rounding);  // slides to -: force to +
}

TEST(CoulombInPlane, FailsWhenAnyOneConditionIsBroken) {
  const Set cone = friction_cone_set(0.5, 2);
  EXPECT_GT(residual(cone, {0.0, 0.0}, {-1.0, 0.0}), 0.5);  // penetrates without force
  EXPECT_GT(residual(cone, {4.0, 0.0}, {1.0, 0.0}), 0.5);   // opens under force
  EXPECT_GT(residual(cone, {-1.0, 0.0}, {0.0, 0.0}), 0.5);  // adhesion
  EXPECT_GT(residual(cone, {4.0, 3.0}, {0.0, 0.0}), 0.5);   // sticks above the limit
  EXPECT_GT(residual(cone, {4.0, 2.0}, {0.0, 3.0}), 0.5);   // drives the motion
  EXPECT_GT(residual(cone, {4.0, -1.0}, {0.0, 3.0}), 0.5);  // slides below the limit
  // Sliding that opens the contact by μ|u_T| obeys the inclusion without shift, and is wrong.
  EXPECT_LE(normal_cone_residual(cone, Point{4.0, -2.0}, Point{-1.5, -3.0}), rounding);
  EXPECT_GT(residual(cone, {4.0, -2.0}, {1.5, 3.0}), 0.5);
}

TEST(CoulombInSpace, HoldsForOpenStickingAndSlidingContacts) {
  const Set cone = friction_cone_set(0.5, 3);
  EXPECT_LE(residual(cone, {0.0, 0.0, 0.0}, {3.0, 7.0, -1.0}), rounding);
  EXPECT_LE(residual(cone, {4.0, 1.0, -1.0}, {0.0, 0.0, 0.0}), rounding);
  EXPECT_LE(residual(cone, {10.0, -3.0, -4.0}, {0.0, 0.6, 0.8}), rounding);
  EXPECT_LE(residual(cone, {10.0, -3.0, -4.0}, {0.0, 60.0, 80.0}), 10.0 * rounding);
}

TEST(CoulombInSpace, FailsWhenAnyOneConditionIsBroken) {
  const Set cone = friction_cone_set(0.5, 3);
  EXPECT_GT(residual(cone, {0.0, 0.0, 0.0}, {-1.0, 0.0, 0.0}), 0.5);
  EXPECT_GT(residual(cone, {4.0, 0.0, 0.0}, {1.0, 0.0, 0.0}), 0.5);
  EXPECT_GT(residual(cone, {10.0, 4.0, 4.0}, {0.0, 0.0, 0.0}), 0.1);    // |r_T| = 5.66 > 5
  EXPECT_GT(residual(cone, {10.0, -4.0, -3.0}, {0.0, 6.0, 8.0}), 0.5);  // force not against the velocity
  EXPECT_GT(residual(cone, {10.0, 3.0, 4.0}, {0.0, 6.0, 8.0}), 0.5);
}

TEST(CoulombInSpace, SlidingInRandomDirectionsSatisfiesTheInclusionForEveryScaling) {
  Random random(21);
  for (int i = 0; i < 3000; ++i) {
    const double mu = uniform(random, 0.0, 2.0), normal = uniform(random, 0.0, 5.0);
    const double speed = uniform(random, 0.1, 3.0), angle = uniform(random, 0.0, 6.3);
    const Point r{normal, -mu * normal * std::cos(angle), -mu * normal * std::sin(angle)};
    const Point u{0.0, speed * std::cos(angle), speed * std::sin(angle)};
    for (const double rho : {0.01, 1.0, 30.0}) {
      ASSERT_LE(inclusion_residual(friction_cone_set(mu, 3), r, u, rho), 10.0 * (1.0 + rho) * rounding);
    }
  }
}

TEST(PolygonalCoulomb, PutsTheForceOfMaximalDissipationOnAVertexAndKeepsTheContactClosed) {
  Random random(22);
  for (const Set& set : {polygonal_cone_set(0.5, 4), polygonal_cone_set(0.7, 8), box_cone_set(0.5)}) {
    const auto vertices = samples::section_vertices(set);
    for (int i = 0; i < 1000; ++i) {
      const Point u{0.0, uniform(random, -3.0, 3.0), uniform(random, -3.0, 3.0)};
      const Point* best = &vertices[0];
      const Point* worst = &vertices[0];
      for (const Point& v : vertices) {
        if (v[0] * u[1] + v[1] * u[2] < (*best)[0] * u[1] + (*best)[1] * u[2]) best = &v;
        if (v[0] * u[1] + v[1] * u[2] > (*worst)[0] * u[1] + (*worst)[1] * u[2]) worst = &v;
      }
      const double normal = uniform(random, 0.5, 4.0);
      const Point r{normal, normal * (*best)[0], normal * (*best)[1]};
      ASSERT_LE(residual(set, r, u), rounding);
      // Opening with the same force, or the opposite force, breaks the law.
      ASSERT_GT(residual(set, r, {0.5, u[1], u[2]}), 0.05);
      if (norm(u) > 0.5) {
        ASSERT_GT(residual(set, {normal, normal * (*worst)[0], normal * (*worst)[1]}, u), 0.05);
      }
      // Open, and sliding at zero force.
      ASSERT_LE(residual(set, {0.0, 0.0, 0.0}, u), rounding);
      ASSERT_LE(residual(set, {0.0, 0.0, 0.0}, {1.0, u[1], u[2]}), rounding);
      ASSERT_GT(residual(set, {0.0, 0.0, 0.0}, {-1.0, u[1], u[2]}), 0.05);
    }
  }
}

TEST(PolygonalCoulomb, SlidingSquareToAFacetAdmitsEveryForceOfThatFacet) {
  const Set box = box_cone_set(0.5);
  for (const double share : {-1.0, -0.3, 0.0, 0.8, 1.0}) {
    EXPECT_LE(residual(box, {4.0, -2.0, 2.0 * share}, {0.0, 3.0, 0.0}), rounding) << share;
  }
  EXPECT_GT(residual(box, {4.0, -1.0, 0.0}, {0.0, 3.0, 0.0}), 0.5);
}

TEST(FrictionlessCone, IsTheNormalHalfLine) {
  for (const Set& set : {friction_cone_set(0.0, 3), polygonal_cone_set(0.0, 8), box_cone_set(0.0)}) {
    EXPECT_LE(residual(set, {2.0, 0.0, 0.0}, {0.0, 3.0, -1.0}), rounding);
    EXPECT_LE(residual(set, {0.0, 0.0, 0.0}, {2.0, 3.0, -1.0}), rounding);
    EXPECT_GT(residual(set, {2.0, 0.1, 0.0}, {0.0, 0.0, 0.0}), 0.05);
    EXPECT_GT(residual(set, {0.0, 0.0, 0.0}, {-2.0, 0.0, 0.0}), 0.5);
  }
}

TEST(BoxCone, IsTheFourSidedPolygonalConeTurnedByAnEighth) {
  // Two code paths for one body: the square of half-width μ is the 4-gon of radius √2 μ turned by 45 degrees.
  Random random(23);
  const double mu = 0.6, root = std::sqrt(0.5);
  const Set box = box_cone_set(mu), polygon = polygonal_cone_set(mu / root, 4);
  for (int i = 0; i < 5000; ++i) {
    const Point z{uniform(random, -4.0, 4.0), uniform(random, -4.0, 4.0), uniform(random, -4.0, 4.0)};
    const Point turned{z[0], root * (z[1] + z[2]), root * (z[2] - z[1])};
    const Point p = projection(box, z), q = projection(polygon, turned);
    ASSERT_LE(norm(minus(p, Point{q[0], root * (q[1] - q[2]), root * (q[1] + q[2])})), rounding);
  }
}

TEST(PolygonalCone, WithManyFacetsApproachesCoulombsConeQuadratically) {
  // Inscribed with n facets: the sections differ by μ r_N (1 - cos(π/n)), to first order also the projections.
  Random random(24);
  const Set cone = friction_cone_set(0.8, 3);
  for (const int facets : {16, 64, 256, 1024}) {
    double largest = 0.0;
    for (int i = 0; i < 2000; ++i) {
      const Point z{uniform(random, -1.0, 1.0), uniform(random, -1.0, 1.0), uniform(random, -1.0, 1.0)};
      // Distances to the two sets differ by no more than the sets do (the projections only by its square root).
      largest = std::max(largest, std::abs(distance(cone, z) - distance(polygonal_cone_set(0.8, facets), z)));
    }
    const double gap = 0.8 * std::sqrt(3.0) * (1.0 - std::cos(std::numbers::pi / facets));
    EXPECT_LE(largest, gap + rounding) << facets;
    EXPECT_GE(largest, 0.1 * gap) << facets;
  }
}

TEST(PlanarCone, IsTheSpatialConeWithoutSecondTangent) {
  Random random(25);
  for (int i = 0; i < 3000; ++i) {
    const double mu = uniform(random, 0.0, 2.0);
    const Point z{uniform(random, -4.0, 4.0), uniform(random, -4.0, 4.0)};
    const Point p = projection(friction_cone_set(mu, 2), z);
    const Point q = projection(friction_cone_set(mu, 3), {z[0], z[1], 0.0});
    ASSERT_LE(norm(minus(Point{p[0], p[1], 0.0}, q)), rounding);
  }
}

}  // namespace
}  // namespace stickslip::cone_test
