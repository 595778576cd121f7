// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "stickslip/model/expression.hpp"

namespace stickslip::expression_breakpoint_test {
namespace {

using Times = std::vector<double>;

SymbolTable symbols() {
  SymbolTable table;
  table.add_variable("x");
  table.add_variable("t");
  return table;
}

BreakpointSearch search(const std::string& text, double from, double to) {
  BreakpointSearch result{from, to};
  Expression::parse(text, symbols()).append_breakpoints(1, result);
  return result;
}

/// All of them: a search that was cut off fails the test.
Times breakpoints(const std::string& text, double from, double to) {
  BreakpointSearch result = search(text, from, to);
  EXPECT_GE(result.complete_until, to) << text;
  return std::move(result.times);
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
  EXPECT_EQ(breakpoints("t > 1 and t < 1.000001", 0, 1000), (Times{1.0, 1.000001}));
  EXPECT_EQ(breakpoints("if(t >= 1, if(t < 1.000001, 1e6, 0), 0)", 0, 1000), (Times{1.0, 1.000001}));
  Times expected;
  for (int k = 0; k < 100; ++k) {
    if (k > 0) expected.push_back(10.0 * k);
    expected.push_back(10.0 * k + 1e-6);
  }
  // t - 10 k cancels: the remainder is exact, but the end of the pulse is only as fine as the spacing of t.
  expect_times(breakpoints("mod(t, 10) < 1e-6", 0, 1000), expected, 2, "train of pulses");
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
  EXPECT_EQ(breakpoints("abs(mod(t, 1) - 0.5) < 0.25", 0, 50), expected);
}

TEST(ExpressionBreakpoints, NonlinearSwitchesAreFoundBetweenScanPoints) {
  expect_times(breakpoints("t^2 > 2", 0, 10), {std::sqrt(2.0)}, 2, "square");
  expect_times(breakpoints("exp(t) > 5 or x", 0, 10), {std::log(5.0)}, 2, "exp");
  expect_times(breakpoints("floor(t^2)", 0, 2.1), {1.0, std::sqrt(2.0), std::sqrt(3.0), 2.0}, 2, "floor");
  // Two changes between the same two scan points: the distance from switching has a smallest value there.
  const double half_width = std::acos(0.9999) / (2 * std::numbers::pi);
  Times expected;
  for (int k = 0; k < 10; ++k)
    for (const double side : {-1.0, 1.0}) expected.push_back(k + 0.25 + side * half_width);
  // The slope of sin there is 0.014 of its largest: rounding of the sine moves the time by 70 units.
  expect_times(breakpoints("sin(2*pi*t) > 0.9999", 0, 10), expected, 300, "top of the sine");
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
  BreakpointSearch all{0, 3, {5.0, 1.0}};
  const auto append = [&](const char* text) { Expression::parse(text, symbols()).append_breakpoints(1, all); };
  append("t < 1");
  append("t <= 2");
  append("10*t > 20");
  EXPECT_EQ(all.times, (Times{1.0, 2.0, 5.0}));
}

TEST(ExpressionBreakpoints, AreCutOffAfterAMillionWithTheTimeUpToWhichAllAreFound) {
  const BreakpointSearch fast = search("floor(1e9*t)", 0, 1);
  EXPECT_NEAR(fast.complete_until, 1e-3, 1e-8);
  EXPECT_EQ(std::upper_bound(fast.times.begin(), fast.times.end(), fast.complete_until) - fast.times.begin(),
            1'000'000);
  EXPECT_GT(fast.times.back(), 0.999);  // later ones: one for each part of a grid
  EXPECT_LT(fast.times.size(), 1'010'000u);
  EXPECT_EQ(breakpoints("floor(1e4*t)", 0, 1).size(), 9999u);
}

TEST(ExpressionBreakpoints, AStopRequestEndsTheSearch) {
  const std::atomic<bool> stop = true;
  BreakpointSearch result{0, 1};
  result.stop = &stop;
  Expression::parse("floor(1e4*t)", symbols()).append_breakpoints(1, result);
  EXPECT_TRUE(result.times.empty());
}

TEST(ExpressionBreakpoints, ASearchThatLeadsNowhereSaysSoAndGoesOnWithAGrid) {
  const BreakpointSearch wild = search("sign(sin(1/t)) + (t > 0.75)", 0, 1);
  EXPECT_LT(wild.complete_until, 0.1);
  ASSERT_FALSE(wild.times.empty());
  EXPECT_EQ(wild.times.back(), 0.75);
  EXPECT_EQ(std::count_if(wild.times.begin(), wild.times.end(), [](double t) { return t > 0.2 && t < 0.7; }), 1);
}

TEST(ExpressionBreakpoints, AreAllFoundHoweverManyThereAre) {
  struct Case {
    std::string text;
    double to;
    std::size_t count;
  };
  const double pi = std::numbers::pi;
  const auto turns = [&](double omega, double to) { return static_cast<std::size_t>(omega * to / pi); };
  for (const Case& c : {Case{"sign(sin(10*t))", 3000, turns(10, 3000)},
                        {"sign(sin(10*t))", 1e4, turns(10, 1e4)},
                        {"if(sin(3*t + 1) > 0, 1, -1)", 5000, static_cast<std::size_t>((3 * 5000.0 + 1) / pi)},
                        {"abs(cos(10*t))*x", 1000, static_cast<std::size_t>(10 * 1000.0 / pi + 0.5)},
                        {"min(sin(7*t), 0)", 1000, turns(7, 1000)},
                        {"floor(mod(1000*t, 3))", 10, 9999},
                        {"sin(50*t)*cos(t/7) > 2", 1000, 0},
                        {"tan(t) > 0", 1000, static_cast<std::size_t>(2 * 1000 / pi)},
                        {"sign(sin(t^2))", 100, static_cast<std::size_t>(1e4 / pi)},
                        {"sign(sin(exp(t)))", 9, static_cast<std::size_t>(std::exp(9.0) / pi)},
                        {"sign(sin(20*t) + 0.3*sin(20*t))", 200, turns(20, 200)}}) {
    const Times times = breakpoints(c.text, 0, c.to);
    EXPECT_EQ(times.size(), c.count) << c.text;
  }
}

TEST(ExpressionBreakpoints, ChangesOfSinesAreWhereTheyShouldBe) {
  const Times times = breakpoints("sign(sin(10*t))", 0, 3000);
  for (std::size_t k = 0; k < times.size(); ++k) {
    const double expected = static_cast<double>(k + 1) * std::numbers::pi / 10;
    EXPECT_NEAR(times[k], expected, 1e-15 * expected);
  }
}

TEST(ExpressionBreakpoints, AHundredThousandJumpsAreWithinReach) {
  EXPECT_EQ(breakpoints("sign(sin(314.1592653589793*t))", 0, 999.001).size(), 99900u);
}

TEST(ExpressionBreakpoints, PulsesOfASumOfSinesAreNotSteppedOver) {
  // Near 1 only where both crests meet: cos t + cos(t + δ) > 2 - ε.
  const std::string text = "cos(100*t) + cos(101*t) > 1.999999";
  const Times times = breakpoints(text, 0.1, 62);
  // Crests of both meet again at t = 2 π k; around each the sum is 2 - (100² + 101²) s²/2.
  const double half = std::sqrt(2e-6 / (100.0 * 100 + 101.0 * 101));
  ASSERT_EQ(times.size(), 18u);
  for (std::size_t k = 0; k < 9; ++k) {
    const double crest = 2 * std::numbers::pi * static_cast<double>(k + 1);
    EXPECT_NEAR(times[2 * k], crest - half, 1e-3 * half);
    EXPECT_NEAR(times[2 * k + 1], crest + half, 1e-3 * half);
  }
}

TEST(ExpressionBreakpoints, WhereAnArgumentHasNoValueNothingIsSearched) {
  EXPECT_EQ(breakpoints("sqrt(t - 5) > 1", 0, 10), Times{6.0});
  EXPECT_EQ(breakpoints("log(sin(t)) > 0.5", 0, 1000), Times{});
  EXPECT_EQ(breakpoints("abs(t) - t > 0", -1, 1), Times{0.0});
  EXPECT_EQ(breakpoints("sign(0*t)", -1, 1), Times{});
}

TEST(ExpressionBreakpoints, AHeldVariableIsANumber) {
  const Expression f = Expression::parse("if(x > 2, floor(t + x/4), t < x)", symbols());
  BreakpointSearch none{0, 3}, small{0, 3}, large{0, 3};
  f.append_breakpoints(1, none);
  EXPECT_EQ(none.times, Times{});
  f.append_breakpoints(1, small, {0, 1.0});
  EXPECT_EQ(small.times, Times{1.0});
  f.append_breakpoints(1, large, {0, 3.0});
  expect_times(large.times, {0.25, 1.25, 2.25}, 2, "t + 0.75 is rounded");
  EXPECT_TRUE(f.has_switch_of(1));
  EXPECT_FALSE(Expression::parse("if(x > 2, t, 0)", symbols()).has_switch_of(1));
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
    Times times = breakpoints(text, 0, 10);
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
}  // namespace stickslip::expression_breakpoint_test
