// SPDX-License-Identifier: Apache-2.0
// Closed forms of contact points, shape pair by shape pair.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/unit/collision_samples.hpp"

namespace stickslip::collision_pair_test {
namespace {

using namespace collision_samples;

constexpr double pi = std::numbers::pi;
// A dozen operations on numbers of size 1.
constexpr double rounding = 4e-15;
const Eigen::Quaterniond upright = Eigen::Quaterniond::Identity();
const Eigen::Quaterniond lying = turn(pi / 2.0, Vector3::UnitX());

void expect_point(const ContactPoint& p, double gap, const Vector3& position, const Vector3& normal,
                  double tolerance = rounding) {
  EXPECT_NEAR(p.gap, gap, tolerance);
  EXPECT_NEAR((p.position - position).norm(), 0.0, tolerance) << p.position.transpose();
  EXPECT_NEAR((p.normal - normal).norm(), 0.0, tolerance) << p.normal.transpose();
}

TEST(CollisionPair, SpheresTouchOnTheLineOfTheirCentres) {
  const Vector3 n(1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0);
  Pair pair(sphere(0.4), sphere(0.6));
  for (const double gap : {-1e-3, -1e-9, 0.0, 1e-9, 1e-3}) {
    const auto points = pair.at((1.0 + gap) * n, upright).find();
    ASSERT_EQ(points.size(), 1u) << gap;
    expect_point(points[0], gap, (0.6 + 0.5 * gap) * n, n);
  }
  EXPECT_TRUE(pair.at(1.002 * n, upright).find().empty());
}

TEST(CollisionPair, ConcentricSpheresStillHaveAUnitNormal) {
  const auto points = Pair(sphere(0.4), sphere(0.6)).at(Vector3::Zero(), upright).find();
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].gap, -1.0);
  EXPECT_EQ(points[0].normal.norm(), 1.0);
}

TEST(CollisionPair, SphereOnBoxMeetsFaceEdgeCornerAndInside) {
  Pair pair(sphere(0.25), box({2, 2, 2}));
  expect_point(pair.at({0.3, -0.2, 1.2501}, upright).find()[0], 1e-4, {0.3, -0.2, 1.00005}, Vector3::UnitZ());
  const Vector3 edge = Vector3(1, 0, 1).normalized(), corner = Vector3(-1, 1, 1).normalized();
  expect_point(pair.at(Vector3(1, 0.5, 1) + 0.25 * edge, upright).find()[0], 0.0, {1, 0.5, 1}, edge);
  expect_point(pair.at(Vector3(-1, 1, 1) + 0.24 * corner, upright).find()[0], -0.01, Vector3(-1, 1, 1) - 0.005 * corner,
               corner);
  expect_point(pair.at({0.1, -0.9, 0.2}, upright).find()[0], -0.35, {0.1, -0.825, 0.2}, -Vector3::UnitY());
}

TEST(CollisionPair, SphereOnCylinderMeetsCapSideRimAndInside) {
  Pair pair(sphere(0.25), cylinder(0.5, 1.0));
  expect_point(pair.at({0.1, 0.2, 0.75}, upright).find()[0], 0.0, {0.1, 0.2, 0.5}, Vector3::UnitZ());
  expect_point(pair.at({0.0, -0.75, 0.2}, upright).find()[0], 0.0, {0.0, -0.5, 0.2}, -Vector3::UnitY());
  const Vector3 rim = Vector3(1, 0, 1).normalized();
  expect_point(pair.at(Vector3(0.5, 0, 0.5) + 0.25 * rim, upright).find()[0], 0.0, {0.5, 0, 0.5}, rim);
  expect_point(pair.at({0.0, 0.0, 0.4}, upright).find()[0], -0.35, {0, 0, 0.325}, Vector3::UnitZ());
  expect_point(pair.at({0.45, 0.0, 0.0}, upright).find()[0], -0.3, {0.35, 0, 0}, Vector3::UnitX());
}

TEST(CollisionPair, SphereOnCapsuleMeetsSideAndEnd) {
  Pair pair(sphere(0.25), capsule(0.5, 1.0));
  expect_point(pair.at({0.75, 0, 0.3}, upright).find()[0], 0.0, {0.5, 0, 0.3}, Vector3::UnitX());
  expect_point(pair.at({0, 0, -1.25}, upright).find()[0], 0.0, {0, 0, -1.0}, -Vector3::UnitZ());
}

TEST(CollisionPair, ParallelCapsulesTouchAtBothEndsOfTheOverlap) {
  Pair pair(capsule(0.1, 1.0), capsule(0.2, 1.0));
  const auto points = pair.at({0.3005, 0, 0.4}, upright).find();
  ASSERT_EQ(points.size(), 2u);
  for (const ContactPoint& p : points) EXPECT_NEAR(p.gap, 5e-4, rounding);
  EXPECT_NEAR(std::abs(points[0].position.z() - points[1].position.z()), 0.6, rounding);
  EXPECT_EQ(pair.at({0.3, 0, 0.0}, upright).find().size(), 2u);  // equal ends are one point
}

TEST(CollisionPair, CrossedCapsulesTouchOnceAndCollinearOnesEndToEnd) {
  Pair pair(capsule(0.1, 1.0), capsule(0.2, 1.0));
  const auto crossed = pair.at({0.2999, 0.1, 0.2}, lying).find();
  ASSERT_EQ(crossed.size(), 1u);
  expect_point(crossed[0], -1e-4, {0.19995, 0, 0.2}, Vector3::UnitX());
  const auto collinear = pair.at({0, 0, 1.3}, upright).find();
  ASSERT_EQ(collinear.size(), 1u);
  expect_point(collinear[0], 0.0, {0, 0, 0.7}, Vector3::UnitZ());
}

TEST(CollisionPair, CapsuleLyingOnPlaneOrBoxHasTwoPoints) {
  for (const Shape& below : {plane(0), box({4, 4, 1})}) {
    const double top = below.kind == ShapeKind::plane ? 0.0 : 0.5;
    for (const double gap : {-1e-4, 1e-4}) {
      Pair pair(capsule(0.3, 1.0), below);
      const auto points = pair.at({0.1, 0.2, top + 0.3 + gap}, lying).find();
      ASSERT_EQ(points.size(), 2u);
      expect_point(points[0], gap, {0.1, 0.7, top + 0.5 * gap}, Vector3::UnitZ());
      expect_point(points[1], gap, {0.1, -0.3, top + 0.5 * gap}, Vector3::UnitZ());
    }
  }
}

TEST(CollisionPair, StandingCapsuleHasOnePointOnABox) {
  const auto points = Pair(capsule(0.3, 1.0), box({4, 4, 1})).at({0.1, 0.2, 1.3}, upright).find();
  ASSERT_EQ(points.size(), 1u);
  expect_point(points[0], 0.0, {0.1, 0.2, 0.5}, Vector3::UnitZ());
}

TEST(CollisionPair, BoxAndHullOnPlaneHaveTheirLowerCorners) {
  for (const Shape& body : {box({1, 2, 3}), hull(box_points({1, 2, 3}))}) {
    for (const double gap : {-1e-4, 1e-4}) {
      const auto points = Pair(body, plane()).at({0, 0, 1.5 + gap}, upright).find();
      ASSERT_EQ(points.size(), 4u);
      for (const ContactPoint& p : points) {
        EXPECT_NEAR(p.gap, gap, 1e-15);
        EXPECT_EQ(std::abs(p.position.x()), 0.5);
        EXPECT_EQ(std::abs(p.position.y()), 1.0);
        EXPECT_EQ(p.normal, Vector3(Vector3::UnitZ()));
      }
    }
  }
}

TEST(CollisionPair, MovingPlaneCarriesItsNormal) {
  const Eigen::Quaterniond tilt = turn(0.3, Vector3::UnitY());
  const Vector3 n = tilt * Vector3::UnitZ(), on(1, 2, 3);
  const auto points = Pair(sphere(0.5), plane()).at(on + 0.499 * n, upright, on, tilt).find();
  ASSERT_EQ(points.size(), 1u);
  expect_point(points[0], -1e-3, on - 5e-4 * n, n);
}

TEST(CollisionPair, CylinderStandingHasFourPointsAndLyingTwo) {
  for (const Shape& below : {plane(0), box({4, 4, 1}), hull(box_points({4, 4, 1}))}) {
    const double top = below.kind == ShapeKind::plane ? 0.0 : 0.5;
    Pair pair(cylinder(0.5, 1.0), below);
    for (const double gap : {-1e-4, 1e-4}) {
      const auto standing = pair.at({0.1, 0.2, top + 0.5 + gap}, upright).find();
      ASSERT_EQ(standing.size(), 4u);
      Vector3 mean = Vector3::Zero();
      for (const ContactPoint& p : standing) {
        EXPECT_NEAR(p.gap, gap, rounding);
        mean += p.position / 4.0;
      }
      EXPECT_NEAR((mean - Vector3(0.1, 0.2, top + 0.5 * gap)).norm(), 0.0, rounding);
      const auto rolling = pair.at({0.1, 0.2, top + 0.5 + gap}, lying).find();
      ASSERT_EQ(rolling.size(), 2u);
      expect_point(rolling[0], gap, {0.1, 0.7, top + 0.5 * gap}, Vector3::UnitZ());
      expect_point(rolling[1], gap, {0.1, -0.3, top + 0.5 * gap}, Vector3::UnitZ());
    }
  }
}

TEST(CollisionPair, TiltedCylinderTouchesWithTheLowestPointOfItsRim) {
  for (const Shape& below : {plane(0), box({4, 4, 2})}) {
    const double top = below.kind == ShapeKind::plane ? 0.0 : 1.0;
    Pair pair(cylinder(0.5, 1.0), below);
    for (const double angle : {0.1, 0.7, 1.0, 1.3}) {
      for (const double heading : {0.0, 0.4, 2.5}) {
        const double height = 0.5 * std::cos(angle) + 0.5 * std::sin(angle);
        const Eigen::Quaterniond q =
            turn(heading, Vector3::UnitZ()) * turn(angle, Vector3::UnitY()) * turn(1.1, Vector3::UnitZ());
        const auto points = pair.at({0, 0, top + height - 1e-5}, q).find();
        ASSERT_EQ(points.size(), 1u) << angle;
        const double reach = 0.5 * std::cos(angle) - 0.5 * std::sin(angle);
        expect_point(points[0], -1e-5, {reach * std::cos(heading), reach * std::sin(heading), top - 5e-6},
                     Vector3::UnitZ());
      }
    }
  }
}

TEST(CollisionPair, BoxEdgesThatCrossTouchOnce) {
  Pair pair(box({1, 1, 1}), box({1, 1, 1}));
  for (const double gap : {-1e-4, 1e-4}) {
    const auto points = pair.at({0, 0, std::sqrt(2.0) + gap}, turn(pi / 4, Vector3::UnitX()), {0.1, -0.2, 0},
                                turn(pi / 4, Vector3::UnitY()))
                            .find();
    ASSERT_EQ(points.size(), 1u);
    // Over B's ridge, which runs along y at x = 0.1, and under A's, along x at y = 0.
    expect_point(points[0], gap, {0.1, 0.0, std::sqrt(0.5) + 0.5 * gap}, Vector3::UnitZ());
  }
}

TEST(CollisionPair, CornerOverFaceTouchesOnceWithTheFaceNormal) {
  const Eigen::Quaterniond on_corner = Eigen::Quaterniond::FromTwoVectors(Vector3(1, 1, 1), -Vector3::UnitZ());
  for (const Shape& below : {box({4, 4, 1}), hull(box_points({4, 4, 1}))}) {
    for (const double gap : {-1e-4, 1e-4}) {
      const auto points = Pair(box({1, 1, 1}), below).at({0.3, 0.2, 0.5 + std::sqrt(0.75) + gap}, on_corner).find();
      ASSERT_EQ(points.size(), 1u);
      expect_point(points[0], gap, {0.3, 0.2, 0.5 + 0.5 * gap}, Vector3::UnitZ());
    }
  }
}

TEST(CollisionPair, CornersAndParallelEdgesApartUseTheLineBetweenThem) {
  Pair pair(box({1, 1, 1}), box({1, 1, 1}));
  const Vector3 corner = Vector3(1, 2, 2) / 3.0 * 1e-3;
  const auto one = pair.at(Vector3(1, 1, 1) + corner, upright).find(2e-3);
  ASSERT_EQ(one.size(), 1u);
  // The direction of a gap of 1e-3 between coordinates of size 1 has 13 digits.
  expect_point(one[0], 1e-3, Vector3(0.5, 0.5, 0.5) + 0.5 * corner, corner * 1e3, 1e-12);
  const Vector3 edge = Vector3(0, 3, 4) / 5.0 * 1e-3;
  const auto two = pair.at(Vector3(0.25, 1, 1) + edge, upright).find(2e-3);
  ASSERT_EQ(two.size(), 2u);
  for (const ContactPoint& p : two) {
    EXPECT_NEAR(p.gap, 1e-3, 1e-15);
    EXPECT_NEAR((p.normal - edge * 1e3).norm(), 0.0, 1e-12);
  }
  EXPECT_NEAR(std::abs(two[0].position.x() - two[1].position.x()), 0.75, rounding);
}

TEST(CollisionPair, SphereOnHullAgreesWithSphereOnTheEqualBox) {
  Random random(3);
  Pair with_hull(sphere(0.25), hull(box_points({1.0, 1.4, 0.8}))), with_box(sphere(0.25), box({1.0, 1.4, 0.8}));
  int found = 0;
  for (int i = 0; i < 2000; ++i) {
    const Vector3 x(uniform(random, -0.8, 0.8), uniform(random, -1, 1), uniform(random, -0.7, 0.7));
    // Inside the least depth decides; away from ties both must agree.
    const auto h = with_hull.at(x, upright).find(0.05), b = with_box.at(x, upright).find(0.05);
    ASSERT_EQ(h.size(), b.size()) << x.transpose();
    if (b.empty()) continue;
    ++found;
    ASSERT_EQ(h.size(), 1u);
    EXPECT_NEAR(h[0].gap, b[0].gap, 1e-14);
    if (b[0].gap > -0.25 + 1e-6) {
      EXPECT_NEAR((h[0].normal - b[0].normal).norm(), 0.0, 1e-8);
    }
  }
  EXPECT_GT(found, 500);
}

}  // namespace
}  // namespace stickslip::collision_pair_test
