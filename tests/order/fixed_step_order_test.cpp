// SPDX-License-Identifier: Apache-2.0
// Observed order of convergence: a least-squares slope over many step sizes, never one pair.
#include <gtest/gtest.h>

#include "stickslip/motion/comparison.hpp"
#include "tests/support/paper1_benchmark.hpp"
#include "tests/support/two_hinges.hpp"

namespace stickslip::fixed_step_order_test {
namespace {

struct Slopes {
  double V, X, L, Lfar;
};
Slopes slopes(SchemeKind scheme, SplittingVariant variant, double paper1::Errors::*multiplier) {
  std::vector<double> h, V, X, L, far;
  for (long N : {400, 800, 1600, 3200}) {
    SimulationOptions options = paper1::options(scheme, N);
    options.splitting.variant = variant;
    const paper1::Errors e = paper1::errors(simulate(*paper1::system(), paper1::initial(), options).trajectory);
    h.push_back(4.0 / static_cast<double>(N));
    V.push_back(e.V);
    X.push_back(e.X);
    L.push_back(e.*multiplier);
    far.push_back(e.Lfar);
  }
  return {fitted_order(h, V), fitted_order(h, X), fitted_order(h, L), fitted_order(h, far)};
}

TEST(FixedStepOrder, LieSplittingIsFirstOrderInStateAndHalfInTheMultiplier) {
  const Slopes s = slopes(SchemeKind::splitting, SplittingVariant::lie, &paper1::Errors::L);
  EXPECT_NEAR(s.V, 1.0, 0.05);
  EXPECT_NEAR(s.X, 1.0, 0.05);
  EXPECT_NEAR(s.L, 0.5, 0.02);
  EXPECT_NEAR(s.Lfar, 1.0, 0.05);
}

TEST(FixedStepOrder, SymmetrisedSplittingsStayFirstOrder) {
  for (SplittingVariant variant : {SplittingVariant::symmetrised, SplittingVariant::friction_first}) {
    const Slopes s = slopes(SchemeKind::splitting, variant, &paper1::Errors::L);
    EXPECT_NEAR(s.V, 1.0, 0.1) << to_string(variant);
    EXPECT_NEAR(s.X, 1.0, 0.1) << to_string(variant);
  }
}

TEST(FixedStepOrder, MoreauIsSecondOrderInStateAndThreeHalvesInTheMultiplier) {
  const Slopes s = slopes(SchemeKind::moreau, SplittingVariant::lie, &paper1::Errors::Lm);
  EXPECT_NEAR(s.V, 2.0, 0.05);
  EXPECT_NEAR(s.X, 2.0, 0.05);
  EXPECT_NEAR(s.L, 1.5, 0.05);
  EXPECT_NEAR(s.Lfar, 2.0, 0.1);
}

TEST(FixedStepOrder, MoreauSplitsAStepAtAJumpOfTheForceAndKeepsOrderTwo) {
  std::vector<double> h, X;
  for (long N : {333, 470, 667, 941, 1333}) {  // every jump lies inside a step
    const Simulation run = simulate(*paper1::system(), paper1::initial(), paper1::options(SchemeKind::moreau, N));
    h.push_back(4.0 / static_cast<double>(N));
    X.push_back(paper1::errors(run.trajectory).X);
  }
  EXPECT_NEAR(fitted_order(h, X), 2.0, 0.1);
}

struct HingeCase {
  const char* name;
  double limit1, limit2;
  const two_hinges::Reference* reference;
};
class LocatedReversals : public testing::TestWithParam<HingeCase> {};

TEST_P(LocatedReversals, OrderTwoThroughReversalsSticksBreakAwaysAndInducedReleases) {
  const auto system = two_hinges::system(GetParam().limit1, GetParam().limit2);
  for (int k = 1; k < 4; ++k) {
    const two_hinges::Reference& at = GetParam().reference[k];
    std::vector<double> h, error;
    for (double step = 0.05; h.size() < 11; step /= 1.35) {
      h.push_back(step);
      error.push_back(two_hinges::error(*system, at.t, step, at));
    }
    EXPECT_GE(fitted_order(h, error), 1.9) << "T = " << at.t;
    EXPECT_LE(error.back(), 2e-5) << "T = " << at.t;
  }
}
INSTANTIATE_TEST_SUITE_P(TwoHinges, LocatedReversals,
                         testing::Values(HingeCase{"case2", 0.1, 0, two_hinges::kCase2},
                                         HingeCase{"case3", 0.1, 0.1, two_hinges::kCase3},
                                         HingeCase{"case4", 0.1, 8000, two_hinges::kCase4}),
                         [](const auto& row) { return row.param.name; });

TEST(LocatedReversals, WithoutTheSplitTheOrderFallsToOne) {
  const auto system = two_hinges::system(0.1, 0.1);
  std::vector<double> h, error;
  for (double step = 0.05; h.size() < 11; step /= 1.35) {
    h.push_back(step);
    error.push_back(two_hinges::error(*system, 15, step, two_hinges::kCase3[2], false));
  }
  EXPECT_LT(fitted_order(h, error), 1.3);
}

TEST(LocatedReversals, ErrorsOfCase4AreThoseOfTheReferenceTable) {
  const auto system = two_hinges::system(0.1, 8000);
  const double h[] = {.05, .025, .0125, .00625, .003125},
               expected[] = {1.32e-03, 3.32e-04, 8.31e-05, 2.08e-05, 5.20e-06};
  for (int k = 0; k < 5; ++k)
    EXPECT_NEAR(two_hinges::error(*system, 20, h[k], two_hinges::kCase4[3]), expected[k], 5e-3 * expected[k]);
}

}  // namespace
}  // namespace stickslip::fixed_step_order_test
