// SPDX-License-Identifier: Apache-2.0
// Functions given by points: alone, and called from expressions.
#include "stickslip/model/time_table.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/common/error.hpp"
#include "stickslip/common/taylor.hpp"
#include "stickslip/model/expression.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip::time_table_test {
namespace {

using Numbers = std::vector<double>;

SymbolTable symbols(Interpolation interpolation = Interpolation::linear) {
  SymbolTable table;
  table.add_variable("t");
  table.add_variable("x");
  table.add_variable("v_x");
  table.add_variable("i");
  table.add_constant("k", 3.0);
  table.add_table("road",
                  std::make_shared<TimeTable>(Numbers{0, 1, 3, 4}, Numbers{1, 2, 0, 5}, "road.csv", interpolation));
  return table;
}

TEST(TimeTable, IsLinearBetweenItsPointsAndConstantOutside) {
  const TimeTable table({0, 1, 3}, {1, 2, 0}, "a.csv");
  for (const auto& [t, value, slope] : std::vector<std::array<double, 3>>{
           {-5, 1, 0}, {0, 1, 1}, {0.25, 1.25, 1}, {1, 2, -1}, {2.5, 0.5, -1}, {3, 0, 0}, {7, 0, 0}}) {
    EXPECT_EQ(table(t), value) << t;
    EXPECT_EQ(table.slope_after(t), slope) << t;
  }
}

TEST(TimeTable, ASplineIsTwiceContinuouslyDifferentiableAndGoesThroughItsPoints) {
  const Numbers x{0, 0.5, 2, 2.25, 5}, y{1, -1, 3, 3, 0};
  const TimeTable table(x, y, "a.csv", Interpolation::cubic);
  const auto at = [&](double t) { return table.evaluate(SecondDual(Dual(t, 1.0), Dual(1.0, 0.0))); };
  for (std::size_t k = 0; k < x.size(); ++k) EXPECT_NEAR(table(x[k]), y[k], 1e-15);
  for (std::size_t k = 1; k + 1 < x.size(); ++k) {
    const SecondDual before = at(std::nextafter(x[k], 0.0)), after = at(x[k]);
    EXPECT_NEAR(before.slope.value, after.slope.value, 1e-12);
    EXPECT_NEAR(before.slope.slope, after.slope.slope, 1e-12);
  }
  EXPECT_NEAR(at(0).slope.slope, 0, 1e-13);
  EXPECT_NEAR(at(std::nextafter(5.0, 0.0)).slope.slope, 0, 1e-13);
}

/// Natural splines are exact for what has no second derivative at the ends: sin(pi x) on [0, 3] to fourth order.
TEST(TimeTable, ASplineConvergesWithOrderFour) {
  std::array<double, 2> error{};
  for (int level = 0; level < 2; ++level) {
    const int n = 30 << level;
    Numbers x, y;
    for (int k = 0; k <= n; ++k) {
      x.push_back(3.0 * k / n);
      y.push_back(std::sin(M_PI * x.back()));
    }
    const TimeTable table(x, y, "a.csv", Interpolation::cubic);
    for (double t = 0; t < 3; t += 0.001)
      error[static_cast<std::size_t>(level)] =
          std::max(error[static_cast<std::size_t>(level)], std::abs(table(t) - std::sin(M_PI * t)));
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), 4.0, 0.1);
}

TEST(TimeTable, RefusesPointsThatAreNoFunction) {
  EXPECT_THROW(TimeTable({0, 1, 0.5}, {1, 2, 3}, "a.csv"), InputError);
  EXPECT_THROW(TimeTable({0, 1, 1, 1}, {1, 2, 3, 4}, "a.csv"), InputError);
  EXPECT_NO_THROW(TimeTable({0, 1, 1}, {1, 2, 3}, "a.csv"));
  EXPECT_THROW(TimeTable({0, 1, 1}, {1, 2, 3}, "a.csv", Interpolation::cubic), InputError);
  EXPECT_THROW(TimeTable({0, 1e-300, 1}, {1e300, -1e300, 3}, "a.csv", Interpolation::cubic), InputError);
}

TEST(TableInExpression, IsAFunctionOfAnyArgument) {
  const Numbers point{2.0, 0.5, 0.0, 0.0};
  const auto value = [&](const char* text) { return Expression::parse(text, symbols())(point); };
  EXPECT_EQ(value("road(t)"), 1.0);
  EXPECT_EQ(value("k*road(x) + 1"), 5.5);
  EXPECT_EQ(value("road(road(x) + 1.5)"), 0.0);
  EXPECT_EQ(value("road(2)"), 1.0);
  EXPECT_TRUE(Expression::parse("road(2)", symbols()).is_constant());
  EXPECT_EQ(Expression::parse("road(x*t)", symbols()).variables_used(), (std::vector<Index>{0, 1}));
}

TEST(TableInExpression, HasTheDerivativesOfItsPieces) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(-1, 5);
  for (const Interpolation interpolation : {Interpolation::linear, Interpolation::cubic}) {
    const Expression f = Expression::parse("road(x)*x + road(t)", symbols(interpolation));
    for (int sample = 0; sample < 200; ++sample) {
      const Numbers point{uniform(random), uniform(random), 0, 0};
      constexpr double h = 1e-5;
      Numbers more = point, less = point;
      more[1] += h;
      less[1] -= h;
      if (std::floor(more[1]) != std::floor(less[1])) continue;  // points are integers
      EXPECT_NEAR(f.derivative(point, 1), (f(more) - f(less)) / (2 * h), 1e-7);
      EXPECT_NEAR(f.second_derivative(point, 1, 1), (f(more) - 2 * f(point) + f(less)) / (h * h), 1e-4);
    }
  }
}

TEST(TableInExpression, HasASeriesUpToItsNextPoint) {
  const Expression f = Expression::parse("road(t)^2", symbols(Interpolation::cubic));
  const Numbers point{1.25, 0, 0, 0};
  const Taylor series = f.series(point, 0, 1.0);
  for (const double s : {0.0, 0.5, 1.0, 1.7}) {
    double sum = 0, power = 1;
    for (const double c : series.c) {
      sum += c * power;
      power *= s;
    }
    EXPECT_NEAR(sum, f(Numbers{1.25 + s, 0, 0, 0}), 1e-12) << s;
  }
}

TEST(TableInExpression, ItsPointsAreBreakpointsWhereTheArgumentIsTime) {
  const auto times = [](const char* text) {
    BreakpointSearch search{0, 10};
    Expression::parse(text, symbols()).append_breakpoints(0, search);
    return search.times;
  };
  EXPECT_EQ(times("road(t)"), (Numbers{1, 3, 4}));
  EXPECT_EQ(times("road(2*t - 1)*x"), (Numbers{0.5, 1, 2, 2.5}));
  EXPECT_EQ(times("road(x)"), Numbers{});
  EXPECT_EQ(times("road(t) + floor(t/4)"), (Numbers{1, 3, 4, 8}));
  const Numbers square = times("road(t^2)");
  ASSERT_EQ(square.size(), 3u);
  EXPECT_NEAR(square[1], std::sqrt(3.0), 1e-15);
  // A periodic argument passes the points again and again.
  EXPECT_EQ(times("road(mod(t, 2))").size(), 5u + 4u);
}

TEST(TableInExpression, IsNoPolynomialButOfAConstant) {
  EXPECT_EQ(StateFunction(Expression::parse("road(x)", symbols())).degree(), Degree::any);
  EXPECT_EQ(StateFunction(Expression::parse("road(1)*x", symbols())).degree(), Degree::affine);
}

TEST(TableInExpression, MistakesAreExplained) {
  const auto message = [](const char* text) -> std::string {
    try {
      Expression::parse(text, symbols());
    } catch (const ExpressionError& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(message("road + 1"), "'road' is a table: write road(t), or road of any other expression");
  EXPECT_EQ(message("road(t, x)"), "road takes 1 argument, not 2");
  EXPECT_EQ(message("raod(t)"), "unknown function 'raod' (did you mean 'road'?)");
  EXPECT_EQ(message("qqqqqqqqq(t)"),
            "unknown function 'qqqqqqqqq' (known: road, pi, and, or, not, sin, cos, tan, asin, acos, atan, atan2, "
            "sinh, cosh, "
            "tanh, exp, log, sqrt, abs, sign, ...); functions given by points stand under [tables]");
  SymbolTable table = symbols();
  EXPECT_THROW(table.add_variable("road"), InputError);
  EXPECT_THROW(table.add_table("k", table.find_table("road")), InputError);
  EXPECT_THROW(table.add_table("sin", table.find_table("road")), InputError);
}

/// What a person is told who forgot something.
TEST(ExpressionHints, NameWhatWasProbablyMeant) {
  SymbolTable table;
  table.add_variable("t");
  table.add_variable("a");
  table.add_variable("v_a");
  table.add_constant("stiffness", 1.0);
  const auto message = [&](const char* text) -> std::string {
    try {
      Expression::parse(text, table);
    } catch (const ExpressionError& error) {
      return error.message();
    }
    return "";
  };
  EXPECT_EQ(message("2*va"), "unknown name 'va' (did you mean 'v_a'?)");
  EXPECT_EQ(message("k*a"), "unknown name 'k'; define it under [parameters], as in k = 1.0");
  EXPECT_EQ(message("stifness*a"), "unknown name 'stifness' (did you mean 'stiffness'?)");
  EXPECT_EQ(message("i"), "unknown name 'i'; it has no value here");
}

}  // namespace
}  // namespace stickslip::time_table_test
