// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/polynomial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <random>
#include <vector>

namespace stickslip::polynomial_test {
namespace {

using Long = long double;

/// Coefficients of scale · Π (roots_i - s) · Π ((s - centre)² + height), computed with more digits than a double.
std::vector<Long> expand(const std::vector<Long>& roots, const std::vector<std::pair<Long, Long>>& humps, Long scale) {
  std::vector<Long> c{scale};
  const auto multiply = [&](const std::vector<Long>& factor) {
    std::vector<Long> product(c.size() + factor.size() - 1, 0.0L);
    for (std::size_t i = 0; i < c.size(); ++i)
      for (std::size_t j = 0; j < factor.size(); ++j) product[i + j] += c[i] * factor[j];
    c = product;
  };
  for (const Long root : roots) multiply({root, -1});
  for (const auto& [centre, height] : humps) multiply({centre * centre + height, -2 * centre, 1});
  return c;
}

std::vector<double> rounded(const std::vector<Long>& c) { return {c.begin(), c.end()}; }

Long exact(const std::vector<double>& c, Long s) {
  Long sum = 0;
  for (std::size_t i = c.size(); i-- > 0;) sum = sum * s + c[i];
  return sum;
}

Long size_of(const std::vector<double>& c) {
  Long sum = 0;
  for (const double x : c) sum += std::abs(x);
  return sum;
}

/// How far the coefficients' own rounding moves a simple root: ε Σ|c| / |p'|, and the distance of doubles.
double root_tolerance(const std::vector<double>& c, double s) {
  return static_cast<double>(4e-16L * size_of(c) / std::abs(evaluate_derivative(c, s))) + 4e-16;
}

TEST(Polynomial, CompensatedEvaluationIsCorrectNextToAMultipleRoot) {
  // (s - 3/4)⁵: coefficients are exact doubles.
  const std::vector<double> p = rounded(expand({0.75L, 0.75L, 0.75L, 0.75L, 0.75L}, {}, 1));
  for (const double offset : {1e-3, -1e-3, 3e-5}) {
    const double s = 0.75 + offset, truth = std::pow(0.75 - s, 5);
    // Twice the digits: ε² Σ|c| plus one rounding.
    EXPECT_NEAR(evaluate_compensated(p, s), truth, 1e-14 * std::abs(truth) + 1e-30);
  }
  EXPECT_DOUBLE_EQ(evaluate(p, 0.5), std::pow(0.25, 5));
  EXPECT_DOUBLE_EQ(evaluate_derivative(p, 0.5), -5 * std::pow(0.25, 4));
  EXPECT_EQ(evaluate({}, 0.5), 0);
}

TEST(Polynomial, FirstOfSimpleRandomRootsIsFoundToFullAccuracy) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<double> unit(0.02, 0.98), hump(0, 1);
  int found = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const int count = 1 + trial % 5;
    std::vector<Long> roots;
    for (int i = 0; i < count; ++i) roots.push_back(unit(engine));
    std::sort(roots.begin(), roots.end());
    bool separate = true;
    for (std::size_t i = 1; i < roots.size(); ++i) separate = separate && roots[i] - roots[i - 1] > 0.02L;
    if (!separate) continue;
    const std::vector<double> c = rounded(expand(roots, {{hump(engine), 0.1L}, {hump(engine), 0.3L}}, 1));
    const std::optional<double> root = first_root(c);
    ASSERT_TRUE(root) << "trial " << trial;
    EXPECT_NEAR(*root, static_cast<double>(roots[0]), 4 * root_tolerance(c, *root)) << "trial " << trial;
    ++found;
  }
  EXPECT_GT(found, 2000);
}

TEST(Polynomial, ADipBelowZeroIsFoundHoweverNarrowAndATouchIsNot) {
  std::mt19937 engine(2);
  std::uniform_real_distribution<double> unit(0.05, 0.95), other(0, 1);
  for (int trial = 0; trial < 2000; ++trial) {
    const Long centre = unit(engine);
    const std::pair<Long, Long> hump{other(engine), 0.5L};
    for (const Long width : {1e-2L, 1e-4L, 1e-6L}) {
      const std::vector<double> dips = rounded(expand({centre - width, centre + width}, {hump}, 1));
      const std::optional<double> root = first_root(dips);
      ASSERT_TRUE(root) << "trial " << trial << " width " << static_cast<double>(width);
      EXPECT_NEAR(*root, static_cast<double>(centre - width), 4 * root_tolerance(dips, *root));
      // The same dip is allowed when it may graze: its depth is width² times the hump, which is below 2.
      EXPECT_FALSE(first_root(dips, 0, static_cast<double>(2 * width * width)));
    }
    const std::vector<double> stays = rounded(expand({}, {{centre, 1e-12L}, hump}, 1));
    EXPECT_FALSE(first_root(stays)) << "trial " << trial;
  }
  // Exact doubles: (s - 1/2)² touches and (s - 1/2)² (3/4 - s) touches before it falls.
  EXPECT_FALSE(first_root(std::vector<double>{0.25, -1, 1}));
  const std::optional<double> after_touch = first_root(std::vector<double>{0.1875, -1, 1.75, -1});
  ASSERT_TRUE(after_touch);
  EXPECT_NEAR(*after_touch, 0.75, 1e-15);
}

TEST(Polynomial, TripleRootAndClusterFallWhereTheyAreWithinTheirCondition) {
  // (1/2 - s)³: a change of ε Σ|c| moves the root by its cube root.
  const std::vector<double> triple{0.125, -0.75, 1.5, -1};
  ASSERT_TRUE(first_root(triple));
  EXPECT_NEAR(*first_root(triple), 0.5, 2e-5);
  std::mt19937 engine(3);
  std::uniform_real_distribution<double> unit(0.1, 0.9);
  for (int trial = 0; trial < 500; ++trial) {
    const Long centre = unit(engine), gap = 1e-3L;
    const std::vector<double> c = rounded(expand({centre, centre + gap, centre + 2 * gap}, {{0.5L, 0.2L}}, 1));
    const std::optional<double> root = first_root(c);
    ASSERT_TRUE(root);
    EXPECT_NEAR(*root, static_cast<double>(centre), 4 * root_tolerance(c, *root));
  }
}

TEST(Polynomial, AgreesWithBruteForceInLongDoubleOnRandomCoefficients) {
  std::mt19937 engine(4);
  std::normal_distribution<double> normal;
  int roots = 0, none = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    std::vector<double> c(static_cast<std::size_t>(2 + trial % 17));
    for (double& x : c) x = normal(engine);
    c[0] = std::abs(c[0]);
    const Long noise = 1e-14L * size_of(c);
    constexpr int kSamples = 4000;
    // The first sample that is clearly negative; everything before the root must be positive but for noise.
    int first_negative = kSamples + 1;
    for (int k = 0; k <= kSamples; ++k)
      if (exact(c, static_cast<Long>(k) / kSamples) < -noise) {
        first_negative = k;
        break;
      }
    const std::optional<double> root = first_root(c);
    if (!root) {
      ++none;
      EXPECT_EQ(first_negative, kSamples + 1) << "trial " << trial;
      continue;
    }
    ++roots;
    EXPECT_LE(*root, static_cast<double>(first_negative) / kSamples + 1e-15) << "trial " << trial;
    EXPECT_LT(std::abs(exact(c, *root)), noise) << "trial " << trial;
    for (int k = 0; k < kSamples && k / static_cast<double>(kSamples) < *root; ++k)
      ASSERT_GT(exact(c, static_cast<Long>(k) / kSamples), -noise) << "trial " << trial;
    // Where the double says zero, the sign changes within the condition of the root.
    const double reach = root_tolerance(c, *root);
    if (reach < 1e-6 && *root < 1 - reach) {
      EXPECT_LT(exact(c, *root + 8 * reach), 0) << "trial " << trial;
    }
  }
  EXPECT_GT(roots, 500);
  EXPECT_GT(none, 200);
}

TEST(Polynomial, KnownZeroAtTheStartIsDeflatedAndTheNextCoefficientDecides) {
  EXPECT_FALSE(first_root(std::vector<double>{0, 1, 2}));
  EXPECT_EQ(first_root(std::vector<double>{0, -1e-30, 2}), 0.0);
  EXPECT_EQ(first_root(std::vector<double>{0, 0, -1}), 0.0);
  EXPECT_FALSE(first_root(std::vector<double>{0, 0, 0}));
  EXPECT_FALSE(first_root(std::vector<double>{}));
  // s (1/4 - s) rises first, however small the rise.
  EXPECT_NEAR(first_root(std::vector<double>{0, 0.25, -1}).value(), 0.25, 1e-16);
  EXPECT_NEAR(first_root(std::vector<double>{0, 0, 1e-9, -1}).value(), 1e-9, 1e-24);
  // With a graze of 1e-3 the depth of s² (1/4 - s) counts, not that of 1/4 - s; the root is still that of the latter.
  EXPECT_NEAR(first_root(std::vector<double>{0, 0, 0.25, -1}, 0, 1e-3).value(), 0.25, 1e-15);
  EXPECT_FALSE(first_root(std::vector<double>{0, 0, 0.25, -1}, 0, 0.76));
}

TEST(Polynomial, ZeroAtTheEndCountsWhenItIsReachedFalling) {
  EXPECT_NEAR(first_root(std::vector<double>{1, -1}).value(), 1.0, 1e-15);
  EXPECT_FALSE(first_root(std::vector<double>{1, -2, 1}));  // (1 - s)²
  EXPECT_FALSE(first_root(std::vector<double>{1 + 1e-13, -1}));
  EXPECT_LT(first_root(std::vector<double>{1 - 1e-13, -1}).value(), 1.0);
}

TEST(Polynomial, SearchFromALaterPointSkipsEarlierRoots) {
  const std::vector<double> c = rounded(expand({0.2L, 0.4L, 0.7L}, {}, 1));
  EXPECT_NEAR(first_root(c).value(), 0.2, 1e-14);
  EXPECT_NEAR(first_root(c, 0.5).value(), 0.7, 1e-14);
  EXPECT_EQ(first_root(c, 0.3), 0.3);  // negative there already
  EXPECT_FALSE(first_root(c, 0.5, 1.0));
}

TEST(Polynomial, GrazeSelectsTheFirstFallThatIsDeepEnough) {
  // A dip of depth 1e-8 · 0.5 at 0.3, then a real fall at 0.8.
  const std::vector<double> c = rounded(expand({0.3L - 1e-4L, 0.3L + 1e-4L, 0.8L}, {}, 1));
  EXPECT_NEAR(first_root(c).value(), 0.3 - 1e-4, 1e-10);
  EXPECT_NEAR(first_root(c, 0, 1e-7).value(), 0.8, 1e-14);
}

TEST(Polynomial, FlatZerosAndInfinitiesEndTheSearch) {
  // (s - 1/2)¹² + offset hovers within round-off of zero on a tenth of the interval: halving alone would take for ever.
  const std::vector<double> flat = rounded(expand(std::vector<Long>(12, 0.5L), {}, 1));
  for (const double offset : {0.0, 1e-16, -1e-16, -3e-14, -1e-9}) {
    std::vector<double> c = flat;
    c[0] += offset;
    const std::optional<double> root = first_root(c);
    if (offset >= 0) {
      EXPECT_FALSE(root) << offset;
    }
    if (offset == -1e-9) {
      EXPECT_NEAR(root.value(), 0.5 - std::pow(1e-9, 1.0 / 12), 1e-6);
    }
    for (const double graze : {1e-9, 1e-12})
      if (const auto other = first_root(c, 0, graze)) {
        EXPECT_GT(*other, 0.2);
      }
  }
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(first_root(std::vector<double>{1, -infinity, infinity, 1}));
  EXPECT_FALSE(first_root(std::vector<double>{1, std::nan(""), -3, 1}));
}

TEST(Polynomial, DegreeFortyKeepsItsRoots) {
  // Bernstein-like product with roots far outside and one inside; Π over 39 factors near 1 keeps coefficients tame.
  std::vector<Long> roots{0.6L};
  for (int i = 0; i < 39; ++i) roots.push_back(3 + 0.1L * i);
  std::vector<Long> scaled = expand(roots, {}, 1);
  const Long size = std::abs(scaled[0]);
  for (Long& x : scaled) x /= size;
  const std::vector<double> c = rounded(scaled);
  ASSERT_EQ(c.size(), 41u);
  ASSERT_TRUE(first_root(c));
  EXPECT_NEAR(*first_root(c), 0.6, 16 * root_tolerance(c, 0.6));
}

TEST(PolynomialFit, ReproducesPolynomialsOfItsDegree) {
  std::mt19937 engine(6);
  std::normal_distribution<double> normal;
  for (const int degree : {2, 3, 8, 16}) {
    const PolynomialFit fit(degree);
    std::vector<double> truth(static_cast<std::size_t>(degree) + 1), values, c(truth.size());
    for (double& x : truth) x = normal(engine);
    for (const double s : fit.nodes()) values.push_back(evaluate(truth, s));
    fit.fit(values, c);
    for (int k = 0; k <= 100; ++k)
      EXPECT_NEAR(evaluate(c, k / 100.0), evaluate(truth, k / 100.0), 1e-13) << "degree " << degree;
  }
  const PolynomialFit fit(8);
  EXPECT_EQ(fit.nodes().front(), 0);
  EXPECT_EQ(fit.nodes().back(), 1);
}

TEST(PolynomialFit, ErrorEstimateFollowsTheTrueErrorOfASmoothFunction) {
  struct Case {
    std::function<double(double)> f;
    int degree;
  };
  const std::vector<Case> cases{{[](double s) { return std::sin(3 * s + 0.3); }, 8},
                                {[](double s) { return std::exp(-2 * s); }, 8},
                                {[](double s) { return 1 / (1.3 - s); }, 16},
                                {[](double s) { return std::sqrt(s + 0.2); }, 8},
                                {[](double s) { return std::cos(12 * s); }, 16}};
  for (std::size_t index = 0; index < cases.size(); ++index) {
    const PolynomialFit fit(cases[index].degree);
    std::vector<double> values, c(fit.nodes().size());
    for (const double s : fit.nodes()) values.push_back(cases[index].f(s));
    const double estimate = fit.fit(values, c);
    double error = 0;
    for (int k = 0; k <= 1000; ++k) error = std::max(error, std::abs(evaluate(c, k / 1e3) - cases[index].f(k / 1e3)));
    EXPECT_LE(error, 2 * estimate + 1e-14) << "case " << index;
    EXPECT_GE(error, 1e-3 * estimate - 1e-14) << "case " << index;
  }
}

TEST(PolynomialFit, OfDegreeSixteenIsNotSpoiltByItsLargeMonomials) {
  const PolynomialFit fit(16);
  std::vector<double> values, c(17);
  for (const double s : fit.nodes()) values.push_back(std::sin(2 * s));
  fit.fit(values, c);
  // sin(2s) is resolved to round-off; conversion by one matrix would leave 1e-6.
  for (int k = 0; k <= 1000; ++k) EXPECT_NEAR(evaluate(c, k / 1e3), std::sin(2 * k / 1e3), 2e-14);
}

}  // namespace
}  // namespace stickslip::polynomial_test
