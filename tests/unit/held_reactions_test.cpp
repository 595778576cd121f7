// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/held_reactions.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace stickslip::held_reactions_test {
namespace {

// min |y| with G y >= h, against the nearest of many points on a fine grid.
TEST(LeastDistance, IsTheNearestFeasiblePoint) {
  const DenseMatrix G{{1, 0}, {0, 1}, {1, 1}};
  Vector y;
  ASSERT_TRUE(least_distance(G, Vector{{0.5, -1, 2}}, y));
  EXPECT_NEAR(y[0], 1, 1e-14);
  EXPECT_NEAR(y[1], 1, 1e-14);
  ASSERT_TRUE(least_distance(G, Vector{{3, -1, 2}}, y));
  EXPECT_NEAR(y[0], 3, 1e-13);
  EXPECT_NEAR(y[1], 0, 1e-13);
}

TEST(LeastDistance, KnowsThatThereIsNone) {
  Vector y;
  EXPECT_FALSE(least_distance(DenseMatrix{{1.0}, {-1.0}}, Vector{{1, 0}}, y));
  EXPECT_TRUE(least_distance(DenseMatrix{{1.0}, {-1.0}}, Vector{{1, -1}}, y));
  EXPECT_NEAR(y[0], 1, 1e-12);
}

// Random systems: the point found is feasible, and no random feasible point is nearer.
TEST(LeastDistance, OfRandomSystems) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  int feasible = 0;
  for (int sample = 0; sample < 200; ++sample) {
    DenseMatrix G(5, 3);
    Vector h(5), y;
    for (Index i = 0; i < 5; ++i) {
      h[i] = normal(random);
      for (Index j = 0; j < 3; ++j) G(i, j) = normal(random);
    }
    if (!least_distance(G, h, y)) continue;
    ++feasible;
    EXPECT_GE((G * y - h).minCoeff(), -1e-10);
    for (int trial = 0; trial < 300; ++trial) {
      const Vector x = y + 0.3 * Vector{{normal(random), normal(random), normal(random)}};
      if ((G * x - h).minCoeff() < 0) continue;
      EXPECT_GE(x.norm(), y.norm() - 1e-9);
    }
  }
  EXPECT_GT(feasible, 100);
}

// A weight on three supports in a line: the shortest share pulls at none, and a bound changes it only if it must.
TEST(HeldReactions, AreTheSmallestWithinTheirSets) {
  const DenseMatrix V{{1, 1, 1}, {-1, 0, 1}};
  HeldReactions held;
  held.factor(V, V);
  ASSERT_TRUE(held.redundant());
  EXPECT_FALSE(held.choice_moves());
  const std::vector<ReactionBound> bounds{pushing(0, 0), pushing(1, 1), pushing(2, 2)};
  for (const double arm : {0.0, 0.5, 0.9}) {
    const Vector force{{6, 6 * arm}};
    Vector x;
    held.shortest(V.transpose() * force, x);
    ASSERT_TRUE(held.smallest_within(bounds, {}, x)) << arm;
    EXPECT_GE(x.minCoeff(), -1e-12) << arm;
    EXPECT_LT((V * x - force).norm(), 1e-12) << arm;
  }
  Vector x;
  held.shortest(V.transpose() * Vector{{6, 6.1}}, x);
  EXPECT_FALSE(held.smallest_within(bounds, {}, x));
}

// Friction disks: two posts share a load in the plane; together they hold the sum of their limits and not more.
TEST(HeldReactions, HoldInDisksUpToTheSumOfTheirRadii) {
  DenseMatrix V(2, 4);
  V << 1, 0, 1, 0, 0, 1, 0, 1;
  HeldReactions held;
  held.factor(V, V);
  std::vector<ReactionBound> bounds;
  append_friction_bounds(0, 1.0, 0, -1, 0, 2, bounds);
  append_friction_bounds(1, 2.0, 0, -1, 2, 2, bounds);
  for (const auto& [size, holds] : {std::pair(2.9, true), std::pair(2.9999, true), std::pair(3.0001, false)}) {
    const Vector force{{size * std::cos(1.1), size * std::sin(1.1)}};
    Vector x;
    held.shortest(V.transpose() * force, x);
    EXPECT_EQ(held.smallest_within(bounds, {}, x), holds) << size;
    if (!holds) continue;
    EXPECT_LE(std::hypot(x[0], x[1]), 1 + 1e-11);
    EXPECT_LE(std::hypot(x[2], x[3]), 2 + 1e-11);
  }
}

// Rows in other units: the share of the load is the same.
TEST(HeldReactions, DoNotDependOnUnitsOfRows) {
  const DenseMatrix V{{1, 1, 1}, {-1, 0, 1}};
  const Vector unit{{1e-6, 1, 1e5}}, force{{6, 3}};
  HeldReactions plain, scaled;
  plain.factor(V, V);
  const DenseMatrix other = V * unit.asDiagonal();
  scaled.factor(other, other);
  Vector x, y;
  plain.shortest(V.transpose() * force, x);
  scaled.shortest(other.transpose() * force, y);
  EXPECT_LT((x - y.cwiseProduct(unit)).norm(), 1e-13 * x.norm());
}

TEST(HeldReactions, OfAHeavyBodyOnALightOne) {
  for (const double ratio : {1e6, 1e12, 1e16}) {
    const DenseMatrix V{{1, -1}, {0, 1 / std::sqrt(ratio)}};
    HeldReactions held;
    held.factor(V, V);
    ASSERT_FALSE(held.redundant());
    Vector x;
    held.shortest(Vector{{9.81, 0}}, x);
    EXPECT_NEAR(x[1] / (9.81 * ratio), 1, 1e-12);
    EXPECT_NEAR(x[0] / (9.81 * (1 + ratio)), 1, 1e-12);
  }
}

}  // namespace
}  // namespace stickslip::held_reactions_test
