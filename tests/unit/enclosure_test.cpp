// SPDX-License-Identifier: Apache-2.0
// Ranges of functions and slopes hold everything that happens inside the interval.
#include "stickslip/common/enclosure.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>

#include "stickslip/common/dual.hpp"

namespace stickslip::enclosure_test {
namespace {

struct Sample {
  std::string name;
  std::function<Enclosure(const Enclosure&)> enclose;
  std::function<Dual(const Dual&)> evaluate;
};

template <class F>
Sample sample(const std::string& name, F f) {
  return {name, [f](const Enclosure& x) { return Enclosure(f(x)); }, [f](const Dual& x) { return Dual(f(x)); }};
}

std::vector<Sample> samples() {
  const auto one = [](const auto& x) { return x * 0.0 + 1.0; };
  return {sample("square", [](const auto& x) { return x * x; }),
          sample("product", [](const auto& x) { return (x - 0.3) * (x + 2.0) * x; }),
          sample("quotient", [](const auto& x) { return (x + 1.0) / (x - 7.5); }),
          sample("sin", [](const auto& x) { return sin(x); }),
          sample("cos", [](const auto& x) { return cos(3.0 * x + 1.0); }),
          sample("tan", [](const auto& x) { return tan(0.4 * x); }),
          sample("asin", [](const auto& x) { return asin(0.19 * x); }),
          sample("acos", [](const auto& x) { return acos(0.19 * x); }),
          sample("atan", [](const auto& x) { return atan(x); }),
          sample("sinh", [](const auto& x) { return sinh(x); }),
          sample("cosh", [](const auto& x) { return cosh(x); }),
          sample("tanh", [](const auto& x) { return tanh(x); }),
          sample("exp", [](const auto& x) { return exp(-1.0 * x); }),
          sample("log", [](const auto& x) { return log(x + 6.0); }),
          sample("sqrt", [](const auto& x) { return sqrt(x + 6.0); }),
          sample("power", [](const auto& x) { return pow(x + 6.0, 1.7); }),
          sample("odd power", [](const auto& x) { return pow(x, 17.0); }),
          sample("exponent", [one](const auto& x) { return pow(one(x) * 2.0, x); }),
          sample("atan2", [one](const auto& x) { return atan2(x, one(x) * 2.0); }),
          sample("nested", [](const auto& x) { return sin(x * x) * exp(-0.1 * x) + cos(5.0 * x) / (x * x + 1.0); })};
}

TEST(Enclosure, HoldsEveryValueAndSlope) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> place(-5, 5), part(0, 1);
  for (const Sample& f : samples())
    for (int k = 0; k < 300; ++k) {
      const double a = place(random), b = a + std::pow(10.0, -4 * part(random)) * (5 - a);
      const Enclosure range = f.enclose(Enclosure(0.5 * (a + b), {a, b}, {1.0, 1.0}));
      for (int inside = 0; inside < 20; ++inside) {
        const double x = inside == 0 ? a : inside == 1 ? b : a + part(random) * (b - a);
        const Dual value = f.evaluate(Dual(x, 1.0));
        EXPECT_TRUE(range.value.contains(value.value)) << f.name << " on [" << a << ", " << b << "] at " << x;
        // Slopes are computed in another order: their own round-off.
        const double slack = 1e-12 * (1 + std::abs(value.slope));
        EXPECT_GE(value.slope, range.slope.lo - slack) << f.name << " at " << x;
        EXPECT_LE(value.slope, range.slope.hi + slack) << f.name << " at " << x;
      }
    }
}

TEST(Enclosure, ShrinksWithTheInterval) {
  for (const Sample& f : samples()) {
    const Enclosure range = f.enclose(Enclosure(1.0, {1.0 - 1e-9, 1.0 + 1e-9}, {1.0, 1.0}));
    EXPECT_LT(range.slope.hi - range.slope.lo, 1e-5) << f.name;
    const double width = f.name == "atan2" ? 7 : 1e-6;
    EXPECT_LT(range.value.hi - range.value.lo, width) << f.name;
  }
}

TEST(Enclosure, ExactResultsStayExact) {
  const Enclosure x(1.5, {1.0, 2.0}, {1.0, 1.0});
  const Enclosure zero = x - x;
  EXPECT_EQ(zero.slope.lo, 0);
  EXPECT_EQ(zero.slope.hi, 0);
  EXPECT_EQ((3.0 * x).value.hi, 6.0);
}

TEST(Interval, IsRoundedOutwardAndKeepsWhatIsExact) {
  const Interval tenth{0.1, 0.1};
  EXPECT_LT((tenth * tenth).lo, (tenth * tenth).hi);
  EXPECT_TRUE((tenth + Interval{0.2, 0.2}).contains(0.3));
  const Interval product = Interval{0.5, 2} * Interval{-4, 0.25};
  EXPECT_EQ(product.lo, -8);
  EXPECT_EQ(product.hi, 0.5);
  const Interval tiny = Interval{1e-200, 1e-200} * Interval{1e-200, 2e-200};  // below the smallest number
  EXPECT_GT(tiny.hi, 0);
  EXPECT_LE(tiny.lo, 0);
  EXPECT_TRUE((Interval{0, 0} * whole_line()).is(0));
}

TEST(Interval, ProductsHoldThoseOfAllPoints) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> place(-1, 1), part(0, 1);
  for (int k = 0; k < 2000; ++k) {
    const double a = place(random), b = place(random), c = place(random), d = place(random);
    const Interval x{std::min(a, b), std::max(a, b)}, y{std::min(c, d), std::max(c, d)}, product = x * y;
    const double at = x.lo + part(random) * (x.hi - x.lo), on = y.lo + part(random) * (y.hi - y.lo);
    EXPECT_TRUE(product.contains(at * on));
    double lo = HUGE_VAL, hi = -HUGE_VAL;
    for (const double p : {x.lo, x.hi})
      for (const double q : {y.lo, y.hi}) {
        lo = std::min(lo, p * q);
        hi = std::max(hi, p * q);
      }
    EXPECT_NEAR(product.lo, lo, 1e-15);  // and no more than that
    EXPECT_NEAR(product.hi, hi, 1e-15);
  }
}

TEST(Enclosure, KnowsWhereAFunctionHasNoValue) {
  const Enclosure below(-1.5, {-2.0, -1.0}, {1.0, 1.0}), across(0, {-1.0, 1.0}, {1.0, 1.0});
  EXPECT_TRUE(sqrt(below).value.empty());
  EXPECT_TRUE(log(below).value.empty());
  EXPECT_TRUE(asin(below * 2.0).value.empty());
  EXPECT_TRUE((sqrt(below) + 1.0).value.empty());
  EXPECT_FALSE(sqrt(across).value.empty());
  EXPECT_EQ((1.0 / across).value.hi, std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace stickslip::enclosure_test
