// SPDX-License-Identifier: Apache-2.0
// The verdicts on paper 5.
#include "papers/periodic/periodic_paper.hpp"

#include <gtest/gtest.h>

namespace stickslip::periodic_paper_test {
namespace {

TEST(PaperOnPeriodicMotions, NoClaimFails) {
  const Reproduction result = reproduce_periodic({});
  EXPECT_EQ(result.claims.size(), 12u);
  for (const Claim& claim : result.claims)
    EXPECT_NE(claim.verdict, Verdict::failed) << claim.claim << ": " << claim.ours;
}

TEST(PaperOnPeriodicMotions, StopsWhenAsked) {
  const Reproduction result = reproduce_periodic({[](double) { return false; }});
  EXPECT_FALSE(result.document.ok);
  EXPECT_TRUE(result.claims.empty());
}

}  // namespace
}  // namespace stickslip::periodic_paper_test
