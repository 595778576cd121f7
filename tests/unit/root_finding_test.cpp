// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/root_finding.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace stickslip::root_finding_test {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();

struct Case {
  const char* name;
  std::function<double(double)> f;
  double a, b, root;
};

// Multiple roots, poles of the derivative, flat and steep pieces, jumps.
const Case kCases[] = {
    {"line", [](double x) { return 3 * x - 1; }, -4, 5, 1.0 / 3},
    {"cubic", [](double x) { return x * x * x - 2 * x - 5; }, 2, 3, 2.0945514815423265},
    {"cosine", [](double x) { return std::cos(x) - x; }, 0, 1, 0.7390851332151607},
    {"triple root", [](double x) { return std::pow(x - 1, 3); }, -3, 2.5, 1},
    {"ninth power", [](double x) { return std::pow(x, 9); }, -1, 4, 0},
    {"cube root", [](double x) { return std::cbrt(x - 0.3); }, -1, 1, 0.3},
    {"flat exponential", [](double x) { return x == 0 ? 0.0 : x * std::exp(-1 / (x * x)); }, -1, 4, 0},
    {"steep exponential", [](double x) { return std::exp(100 * x) - 1; }, -1, 2, 0},
    {"jump", [](double x) { return x < 0.123456789 ? -1.0 : 1e6; }, -1, 2, 0.123456789},
    {"huge and tiny", [](double x) { return x < 1 ? -1e-300 : 1e300 * (x - 1); }, 0, 1e3, 1},
};

TEST(FindRoot, FindsTheRootOfHardFunctionsWithinTheTolerance) {
  for (const Case& c : kCases)
    for (const double tolerance : {1e-6, 1e-12, 0.0}) {
      int calls = 0;
      auto f = [&](double x) {
        ++calls;
        EXPECT_GE(x, c.a);
        EXPECT_LE(x, c.b);
        return c.f(x);
      };
      const Root root = find_root(f, c.a, c.f(c.a), c.b, c.f(c.b), tolerance);
      EXPECT_EQ(root.evaluations, calls) << c.name;
      EXPECT_EQ(root.value, c.f(root.x)) << c.name;
      // The bracket holds the root and is no wider than this; an exact zero met on the way is as good.
      const double width = tolerance + 4 * kEpsilon * std::abs(root.x) + kEpsilon;
      EXPECT_TRUE(std::abs(root.x - c.root) <= width || root.value == 0.0) << c.name << ": " << root.x;
    }
}

TEST(FindRoot, EvaluatesSmoothFunctionsRarelyAndHardOnesBoundedly) {
  auto evaluations = [](const Case& c) { return find_root(c.f, c.a, c.f(c.a), c.b, c.f(c.b), 1e-12).evaluations; };
  EXPECT_LE(evaluations(kCases[0]), 2);
  EXPECT_LE(evaluations(kCases[1]), 8);
  EXPECT_LE(evaluations(kCases[2]), 8);
  // Bisection of these brackets to 1e-12 takes about 43 evaluations; Brent needs at most a small multiple.
  for (const Case& c : kCases) EXPECT_LE(evaluations(c), 130) << c.name;
}

TEST(FindRoot, ARootAtAnEndCostsNothing) {
  auto never = [](double) -> double {
    ADD_FAILURE() << "evaluated";
    return 0;
  };
  EXPECT_EQ(find_root(never, 0.0, 0.0, 1.0, 1.0, 1e-12).x, 0.0);
  EXPECT_EQ(find_root(never, 0.0, -1.0, 1.0, 0.0, 1e-12).x, 1.0);
  EXPECT_EQ(find_root(never, 2.0, 0.0, 2.0, 0.0, 1e-12).x, 2.0);
}

TEST(FindRoot, WorksInEitherDirectionOfTheBracketAndSign) {
  std::mt19937_64 engine(14);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    const double root = uniform(engine), slope = uniform(engine), cubic = std::abs(slope) * (1 + uniform(engine));
    auto f = [&](double x) {
      return (slope > 0 ? 1 : -1) * (std::abs(slope) * (x - root) + cubic * std::pow(x - root, 3));
    };
    const Root forward = find_root(f, -1.5, f(-1.5), 1.7, f(1.7), 1e-13);
    const Root backward = find_root(f, 1.7, f(1.7), -1.5, f(-1.5), 1e-13);
    EXPECT_NEAR(forward.x, root, 2e-13);
    EXPECT_NEAR(backward.x, root, 2e-13);
  }
}

TEST(FindRoot, StopsAtTheEvaluationLimitAndWhenTheFunctionIsNotANumber) {
  auto f = [](double x) { return std::pow(x, 9); };
  EXPECT_EQ(find_root(f, -1, f(-1), 4, f(4), 0.0, 5).evaluations, 5);
  auto broken = [](double) { return std::numeric_limits<double>::quiet_NaN(); };
  EXPECT_LE(find_root(broken, -1, -1, 1, 1, 1e-12).evaluations, 200);
}

}  // namespace
}  // namespace stickslip::root_finding_test
