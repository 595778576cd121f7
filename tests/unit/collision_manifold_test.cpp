// SPDX-License-Identifier: Apache-2.0
// Manifolds: how many points, exactly how deep, and that they stay what they are when the pose changes a little.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/unit/collision_samples.hpp"

namespace stickslip::collision_manifold_test {
namespace {

using namespace collision_samples;

constexpr double pi = std::numbers::pi;
const Eigen::Quaterniond upright = Eigen::Quaterniond::Identity();

Eigen::Quaterniond small_turn(Random& random, double angle) {
  return turn(uniform(random, -angle, angle), direction(random));
}

TEST(CollisionManifold, BoxOnLargerBoxHasItsFourCornersToRoundOff) {
  for (const Shape& above : {box({1, 1, 1}), hull(box_points({1, 1, 1}))}) {
    for (const Shape& below : {box({2, 2, 1}), hull(box_points({2, 2, 1}))}) {
      for (const double gap : {-1e-4, -1e-12, 0.0, 1e-12, 1e-4}) {
        const auto points = Pair(above, below).at({0.1, 0.2, 1.0 + gap}, upright).find();
        ASSERT_EQ(points.size(), 4u);
        for (const ContactPoint& p : points) {
          EXPECT_NEAR(p.gap, gap, 2.3e-16);  // the spacing of doubles at 1
          EXPECT_EQ(p.normal, Vector3(Vector3::UnitZ()));
          EXPECT_NEAR(std::abs(p.position.x() - 0.1), 0.5, 1e-15);
          EXPECT_NEAR(std::abs(p.position.y() - 0.2), 0.5, 1e-15);
        }
      }
    }
  }
}

TEST(CollisionManifold, EachCornerOfATiltedCubeHasItsOwnGap) {
  Pair pair(box({1, 1, 1}), box({3, 3, 1}));
  for (const double angle : {1e-12, 1e-9, 1e-6, 1e-4}) {
    for (const double lift : {-2e-4, 2e-4}) {
      const Eigen::Quaterniond tilt = turn(angle, Vector3(3, 4, 0) / 5.0);
      const auto points = pair.at({0.1, 0.2, 1.0 + lift}, tilt).find();
      ASSERT_EQ(points.size(), 4u) << angle;
      for (const ContactPoint& p : points) {
        const int vertex = static_cast<int>((p.feature >> 32) & 7U);
        const Vector3 corner = pair.a.x + pair.a.R * pair.ga.core.vertices[vertex];
        // Along a normal that is off by the tilt the height is off by its square.
        EXPECT_NEAR(p.gap, corner.z() - 0.5, 1e-15 + angle * angle);
      }
    }
  }
}

TEST(CollisionManifold, OverlapOfTwoSquaresHasEightCornersAtFortyFiveDegreesAndFourWhenCrossed) {
  for (const double gap : {-1e-5, 1e-5}) {
    const auto octagon =
        Pair(box({1, 1, 1}), box({1, 1, 1})).at({0, 0, 1 + gap}, turn(pi / 4, Vector3::UnitZ())).find();
    ASSERT_EQ(octagon.size(), 8u);
    for (const ContactPoint& p : octagon) {
      EXPECT_NEAR(p.gap, gap, 4e-16);
      EXPECT_NEAR(std::max(std::abs(p.position.x()), std::abs(p.position.y())), 0.5, 1e-15);
      EXPECT_NEAR(std::min(std::abs(p.position.x()), std::abs(p.position.y())), std::sqrt(0.5) - 0.5, 1e-15);
    }
    const auto crossed = Pair(box({3, 0.4, 1}), box({0.6, 3, 1})).at({0.1, 0.2, 1 + gap}, upright).find();
    ASSERT_EQ(crossed.size(), 4u);
    for (const ContactPoint& p : crossed) {
      EXPECT_NEAR(std::abs(p.position.x()), 0.3, 1e-15);
      EXPECT_NEAR(std::abs(p.position.y() - 0.2), 0.2, 1e-15);
    }
  }
}

TEST(CollisionManifold, OverhangingBoxHasTheCornersOfTheOverlap) {
  const auto points = Pair(box({1, 1, 1}), box({2, 2, 1})).at({0.9, 0.0, 1.0}, upright).find();
  ASSERT_EQ(points.size(), 4u);
  for (const ContactPoint& p : points) {
    EXPECT_TRUE(std::abs(p.position.x() - 0.4) < 1e-15 || std::abs(p.position.x() - 1.0) < 1e-15) << p.position.x();
    EXPECT_NEAR(p.gap, 0.0, 1e-15);
  }
}

TEST(CollisionManifold, CubeOnItsEdgeTouchesAlongIt) {
  for (const Shape& below : {box({4, 4, 1}), plane(0), hull(box_points({4, 4, 1}))}) {
    const double top = below.kind == ShapeKind::plane ? 0.0 : 0.5;
    for (const double gap : {-1e-5, 1e-5}) {
      const auto points =
          Pair(box({1, 1, 1}), below).at({0, 0, top + std::sqrt(0.5) + gap}, turn(pi / 4, Vector3::UnitX())).find();
      ASSERT_EQ(points.size(), 2u);
      for (const ContactPoint& p : points) {
        EXPECT_NEAR(p.gap, gap, 4e-16);
        EXPECT_NEAR(std::abs(p.position.x()), 0.5, 1e-15);
      }
    }
  }
}

/// Number, order and names of the points must not change, gaps and places only as much as the pose did.
void expect_stable(Pair& pair, const Vector3& x, const Eigen::Quaterniond& q, double step, std::size_t count) {
  Random random(29);
  const auto rest = pair.at(x, q).find();
  ASSERT_EQ(rest.size(), count);
  for (int i = 0; i < 300; ++i) {
    const Vector3 shift = step * direction(random);
    const auto moved = pair.at(x + shift, small_turn(random, step) * q).find();
    ASSERT_EQ(moved.size(), count) << i;
    for (std::size_t k = 0; k < count; ++k) {
      EXPECT_EQ(moved[k].feature, rest[k].feature) << i;
      EXPECT_LE(std::abs(moved[k].gap - rest[k].gap), 3.0 * step);
      EXPECT_LE((moved[k].position - rest[k].position).norm(), 10.0 * step);
      EXPECT_LE((moved[k].normal - rest[k].normal).norm(), 3.0 * step);
    }
    if (testing::Test::HasFailure()) return;
  }
}

TEST(CollisionManifold, RestingBodiesKeepTheirPointsUnderPerturbations) {
  const Eigen::Quaterniond lying = turn(pi / 2, Vector3::UnitX()), heading = turn(0.3, Vector3::UnitZ());
  for (const double step : {1e-12, 1e-9}) {
    for (const double gap : {-1e-4, 0.0, 1e-4}) {
      const auto check = [&](const Shape& above, const Shape& below, const Vector3& x, const Eigen::Quaterniond& q,
                             std::size_t count) {
        Pair pair(above, below);
        expect_stable(pair, x + gap * Vector3::UnitZ(), q, step, count);
        EXPECT_FALSE(testing::Test::HasFailure())
            << name_of(above.kind) << " on " << name_of(below.kind) << " gap " << gap;
      };
      check(box({1, 1, 1}), plane(0), {0, 0, 0.5}, heading, 4);
      check(box({1, 1, 1}), box({2, 2, 1}), {0.1, 0.2, 1.0}, heading, 4);
      check(box({1, 1, 1}), box({1, 1, 1}), {0, 0, 1.0}, upright, 4);  // a stack of equal cubes
      check(box({1, 1, 1}), hull(box_points({1, 1, 1})), {0, 0, 1.0}, upright, 4);
      check(hull(box_points({1, 1, 1})), hull(box_points({2, 2, 1})), {0.1, 0.2, 1.0}, heading, 4);
      check(box({1, 1, 1}), box({1, 1, 1}), {0, 0, 1.0}, turn(pi / 4, Vector3::UnitZ()), 8);
      check(box({3, 0.4, 1}), box({0.6, 3, 1}), {0.1, 0.2, 1.0}, upright, 4);
      check(cylinder(0.5, 1), plane(0), {0, 0, 0.5}, heading, 4);
      check(cylinder(0.5, 1), box({2, 2, 1}), {0.1, 0.2, 1.0}, heading, 4);
      check(cylinder(0.5, 1), plane(0), {0, 0, 0.5}, lying, 2);
      check(cylinder(0.5, 1), box({2, 2, 1}), {0.1, 0.2, 1.0}, lying, 2);
      check(cylinder(0.5, 1), cylinder(0.9, 1), {0.05, 0.1, 1.0}, heading, 4);
      check(capsule(0.5, 1), plane(0), {0, 0, 0.5}, lying, 2);
      check(capsule(0.5, 1), box({2, 2, 1}), {0.1, 0.2, 1.0}, lying, 2);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(CollisionManifold, RollingCylinderTouchesItsExactCircleAtEveryAngle) {
  for (const Shape& below : {plane(0), box({4, 4, 1})}) {
    const double top = below.kind == ShapeKind::plane ? 0.0 : 0.5;
    Pair pair(cylinder(0.5, 1), below);
    for (double angle = 0.0; angle < 7.0; angle += 0.01) {
      const Eigen::Quaterniond q = turn(angle, Vector3::UnitY()) * turn(pi / 2, Vector3::UnitX());
      const auto points = pair.at({0.1, 0, top + 0.5}, q).find(1e-2);
      ASSERT_EQ(points.size(), 2u) << angle;
      for (const ContactPoint& p : points) {
        EXPECT_NEAR(p.gap, 0.0, 1e-15);
        EXPECT_NEAR(p.position.x(), 0.1, 1e-15);
      }
    }
  }
}

TEST(CollisionManifold, CapChangesItsPointsByLessThanAMillionthOfTheRadius) {
  // The lowest point of the rim is exact on both sides of the change from fixed to turning points.
  Pair pair(cylinder(0.5, 1), plane(0));
  for (const double angle : {0.5e-7, 0.9e-7, 1.1e-7, 1e-6, 1e-3}) {
    const auto points = pair.at({0, 0, 0.5}, turn(angle, Vector3(std::cos(0.6), std::sin(0.6), 0))).find(0.01);
    ASSERT_EQ(points.size(), 4u);
    const double lowest_rim = 0.5 - 0.5 * std::cos(angle) - 0.5 * std::sin(angle);
    EXPECT_NEAR(deepest(points), lowest_rim, angle < 1e-7 ? 3e-8 : 1e-15);
  }
}

TEST(CollisionManifold, GapsAreContinuousWhileABoxTipsFromFaceToEdge) {
  Pair pair(box({1, 1, 1}), box({4, 4, 1}));
  double before = 0.0;
  for (double angle = 0.0; angle < pi / 2; angle += 1e-3) {
    const double lowest_corner = std::sqrt(0.5) * std::cos(pi / 4 - angle);
    const auto points = pair.at({0, 0, 0.5 + lowest_corner}, turn(angle, Vector3::UnitX())).find(0.2);
    ASSERT_GE(points.size(), 2u) << angle;
    ASSERT_NEAR(deepest(points), 0.0, 1e-15) << angle;
    double sum = 0.0;
    for (const ContactPoint& p : points)
      sum += std::max(0.0, 0.2 - p.gap);  // a penalty force: no point appears at once
    if (angle > 0.0) {
      EXPECT_LE(std::abs(sum - before), 5e-3) << angle;
    }
    before = sum;
  }
}

}  // namespace
}  // namespace stickslip::collision_manifold_test
