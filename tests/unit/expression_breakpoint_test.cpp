// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "stickslip/model/expression.hpp"

namespace stickslip {
namespace {

using Times = std::vector<double>;

SymbolTable symbols() {
  SymbolTable table;
  table.add_variable("x");
  table.add_variable("t");
  return table;
}

Times breakpoints(const std::string& text, double from, double to, Index scan_points = 100) {
  Times times;
  Expression::parse(text, symbols()).append_breakpoints(1, from, to, scan_points, times);
  return times;
}

/// `units`: allowed distance in units of 2^-52 relative to the time.
void expect_times(const Times& actual, const Times& expected, double units, const std::string& label) {
  ASSERT_EQ(actual.size(), expected.size()) << label;
  for (std::size_t k = 0; k < actual.size(); ++k)
    EXPECT_NEAR(actual[k], expected[k], units * std::numeric_limits<double>::epsilon() * std::abs(expected[k]))
        << label;
}

TEST(ExpressionBreakpoints, ComparisonWithARoundTimeGivesExactlyThatTime) {
  for (const char* op : {"<", "<=", ">", ">=", "==", "!="}) {
    for (const char* time : {"1", "0.1", "0.3", "0.7", "1.1", "2.5", "1e-3"}) {
      EXPECT_EQ(breakpoints("if(t " + std::string(op) + " " + time + ", 2, x)", 0, 10), Times{std::stod(time)});
      EXPECT_EQ(breakpoints("if(" + std::string(time) + " " + op + " t, 2, x)", 0, 10), Times{std::stod(time)});
    }
  }
  EXPECT_EQ(breakpoints("sign(t - 1)", 0, 10), Times{1.0});
  EXPECT_EQ(breakpoints("abs(t - 1)*x", 0, 10), Times{1.0});
  EXPECT_EQ(breakpoints("min(t, 1) + max(2, x, t) + max(t, 3)", 0, 10), (Times{1.0, 3.0}));
  EXPECT_EQ(breakpoints("t < 0", -1, 2), Times{0.0});
  EXPECT_EQ(breakpoints("2*t - 1 > 0.5*(t + 1)", 0, 10), Times{1.0});
  EXPECT_EQ(breakpoints("min(t, 2 - t, 0.5)", -1, 3), (Times{0.5, 1.5}));
  EXPECT_EQ(breakpoints("atan2(t - 1, -1)", 0, 2), Times{1.0});
}

TEST(ExpressionBreakpoints, LieStrictlyInsideTheInterval) {
  for (const char* op : {"<", "<=", ">", ">=", "=="}) {
    const std::string text = "t " + std::string(op) + " 1";
    EXPECT_EQ(breakpoints(text, 1, 2), Times{});
    EXPECT_EQ(breakpoints(text, 0, 1), Times{});
    EXPECT_EQ(breakpoints(text, 2, 3), Times{});
    EXPECT_EQ(breakpoints(text, 0, 3), Times{1.0});
  }
  EXPECT_EQ(breakpoints("floor(t)", 0, 3), (Times{1.0, 2.0}));
}

TEST(ExpressionBreakpoints, ShortPulsesAreNeverMissed) {
  EXPECT_EQ(breakpoints("t > 1 and t < 1.000001", 0, 1000, 3), (Times{1.0, 1.000001}));
  EXPECT_EQ(breakpoints("if(t >= 1, if(t < 1.000001, 1e6, 0), 0)", 0, 1000, 3), (Times{1.0, 1.000001}));
  Times expected;
  for (int k = 0; k < 100; ++k) {
    if (k > 0) expected.push_back(10.0 * k);
    expected.push_back(10.0 * k + 1e-6);
  }
  // t - 10 k cancels: the remainder is exact, but the end of the pulse is only as fine as the spacing of t.
  expect_times(breakpoints("mod(t, 10) < 1e-6", 0, 1000, 3), expected, 2, "train of pulses");
}

TEST(ExpressionBreakpoints, PeriodicSwitchesAreFoundInEveryPeriod) {
  Times expected;
  for (int k = 1; k < 40; ++k) expected.push_back(0.25 * k);
  EXPECT_EQ(breakpoints("mod(t, 0.5) < 0.25", 0, 10), expected);

  expected.clear();
  for (int k = 1; k < 20; ++k) expected.push_back(0.5 * k);
  // 2πt is rounded twice, and the root of sin near it is that of the true π.
  expect_times(breakpoints("sin(2*pi*t) > 0", 0, 10), expected, 4, "sin");

  expected.clear();
  for (int k = 1; k < 30; ++k) expected.push_back(k / 3.0);
  expect_times(breakpoints("floor(3*t)*x", 0, 10), expected, 2, "floor");

  expected.clear();
  for (int k = 1; k < 100; ++k) expected.push_back(0.1 * k);
  expect_times(breakpoints("mod(t, 0.1)", 0, 10), expected, 2, "mod");

  // A triangle wave from mod and abs, compared with a level: piecewise affine, all found with one scan cell.
  expected.clear();
  for (int k = 0; k < 50; ++k)
    for (const double offset : {0.25, 0.5, 0.75, 1.0})
      if (k + offset < 50) expected.push_back(k + offset);
  EXPECT_EQ(breakpoints("abs(mod(t, 1) - 0.5) < 0.25", 0, 50, 1), expected);
}

TEST(ExpressionBreakpoints, NonlinearSwitchesAreFoundBetweenScanPoints) {
  expect_times(breakpoints("t^2 > 2", 0, 10), {std::sqrt(2.0)}, 2, "square");
  expect_times(breakpoints("exp(t) > 5 or x", 0, 10), {std::log(5.0)}, 2, "exp");
  expect_times(breakpoints("floor(t^2)", 0, 2.1, 10), {1.0, std::sqrt(2.0), std::sqrt(3.0), 2.0}, 2, "floor");
  // Two changes between the same two scan points: the distance from switching has a smallest value there.
  const double half_width = std::acos(0.9999) / (2 * std::numbers::pi);
  Times expected;
  for (int k = 0; k < 10; ++k)
    for (const double side : {-1.0, 1.0}) expected.push_back(k + 0.25 + side * half_width);
  // The slope of sin there is 0.014 of its largest: rounding of the sine moves the time by 70 units.
  expect_times(breakpoints("sin(2*pi*t) > 0.9999", 0, 10, 70), expected, 300, "top of the sine");
}

TEST(ExpressionBreakpoints, SwitchesOfOtherVariablesAreNotBreakpoints) {
  EXPECT_EQ(breakpoints("if(x < 1, 2, 3) + abs(x) + floor(x*t)", 0, 10), Times{});
  EXPECT_EQ(breakpoints("if(x < t, t, 3)", 0, 10), Times{});
  EXPECT_EQ(breakpoints("if(x < 1, if(t < 2, 1, 0), 3)", 0, 10), Times{2.0});
  EXPECT_EQ(breakpoints("min(x, floor(t))", 0, 3), (Times{1.0, 2.0}));
  EXPECT_EQ(breakpoints("sin(t)", 0, 10), Times{});
}

TEST(ExpressionBreakpoints, SwitchesInABranchNotTakenDoNotCount) {
  EXPECT_EQ(breakpoints("if(t < 3, floor(t), 0)", 0, 1e9), (Times{1.0, 2.0, 3.0}));
  EXPECT_EQ(breakpoints("if(t < 3, 0, mod(t, 2))", 0, 7), (Times{3.0, 4.0, 6.0}));
  EXPECT_EQ(breakpoints("t < 2 and t > 5", 0, 10), Times{2.0});
  EXPECT_EQ(breakpoints("t < 2 or t > 5", 0, 10), (Times{2.0, 5.0}));
}

TEST(ExpressionBreakpoints, ListsOfSeveralExpressionsAreUnited) {
  Times times = {5.0, 1.0};
  const auto append = [&](const char* text) {
    Expression::parse(text, symbols()).append_breakpoints(1, 0, 3, 10, times);
  };
  append("t < 1");
  append("t <= 2");
  append("10*t > 20");
  EXPECT_EQ(times, (Times{1.0, 2.0, 5.0}));
}

TEST(ExpressionBreakpoints, TooManyAreRefusedAtOnce) {
  EXPECT_THROW(breakpoints("floor(1e9*t)", 0, 1), InputError);
  EXPECT_THROW(breakpoints("floor(1/t)", 0, 1), InputError);
  EXPECT_EQ(breakpoints("floor(1e4*t)", 0, 1).size(), 9999u);
}

TEST(ExpressionBreakpoints, LongChainsOfConditionsAreSearchedInReasonableTime) {
  std::string text = "t > 0.5";
  for (int k = 0; k < 6000; ++k) text += " and t < 2";
  EXPECT_EQ(breakpoints(text, 0, 3), (Times{0.5, 2.0}));
}

TEST(ExpressionBreakpoints, RandomPulseTrainsAreConstantBetweenTheirBreakpoints) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.05, 2.0);
  for (int sample = 0; sample < 50; ++sample) {
    const std::string text = "if(mod(t - " + std::to_string(uniform(random)) + ", " + std::to_string(uniform(random)) +
                             ") < " + std::to_string(0.5 * uniform(random)) + ", floor(" +
                             std::to_string(uniform(random)) + "*t), -(abs(t - " + std::to_string(5 * uniform(random)) +
                             ") > " + std::to_string(uniform(random)) + "))";
    const Expression f = Expression::parse(text, symbols());
    Times times = breakpoints(text, 0, 10, 1);
    times.insert(times.begin(), 0.0);
    times.push_back(10.0);
    for (std::size_t k = 0; k + 1 < times.size(); ++k) {
      const double width = times[k + 1] - times[k];
      const double middle = f(std::array{0.0, times[k] + 0.5 * width});
      for (const double fraction : {1e-6, 0.01, 0.3, 0.77, 0.99, 1 - 1e-6})
        EXPECT_EQ(f(std::array{0.0, times[k] + fraction * width}), middle) << text << " at " << times[k];
    }
  }
}

}  // namespace
}  // namespace stickslip
