// SPDX-License-Identifier: Apache-2.0
// The experiments behind the verdicts on paper 2: counterexamples, the rule hinge by hinge, static limits.
#include <gtest/gtest.h>

#include <cmath>

#include "papers/papers.hpp"
#include "papers/stick-slip/experiments.hpp"
#include "papers/stick-slip/reference.hpp"

namespace stickslip::stick_slip_paper_test {
namespace {

TEST(HingesAtRest, AreDecidedTogether) {
  const paper2::RestDecision E1 = paper2::decide_at_rest(Vector{{3, 1.2}}, Vector{{1, 1}});
  EXPECT_LT((E1.one_by_one - Vector{{1.8, -1.6}}).norm(), 1e-14);
  EXPECT_TRUE(E1.contradiction);
  EXPECT_LT((E1.acceleration - Vector{{1, 0}}).norm(), 1e-14);
  EXPECT_LT((E1.lambda - Vector{{1, 0.2}}).norm(), 1e-14);
  const paper2::RestDecision E2 = paper2::decide_at_rest(Vector{{0.2, 11}}, Vector{{0.1, 10}});
  EXPECT_LT((E2.one_by_one - Vector{{-0.9, 1.9}}).norm(), 1e-13);
  EXPECT_LT((E2.acceleration - Vector{{-0.7, 1.7}}).norm(), 1e-13);
  EXPECT_LT((E2.lambda - Vector{{-1, 1}}).norm(), 1e-13);
}

TEST(InducedRelease, HappensInTheInstantOfTheReversal) {
  const paper2::InducedRelease release = paper2::induced_release();
  EXPECT_NEAR(release.t, paper2::kInducedRelease, 1e-12);
  EXPECT_NEAR(std::abs(release.held_before), 0.0279, 5e-5);  // four printed digits
  EXPECT_NEAR(std::abs(release.held_after), 0.1279, 5e-5);
  EXPECT_NEAR(release.acceleration[0], 0.474, 5e-4);
  EXPECT_NEAR(release.acceleration[1], 0.0557, 5e-5);
}

// Up to the induced release the rule makes no mistake; from there on it is late by one step.
TEST(HingeByHinge, CostsAnOrderFromTheInducedReleaseOn) {
  for (const double error : paper2::error_of_hinge_by_hinge(10).error) EXPECT_LT(error, 1e-11);
  const paper2::ErrorCurve after = paper2::error_of_hinge_by_hinge(15);
  EXPECT_NEAR(after.order, 1, 0.15);
  EXPECT_GT(after.error.back(), 1e-6);
  EXPECT_NEAR(paper2::error_of_moreau(15).order, 2, 0.05);
}

TEST(HingeByHinge, FlowIsExact) {
  const paper2::Hinges free{DenseMatrix{{2, 1}, {1, 1}}, DenseMatrix{{2, 0}, {0, 2.5}}, Vector{{0, 0}}};
  const paper2::HingeState s = paper2::flow(free, {0, Vector{{1, 0.2}}, Vector::Zero(2), {2, 2}}, 20);
  EXPECT_NEAR(s.y[0], 0.6694975942305495, 1e-13);
  EXPECT_NEAR(s.y[1], 0.0756819906887076, 1e-13);
  EXPECT_NEAR(s.v[1], 0.032189798017244, 1e-13);
}

TEST(StaticLimits, HoldAStuckHingeUpToThemAndLeaveSeveralModes) {
  for (const paper2::StaticVariant& variant : paper2::static_variants()) {
    ASSERT_EQ(variant.event.status, Status::success) << variant.name << ": " << variant.event.message;
    const bool raised = variant.limits.fixed[0] > variant.limits.dynamic[0];
    const double limit = raised ? variant.limits.fixed[0] : variant.limits.dynamic[0];
    EXPECT_LE(variant.largest_held, limit * (1 + 1e-9)) << variant.name;
    EXPECT_GT(variant.largest_held, 0.99 * limit) << variant.name;  // each has a break-away; samples are 2 ms apart
    if (raised) {
      EXPECT_GE(variant.admissible, 2) << variant.name;
    } else {
      EXPECT_LE(variant.admissible, 1) << variant.name;
      EXPECT_LT(variant.difference_to_moreau, 1e-5) << variant.name;
    }
  }
}

TEST(StepHalving, DoesNotEndBelowTheRoundOffOfAStep) {
  const paper2::ZeroSearch search = paper2::search_for_zero();
  EXPECT_TRUE(search.halving.front().halving.ended);
  EXPECT_FALSE(search.halving.back().halving.ended);
  EXPECT_LT(std::abs(search.root_error), 1e-13);
}

TEST(GoverningEquation, NeedsTheDerivativeOfTheConstraint) {
  const paper2::ConstrainedPoint point = paper2::constrained_point();
  EXPECT_LT(point.position_error, 1e-11);  // tolerance 1e-12
  EXPECT_LT(point.residual, 1e-12);
  EXPECT_GT(point.printed_residual, 1);
}

TEST(StickSlipPaper, NoClaimFails) {
  int calls = 0;
  for (const PaperInfo& paper : paper_table()) {
    if (paper.name != "stick-slip") continue;
    const Reproduction reproduction = paper.reproduce({[&](double fraction) {
      EXPECT_LE(fraction, 1.0);
      ++calls;
      return true;
    }});
    EXPECT_GE(reproduction.claims.size(), 14u);
    for (const Claim& claim : reproduction.claims)
      EXPECT_NE(claim.verdict, Verdict::failed) << claim.claim << claim.ours;
  }
  EXPECT_GT(calls, 4);
}

TEST(StickSlipPaper, StopsWhenAsked) {
  for (const PaperInfo& paper : paper_table())
    if (paper.name == "stick-slip") {
      const Reproduction reproduction = paper.reproduce({[](double) { return false; }});
      EXPECT_TRUE(reproduction.claims.empty());
      EXPECT_FALSE(reproduction.document.ok);
    }
}

}  // namespace
}  // namespace stickslip::stick_slip_paper_test
