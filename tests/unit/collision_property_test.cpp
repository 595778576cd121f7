// SPDX-License-Identifier: Apache-2.0
// What must hold for every pair of shapes at every pose, checked on random samples with certificates that do not use
// the code under test: membership of points by the inequalities of each solid, separation by each solid's own formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/collision_samples.hpp"

namespace stickslip::collision_property_test {
namespace {

using namespace collision_samples;

struct Sample {
  const Shape &a, &b;
  Pair& pair;
  double tolerance;
};

/// Calls f for all pairs of solids at random poses with separation `gap` along a random direction (so the true gap is
/// at least that).
template <class F>
void for_samples(double gap, int count, F&& f) {
  Random random(11);
  const std::vector<Shape> all = solids(random);
  for (const Shape& a : all) {
    for (const Shape& b : all) {
      Pair pair(a, b);
      // Of a rim GJK finds the gap to about the square of its direction's error, 1e-5.
      const bool rim = a.kind == ShapeKind::cylinder || b.kind == ShapeKind::cylinder;
      for (int i = 0; i < count; ++i) {
        const Vector3 d = direction(random), at(uniform(random, -3, 3), uniform(random, -3, 3), uniform(random, -3, 3));
        pair.at(at, orientation(random), at, orientation(random));
        pair.a.x += (gap - sigma(pair.a, pair.b, d)) * d;
        f(Sample{a, b, pair, rim ? 1e-8 : 5e-14});
        if (testing::Test::HasFailure()) {
          ADD_FAILURE() << name_of(a.kind) << " on " << name_of(b.kind) << ", sample " << i;
          return;
        }
      }
    }
  }
}

const ContactPoint& deepest_of(const std::vector<ContactPoint>& points) {
  return *std::min_element(points.begin(), points.end(),
                           [](const ContactPoint& l, const ContactPoint& r) { return l.gap < r.gap; });
}

TEST(CollisionProperty, GapOfSeparatedBodiesIsTheirDistance) {
  for (const double gap : {1e-9, 1e-4, 0.05}) {
    for_samples(gap, 40, [](const Sample& s) {
      const auto points = s.pair.find(10.0);
      ASSERT_FALSE(points.empty());
      const ContactPoint& p = deepest_of(points);
      // A pair of points at that distance, and a slab of that width between the bodies: the distance is both.
      EXPECT_NEAR(p.normal.norm(), 1.0, 1e-15);
      EXPECT_LE(outside(s.pair.a, p.position + 0.5 * p.gap * p.normal), 1e3 * s.tolerance);
      EXPECT_LE(outside(s.pair.b, p.position - 0.5 * p.gap * p.normal), 1e3 * s.tolerance);
      EXPECT_NEAR(sigma(s.pair.a, s.pair.b, p.normal), p.gap, s.tolerance);
    });
  }
}

TEST(CollisionProperty, OverlapIsPartedByTheDepthAndByNoSmallerTranslation) {
  for (const double depth : {1e-9, 1e-4, 0.01}) {
    Random random(5);
    int samples = 0, deeper_than_needed = 0;
    for_samples(-depth, 40, [&](const Sample& s) {
      const auto points = s.pair.find(10.0);
      ASSERT_FALSE(points.empty());
      const ContactPoint& p = deepest_of(points);
      EXPECT_LE(outside(s.pair.a, p.position + 0.5 * p.gap * p.normal), 1e3 * s.tolerance);
      EXPECT_LE(outside(s.pair.b, p.position - 0.5 * p.gap * p.normal), 1e3 * s.tolerance);
      EXPECT_NEAR(sigma(s.pair.a, s.pair.b, p.normal), p.gap, s.tolerance);
      double best = -1e300;
      for (int k = 0; k < 300; ++k) {
        best = std::max(best, sigma(s.pair.a, s.pair.b, direction(random)));
        best = std::max(best, sigma(s.pair.a, s.pair.b, (p.normal + 0.05 * direction(random)).normalized()));
      }
      EXPECT_GE(p.gap, -depth - s.tolerance);  // the direction of construction parts them, too
      ++samples;
      if (best > p.gap + s.tolerance) {
        ++deeper_than_needed;
        EXPECT_FALSE(s.a.kind == ShapeKind::box && s.b.kind == ShapeKind::box);
      }
    });
    // The ascent may end in another local maximum; at depths small against the size it must not.
    EXPECT_LE(deeper_than_needed, depth < 1e-3 ? 0 : samples / 1000) << "of " << samples;
  }
}

TEST(CollisionProperty, EveryPointOfAManifoldLiesBetweenTheBodies) {
  for (const double gap : {-1e-3, 1e-3}) {
    for_samples(gap, 20, [](const Sample& s) {
      const auto points = s.pair.find(0.02);
      for (const ContactPoint& p : points) {
        EXPECT_LE(p.gap, 0.02);
        EXPECT_GE(p.gap, sigma(s.pair.a, s.pair.b, p.normal) - 1e3 * s.tolerance);
        // Corners of the manifold may stand out of an inscribed cap or a clipped face by the tolerance of clipping.
        EXPECT_LE(outside(s.pair.a, p.position + 0.5 * p.gap * p.normal), 1e-7 + 100 * s.tolerance);
        EXPECT_LE(outside(s.pair.b, p.position - 0.5 * p.gap * p.normal), 1e-7 + 100 * s.tolerance);
      }
      EXPECT_TRUE(std::is_sorted(points.begin(), points.end(),
                                 [](const ContactPoint& l, const ContactPoint& r) { return l.feature < r.feature; }));
      for (std::size_t i = 1; i < points.size(); ++i) EXPECT_NE(points[i - 1].feature, points[i].feature);
    });
  }
}

TEST(CollisionProperty, ExchangeOfTheBodiesTurnsTheNormal) {
  for (const double gap : {-1e-3, 1e-3}) {
    for_samples(gap, 20, [](const Sample& s) {
      const auto one = contacts(s.pair.a, s.pair.b, 0.01);
      // The direction of a rim is found to about 1e-5; which corners lie within the margin may change with it.
      auto two = contacts(s.pair.b, s.pair.a, 0.01);
      for (ContactPoint& p : two) p.feature = (p.feature << 32) | (p.feature >> 32);
      std::sort(two.begin(), two.end(),
                [](const ContactPoint& l, const ContactPoint& r) { return l.feature < r.feature; });
      if (s.tolerance > 1e-12) {
        ASSERT_EQ(one.empty(), two.empty());
        if (!one.empty()) {
          EXPECT_NEAR(deepest(one), deepest(two), s.tolerance);
          EXPECT_NEAR((one[0].normal + two[0].normal).norm(), 0.0, 1e-4);
        }
        return;
      }
      ASSERT_EQ(one.size(), two.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        EXPECT_EQ(one[i].feature, two[i].feature);
        EXPECT_NEAR(one[i].gap, two[i].gap, 10 * s.tolerance);
        EXPECT_NEAR((one[i].normal + two[i].normal).norm(), 0.0, 1e-10);
        EXPECT_NEAR((one[i].position - two[i].position).norm(), 0.0, 1e-10);
      }
    });
  }
}

TEST(CollisionProperty, RigidMotionOfBothBodiesMovesThePoints) {
  Random random(17);
  int touching = 0, compared = 0;
  for (const double gap : {-1e-3, 1e-3}) {
    for_samples(gap, 20, [&](const Sample& s) {
      const auto before = s.pair.find(0.01);
      const Matrix3 Q = orientation(random).toRotationMatrix();
      const Vector3 t(uniform(random, -5, 5), uniform(random, -5, 5), uniform(random, -5, 5));
      for (PlacedShape* body : {&s.pair.a, &s.pair.b}) {
        body->x = t + Q * body->x;
        body->R = Q * body->R;
      }
      const auto after = s.pair.find(0.01);
      ASSERT_EQ(before.empty(), after.empty());
      if (before.empty()) return;
      ++touching;
      // The direction of a rim is found to about 1e-5; which corners lie within the margin may change with it.
      const bool rim = s.tolerance > 1e-12;
      EXPECT_NEAR(deepest(before), deepest(after), rim ? 1e-8 : 1e-12);
      EXPECT_NEAR((Q * before[0].normal - after[0].normal).norm(), 0.0, rim ? 1e-4 : 1e-11);
      if (rim) return;
      ++compared;
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t i = 0; i < before.size(); ++i) {
        EXPECT_EQ(before[i].feature, after[i].feature);
        EXPECT_NEAR(before[i].gap, after[i].gap, 1e-12);
        EXPECT_NEAR((t + Q * before[i].position - after[i].position).norm(), 0.0, 1e-11);
      }
    });
  }
  EXPECT_GT(touching, 100);
  EXPECT_GT(compared, 50);
}

TEST(CollisionProperty, GjkReportsItsOwnError) {
  Random random(23);
  for (const Shape& a : solids(random)) {
    for (const Shape& b : solids(random)) {
      Pair pair(a, b);
      for (int i = 0; i < 50; ++i) {
        const Vector3 d = direction(random);
        pair.at(3.0 * d, orientation(random), Vector3::Zero(), orientation(random));
        const Distance found = distance({&pair.ga, pair.a.R, pair.a.x}, {&pair.gb, pair.b.R, pair.b.x}, d);
        // Support points of a rim lie close together; the plane through three of them has 11 digits.
        const double rounded = pair.ga.rounding + pair.gb.rounding;
        EXPECT_NEAR(sigma(pair.a, pair.b, found.normal) + rounded, found.distance, found.error + 1e-11);
        EXPECT_NEAR((found.on_a - found.on_b).norm(), found.distance, found.error + 1e-11);
        EXPECT_LE(found.error, 1e-8);
      }
    }
  }
}

}  // namespace
}  // namespace stickslip::collision_property_test
