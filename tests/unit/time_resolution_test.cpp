// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/time_resolution.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/common/interval_series.hpp"
#include "stickslip/model/matrix_model.hpp"

namespace stickslip::time_resolution_test {
namespace {

std::unique_ptr<System> forced(const std::string& text) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = SystemMatrix(DenseMatrix{{1.0}});
  model.damping = model.stiffness = SystemMatrix(DenseMatrix{{0.0}});
  model.force.components = {StateFunction(Expression::parse(text, state_symbols(model.coordinates, {})))};
  return make_system(std::move(model));
}

/// Every coefficient of the series at any point of the interval lies in its enclosure.
template <class Function>
void expect_enclosed(Function g, double from, double to) {
  constexpr int kOrder = 8;
  IntervalSeries t(kOrder, {from, to});
  t.c[1] = {1, 1};
  t.top = 1;
  const IntervalSeries enclosure = g(t);
  std::mt19937 random(1);
  for (int sample = 0; sample < 50; ++sample) {
    const double at = std::uniform_real_distribution<double>(from, to)(random);
    IntervalSeries point(kOrder, {at, at});
    point.c[1] = {1, 1};
    point.top = 1;
    const IntervalSeries value = g(point);
    for (int k = 0; k <= kOrder; ++k) {
      const double slack = 1e-12 * (1 + enclosure.c[k].magnitude());
      EXPECT_GE(value.c[k].lo, enclosure.c[k].lo - slack) << k;
      EXPECT_LE(value.c[k].hi, enclosure.c[k].hi + slack) << k;
    }
  }
}

TEST(IntervalSeries, EnclosesWhatItsPointsAre) {
  expect_enclosed([](const IntervalSeries& t) { return sin(t) * exp(-t); }, 0.3, 2.1);
  expect_enclosed([](const IntervalSeries& t) { return pow(t, 0.5) + log(t) / pow(t, 3); }, 0.5, 0.9);
  expect_enclosed([](const IntervalSeries& t) { return tanh(t) + atan(t) - tan(t); }, -0.4, 0.8);
  expect_enclosed([](const IntervalSeries& t) { return cosh(t) - sinh(t) * cos(t); }, -1, 2);
  expect_enclosed([](const IntervalSeries& t) { return asin(t) + acos(pow(t, 2)); }, -0.5, 0.4);
  expect_enclosed([](const IntervalSeries& t) { return max(pow(t, 2), t) + abs(-t); }, 1.5, 2);
}

// The first derivative of the exponential is itself: coefficients are 1/k!.
TEST(IntervalSeries, HasTheCoefficientsOfTheExponential) {
  IntervalSeries t(10, {0, 0});
  t.c[1] = {1, 1};
  t.top = 1;
  const IntervalSeries e = exp(t);
  double factorial = 1;
  for (int k = 0; k <= 10; factorial *= ++k) EXPECT_NEAR(e.c[k].hi, 1 / factorial, 1e-15);
}

TEST(TimeResolution, StepsOverNoPulse) {
  for (const double width : {1e-1, 1e-3, 1e-6, 1e-8}) {
    const auto system = forced(fmt::format("exp(-((t-5)/{})^2)", width));
    TimeResolution resolution(*system, 0, 10, kResolvedOrder, kResolvedAccuracy);
    double t = 0, inside = 0;
    int steps = 0;
    while (t < 10 && ++steps < 2000) {
      const double next = resolution.until(t, 10);
      ASSERT_GT(next, t);
      if (std::abs(t - 5) < 2 * width) inside = std::max(inside, next - t);
      t = next;
    }
    EXPECT_EQ(t, 10);
    EXPECT_LT(steps, 500) << width;
    EXPECT_GT(inside, 0) << width;
    EXPECT_LT(inside, 2 * width) << width;
  }
}

TEST(TimeResolution, PassesKinksAndTakesPolynomialsAtOnce) {
  const auto line = forced("3*t^3 - t");
  EXPECT_EQ(TimeResolution(*line, 0, 10, kResolvedOrder, kResolvedAccuracy).until(0, 10), 10);
  const auto kink = forced("sqrt(abs(t - 3)) + abs(sin(t))");
  TimeResolution resolution(*kink, 0, 10, kResolvedOrder, kResolvedAccuracy);
  double t = 0;
  int steps = 0;
  for (; t < 10 && !resolution.stuck() && steps < 20000; ++steps) t = resolution.until(t, 10);
  EXPECT_EQ(t, 10) << steps;
}

TEST(TimeResolution, SaysWhereNothingCanBeResolved) {
  const auto system = forced("sin(1e20*t)");
  TimeResolution resolution(*system, 0, 10, kResolvedOrder, kResolvedAccuracy);
  double t = 1;
  for (int k = 0; k < 5000 && !resolution.stuck(); ++k) t = resolution.until(t, 10);
  EXPECT_TRUE(resolution.stuck());
}

// A function for all coordinates takes, for each index, the branch of that index alone: never both.
TEST(TimeResolution, TakesEveryIndexByItself) {
  auto longest = [](const std::string& text) {
    MatrixModel model;
    model.coordinates = {"a", "b", "c"};
    model.mass = SystemMatrix(DenseMatrix(DenseMatrix::Identity(3, 3)));
    model.damping = model.stiffness = SystemMatrix(DenseMatrix(DenseMatrix::Zero(3, 3)));
    model.force.common = StateFunction(Expression::parse(text, state_symbols(model.coordinates, {})));
    const auto system = make_system(std::move(model));
    return TimeResolution(*system, 0, 10, kResolvedOrder, kResolvedAccuracy).until(0, 10);
  };
  const double wave = longest("sin(t)");
  ASSERT_GT(wave, 0.5);
  for (const char* text : {"if(i == 0, sin(t), 0)", "if(i < 1, 0, sin(t))", "sin(t)*if(mod(i, 2) == 0, 1, 0)",
                           "if(i == 1 and 1 > 0, sin(t), if(i == 0, 1, 2))", "max(i, 1)*sin(t)", "abs(i - 1)*sin(t)"})
    EXPECT_DOUBLE_EQ(longest(text), wave) << text;
  EXPECT_EQ(longest("if(i == 7, sin(1e20*t), t)"), 10);  // no coordinate has this index
  EXPECT_LT(longest("if(i == 2, sin(100*t), t)"), 0.1 * wave);
}

}  // namespace
}  // namespace stickslip::time_resolution_test
