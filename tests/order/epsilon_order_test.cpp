// SPDX-License-Identifier: Apache-2.0
// Exponents in ε of the spring-damper replacement of a constraint, measured on the skate with Λ(0) ≠ 0 against the
// exact scheme: one table for pairs (c, d) on both sides of the source's condition b = d²/(c m) >= 2.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "papers/viscoelastic/experiments.hpp"

namespace stickslip {
namespace {

// Fitted over ε/c = 1e-4 ... 1e-8; the next term of each expansion is √ε smaller, which bends the fit by less than
// this.
constexpr double kTolerance = 0.05;

struct Pair {
  double c, d;
};
constexpr Pair kPairs[] = {{1, 2}, {1, std::numbers::sqrt2}, {1, 0.5}, {100, 2}};

TEST(EpsilonOrder, PrintedStartHasALayerThatVelocitiesAndForcesSee) {
  for (const Pair& pair : kPairs) {
    const EpsilonStudy study = paper4::skate_study(pair.c, pair.d, 0.5, false);
    ASSERT_EQ(study.status, Status::success) << study.message;
    const EpsilonErrors& e = study.exponents;
    EXPECT_NEAR(e.position, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.velocity, 0.5, kTolerance) << pair.d;
    EXPECT_NEAR(e.force, 0, kTolerance) << pair.d;
    EXPECT_NEAR(e.force_l2, 0.25, kTolerance) << pair.d;
    EXPECT_NEAR(e.late_position, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.late_velocity, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.late_force, 1, kTolerance) << pair.d;
  }
}

TEST(EpsilonOrder, PreparedStartRemovesTheLeadingLayer) {
  for (const Pair& pair : kPairs) {
    const EpsilonStudy study = paper4::skate_study(pair.c, pair.d, 0.5, true);
    ASSERT_EQ(study.status, Status::success) << study.message;
    const EpsilonErrors& e = study.exponents;
    EXPECT_NEAR(e.position, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.velocity, 1, kTolerance) << pair.d;
    EXPECT_NEAR(e.force, 0.5, kTolerance) << pair.d;
    EXPECT_NEAR(e.force_l2, 0.75, kTolerance) << pair.d;
    EXPECT_NEAR(e.late_force, 1, kTolerance) << pair.d;
  }
}

TEST(EpsilonCost, StiffIntegratorBarelyNoticesEpsilon) {
  const auto stiff = paper4::disc_cost(IntegratorKind::radau, {1e-4, 1e-8});
  ASSERT_EQ(stiff.size(), 2u);
  EXPECT_LT(stiff[1].evaluations, 5 * stiff[0].evaluations);
  const auto plain = paper4::disc_cost(IntegratorKind::dormand_prince, {1e-4, 1e-6});
  ASSERT_EQ(plain.size(), 2u);
  EXPECT_GT(plain[1].evaluations, 4 * plain[0].evaluations);  // stability asks for steps of √ε: 10 times as many
}

}  // namespace
}  // namespace stickslip
