// SPDX-License-Identifier: Apache-2.0
// The experiments behind the verdicts on paper 3, against numbers computed elsewhere.
#include "papers/compliance/compliance_paper.hpp"

#include <gtest/gtest.h>

#include "papers/compliance/experiments.hpp"

namespace stickslip::compliance_paper_test {
namespace {

TEST(PaperOnCompliance, NoClaimFails) {
  const Reproduction result = reproduce_compliance({});
  EXPECT_EQ(result.claims.size(), 13u);
  for (const Claim& claim : result.claims)
    EXPECT_NE(claim.verdict, Verdict::failed) << claim.claim << ": " << claim.ours;
}

TEST(PaperOnCompliance, StopsWhenAsked) {
  const Reproduction result = reproduce_compliance({[](double) { return false; }});
  EXPECT_FALSE(result.document.ok);
  EXPECT_TRUE(result.claims.empty());
}

TEST(Shooting, FollowsTheReferenceIterates) {
  const double vx[] = {1, 2.019422971456, 1.769967486014, 1.750808604160, 1.750694394134, 1.750694390055};
  const double vy[] = {1, 0.967507377203, 1.013328713968, 1.021532083243, 1.021586789994, 1.021586791918};
  const double residual[] = {3.790e-01, 1.658e-01, 1.041e-02, 6.068e-05, 2.170e-09};
  const paper3::Shooting shooting = paper3::shoot(1, 1);
  ASSERT_GE(shooting.steps.size(), 6u);
  for (std::size_t k = 0; k < 6; ++k) {
    EXPECT_NEAR(shooting.steps[k].vx, vx[k], 1e-9) << k;
    EXPECT_NEAR(shooting.steps[k].vy, vy[k], 1e-9) << k;
    if (k < 5) {
      EXPECT_NEAR(shooting.steps[k].residual / residual[k], 1, 5e-4) << k;  // four printed digits
    }
  }
}

}  // namespace
}  // namespace stickslip::compliance_paper_test
