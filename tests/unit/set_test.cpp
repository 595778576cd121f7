// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/set.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "stickslip/common/error.hpp"
#include "tests/unit/set_samples.hpp"

namespace stickslip::set_test {
namespace {

using samples::all_sets;
using samples::along;
using samples::dot;
using samples::is_bounded;
using samples::label;
using samples::member;
using samples::minus;
using samples::norm;
using samples::Point;
using samples::projection;
using samples::Random;
using samples::target;
using samples::uniform;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();
// Closed forms of a dozen operations on numbers of size |z|: their rounding stays well below 32 ε |z|.
constexpr double rounding = 32.0 * std::numeric_limits<double>::epsilon();
constexpr int points_per_set = 3000;

TEST(SetFactories, RefuseLimitsThatAreNegativeInfiniteOrNotANumber) {
  for (const double bad : {-1.0, -1e-300, nan, infinity}) {
    EXPECT_THROW(interval_set(bad), InputError);
    EXPECT_THROW(disk_set(bad), InputError);
    EXPECT_THROW(polygon_set(bad, 8), InputError);
    EXPECT_THROW(box_set(bad), InputError);
    EXPECT_THROW(friction_cone_set(bad, 3), InputError);
    EXPECT_THROW(polygonal_cone_set(bad, 8), InputError);
    EXPECT_THROW(box_cone_set(bad), InputError);
  }
  try {
    disk_set(-2.5);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("disk: limit = -2.5"), std::string::npos) << error.what();
  }
}

TEST(SetFactories, RefuseShapesThatDoNotExist) {
  for (const int facets : {-4, 0, 2, 3, 5, 7}) {
    EXPECT_THROW(polygon_set(1.0, facets), InputError) << facets;
    EXPECT_THROW(polygonal_cone_set(1.0, facets), InputError) << facets;
  }
  EXPECT_THROW(friction_cone_set(0.5, 1), InputError);
  EXPECT_THROW(friction_cone_set(0.5, 4), InputError);
}

TEST(SetProjection, LandsInTheSet) {
  Random random(1);
  for (const Set& set : all_sets()) {
    for (int i = 0; i < points_per_set; ++i) {
      const Point z = target(set, random);
      const Point p = projection(set, z);
      ASSERT_LE(samples::violation(set, p), rounding * (norm(z) + set.limit)) << label(set);
    }
  }
}

TEST(SetProjection, LeavesMembersWhereTheyAreAndIsIdempotent) {
  Random random(2);
  for (const Set& set : all_sets()) {
    for (int i = 0; i < points_per_set; ++i) {
      const Point y = member(set, random, 10.0);
      ASSERT_LE(norm(minus(projection(set, y), y)), rounding * norm(y)) << label(set);
      const Point z = target(set, random);
      const Point p = projection(set, z);
      ASSERT_LE(norm(minus(projection(set, p), p)), rounding * norm(z)) << label(set);
    }
  }
}

TEST(SetProjection, IsFirmlyNonExpansive) {
  // |P(a) - P(b)|² <= (P(a) - P(b))·(a - b), which implies |P(a) - P(b)| <= |a - b|.
  Random random(3);
  for (const Set& set : all_sets()) {
    for (int i = 0; i < points_per_set; ++i) {
      const Point a = target(set, random);
      const Point b = i % 2 == 0 ? target(set, random) : along(a, 1e-3, target(set, random));
      const Point difference = minus(projection(set, a), projection(set, b));
      const Point gap = minus(a, b);
      const double error = rounding * (norm(a) + norm(b)) * (norm(gap) + norm(difference));
      ASSERT_LE(dot(difference, difference), dot(difference, gap) + error) << label(set);
    }
  }
}

TEST(SetProjection, MakesAnObtuseAngleWithEveryMember) {
  // p = P(z) exactly if (z - p)·(y - p) <= 0 for all y in C. Long members of cones test the recession directions.
  Random random(4);
  for (const Set& set : all_sets()) {
    for (int i = 0; i < points_per_set / 30; ++i) {
      const Point z = target(set, random);
      const Point p = projection(set, z);
      const Point normal = minus(z, p);
      for (int k = 0; k < 60; ++k) {
        const Point y = member(set, random, k % 2 == 0 ? 2.0 * norm(z) : 1e6);
        const Point edge = minus(y, p);
        ASSERT_LE(dot(normal, edge), rounding * (norm(z) + norm(p)) * (norm(edge) + norm(normal))) << label(set);
      }
    }
  }
}

TEST(SetProjection, MayOverwriteItsInput) {
  Random random(5);
  for (const Set& set : all_sets()) {
    for (int i = 0; i < 100; ++i) {
      Point z = target(set, random);
      const Point p = projection(set, z);
      project(set, z, z);
      ASSERT_EQ(z, p) << label(set);
    }
  }
}

TEST(SetProjection, HandsNotANumberOn) {
  for (const Set& set : all_sets()) {
    for (std::size_t bad = 0; bad < static_cast<std::size_t>(set.size); ++bad) {
      Point z(static_cast<std::size_t>(set.size), 1.0);
      z[bad] = nan;
      const Point zero(z.size(), 0.0);
      EXPECT_TRUE(std::isnan(inclusion_residual(set, z, zero))) << label(set);
      EXPECT_TRUE(std::isnan(inclusion_residual(set, zero, z))) << label(set);
      EXPECT_FALSE(contains(set, z, 1e300)) << label(set);
    }
  }
}

TEST(SetProjection, SplitsSpaceIntoAConeAndItsPolar) {
  // Moreau: z = p + w with p in K, w in the polar cone and p·w = 0.
  Random random(6);
  for (const Set& set : all_sets()) {
    if (is_bounded(set)) continue;
    for (int i = 0; i < points_per_set / 10; ++i) {
      const Point z = target(set, random);
      const Point p = projection(set, z);
      const Point w = minus(z, p);
      ASSERT_LE(std::abs(dot(p, w)), rounding * dot(z, z)) << label(set);
      for (int k = 0; k < 40; ++k) {
        const Point ray = member(set, random, 1.0);
        ASSERT_LE(dot(w, ray), rounding * norm(z) * norm(ray)) << label(set);
      }
    }
  }
}

TEST(SetProjection, OfCoulombsConePairsWithTheConeOfReciprocalFriction) {
  // The polar of K_μ is -K_{1/μ}, so P_{K_μ}(z) - P_{K_{1/μ}}(-z) = z.
  Random random(7);
  for (const int size : {2, 3}) {
    for (const double mu : {0.05, 0.3, 1.0, 7.0}) {
      const Set cone = friction_cone_set(mu, size), dual = friction_cone_set(1.0 / mu, size);
      for (int i = 0; i < points_per_set; ++i) {
        const Point z = target(cone, random);
        const Point negative = along(z, -2.0, z);
        const Point sum = minus(projection(cone, z), projection(dual, negative));
        ASSERT_LE(norm(minus(sum, z)), rounding * norm(z));
      }
    }
  }
}

TEST(SetSupport, OfBoundedSetsIsTheLargestProductWithAMember) {
  Random random(11);
  for (const Set& set : all_sets()) {
    if (!is_bounded(set)) continue;
    for (int i = 0; i < points_per_set / 10; ++i) {
      const Point u = target(set, random);
      const double sup = support(set, u);
      const double error = rounding * norm(u) * set.limit;
      double largest = -infinity;
      for (int k = 0; k < 60; ++k) largest = std::max(largest, dot(u, member(set, random, 1.0)));
      ASSERT_LE(largest, sup + error) << label(set);
      // It is attained: at a vertex, or at the rim point in the direction of u.
      double attained = 0.0;
      if (set.kind == SetKind::interval) attained = std::max(u[0] * set.limit, -u[0] * set.limit);
      if (set.kind == SetKind::disk && norm(u) > 0.0) {
        attained = dot(u, {set.limit * u[0] / norm(u), set.limit * u[1] / norm(u)});
      }
      if (set.kind == SetKind::polygon || set.kind == SetKind::box) {
        for (const Point& vertex : samples::section_vertices(set)) attained = std::max(attained, dot(u, vertex));
      }
      ASSERT_NEAR(attained, sup, error) << label(set);
    }
  }
}

TEST(SetSupport, OfConesIsZeroOnThePolarConeAndInfiniteElsewhere) {
  Random random(12);
  for (const Set& set : all_sets()) {
    if (is_bounded(set)) continue;
    int finite = 0, infinite = 0;
    for (int i = 0; i < points_per_set; ++i) {
      Point u = target(set, random);
      if (i % 3 == 0) u = minus(u, projection(set, u));
      if (set.kind == SetKind::line && i % 3 == 0) u = {0.0};
      const double sup = support(set, u);
      // P_K(u) is the member direction of steepest gain: u·P_K(u) = |P_K(u)|².
      const double gain = norm(projection(set, u));
      if (sup == 0.0) {
        ++finite;
        ASSERT_LE(gain, rounding * norm(u)) << label(set);
      } else {
        ASSERT_EQ(sup, infinity) << label(set);
        ++infinite;
        // Within rounding of the polar cone's surface either answer is right.
        if (i % 3 != 0) {
          ASSERT_GT(gain, 0.0) << label(set);
        }
      }
    }
    EXPECT_GT(finite, 0) << label(set);
    EXPECT_GT(infinite, 0) << label(set);
  }
}

TEST(SetDistance, VanishesForMembersAndBoundsTheViolationFromAbove) {
  Random random(13);
  for (const Set& set : all_sets()) {
    for (int i = 0; i < points_per_set / 3; ++i) {
      const Point y = member(set, random, 5.0);
      ASSERT_TRUE(contains(set, y, rounding * norm(y))) << label(set);
      const Point z = target(set, random);
      // Each inequality has a unit normal, so its violation is the distance to a half-space that contains C.
      ASSERT_GE(distance(set, z), samples::violation(set, z) - rounding * (norm(z) + set.limit)) << label(set);
      if (samples::violation(set, z) == 0.0) {
        ASSERT_LE(distance(set, z), rounding * norm(z)) << label(set);
      }
      // ... and it is the smallest distance to any member.
      ASSERT_LE(distance(set, z), norm(minus(z, y)) + rounding * norm(z)) << label(set);
    }
  }
}

TEST(SetDistance, AgreesWithPlaneGeometry) {
  EXPECT_DOUBLE_EQ(distance(interval_set(2.0), Point{-5.0}), 3.0);
  EXPECT_DOUBLE_EQ(distance(disk_set(2.0), Point{3.0, 4.0}), 3.0);
  EXPECT_DOUBLE_EQ(distance(box_set(2.0), Point{5.0, 6.0}), 5.0);
  // Square with vertices (±2, 0), (0, ±2): the point (2, 2) sees the facet's middle (1, 1).
  EXPECT_DOUBLE_EQ(distance(polygon_set(2.0, 4), Point{2.0, 2.0}), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(distance(polygon_set(2.0, 4), Point{5.0, 0.0}), 3.0);
  // 45 degree cone: distance to its surface, and to its apex below the polar cone's surface.
  EXPECT_DOUBLE_EQ(distance(friction_cone_set(1.0, 3), Point{0.0, 0.0, 2.0}), std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(distance(friction_cone_set(1.0, 3), Point{-3.0, 0.0, 0.0}), 3.0);
}

TEST(NormalConeResidual, IsBoundedBothWaysByTheGapToTheSupportFunction) {
  // With e = r - P(r + w) and gap = σ(w) - w·r >= 0:  |e|² <= gap <= |e| (diameter + |w|). So e = 0 exactly if gap = 0,
  // i.e. exactly if w is normal to C at r.
  Random random(14);
  for (const Set& set : all_sets()) {
    if (!is_bounded(set)) continue;
    const double diameter = 2.0 * std::sqrt(2.0) * set.limit;
    for (int i = 0; i < points_per_set; ++i) {
      const Point r = member(set, random, 1.0);
      const Point w = target(set, random);
      const double gap = support(set, w) - dot(w, r);
      const double e = normal_cone_residual(set, r, w);
      const double error = rounding * (norm(w) + set.limit) * (norm(w) + set.limit);
      ASSERT_LE(e * e, gap + error) << label(set);
      ASSERT_LE(gap, e * (diameter + norm(w)) + error) << label(set);
    }
  }
}

TEST(NormalConeResidual, VanishesForNormalsOfAnyLengthAndOnlyThere) {
  Random random(15);
  for (const Set& set : all_sets()) {
    for (int i = 0; i < points_per_set / 3; ++i) {
      const Point z = target(set, random);
      const Point p = projection(set, z);
      const Point w = minus(z, p);
      for (const double length : {0.0, 0.01, 1.0, 50.0}) {
        const Point normal = along(Point(w.size(), 0.0), length, w);
        // w carries the rounding of z and p, magnified by `length`.
        ASSERT_LE(normal_cone_residual(set, p, normal), rounding * (1.0 + length) * norm(z)) << label(set);
      }
      // From a member, a step that stays inside C is no normal: the residual is its length.
      const Point a = member(set, random, 3.0), b = member(set, random, 3.0);
      const Point inward = along(Point(a.size(), 0.0), 0.5, minus(b, a));
      ASSERT_NEAR(normal_cone_residual(set, a, inward), norm(inward), rounding * (norm(a) + norm(b))) << label(set);
    }
  }
}

TEST(SetShift, IsTheFrictionCoefficientTimesTheSupportOfTheUnitSection) {
  Random random(16);
  for (const Set& set : all_sets()) {
    for (int i = 0; i < 200; ++i) {
      const Point u = target(set, random);
      Point s(u.size(), nan);
      shift(set, u, s);
      for (std::size_t k = 1; k < s.size(); ++k) ASSERT_EQ(s[k], 0.0) << label(set);
      double expected = 0.0;
      if (set.kind == SetKind::friction_cone) expected = set.limit * norm(Point(u.begin() + 1, u.end()));
      if (set.kind == SetKind::box_cone) expected = set.limit * (std::abs(u[1]) + std::abs(u[2]));
      if (set.kind == SetKind::polygonal_cone) {
        for (const Point& v : samples::section_vertices(set)) expected = std::max(expected, -v[0] * u[1] - v[1] * u[2]);
      }
      ASSERT_NEAR(s[0], expected, rounding * set.limit * norm(u)) << label(set);
    }
  }
}

}  // namespace
}  // namespace stickslip::set_test
