// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace stickslip::expression_test {
namespace {

/// t, x, y, v_x, elbow.rz in slots 0..4, and the constants k = 3, zero = 0.
SymbolTable symbols() {
  SymbolTable table;
  for (const char* name : {"t", "x", "y", "v_x", "elbow.rz"}) table.add_variable(name);
  table.add_constant("k", 3.0);
  table.add_constant("zero", 0.0);
  return table;
}

const std::array<double, 5> kPoint = {0.25, 2.0, -3.0, 0.5, 7.0};

double value(const std::string& text) { return Expression::parse(text, symbols())(kPoint); }

TEST(Expression, PrecedenceAndAssociativityFollowTheGrammar) {
  const std::vector<std::pair<std::string, double>> table = {
      {"1", 1},
      {".5", 0.5},
      {"1.", 1},
      {"1e-3", 1e-3},
      {"1.5E+2", 150},
      {"1+2*3", 7},
      {"(1+2)*3", 9},
      {"7-4-2", 1},
      {"16/4/2", 2},
      {"2*3/4", 1.5},
      {"-2^2", -4},
      {"(-2)^2", 4},
      {"2^3^2", 512},
      {"(2^3)^2", 64},
      {"2^-1", 0.5},
      {"2^-1^2", 0.5},
      {"-2^-2", -0.25},
      {"--2", 2},
      {"-+-2", 2},
      {"2*-3", -6},
      {"2--3", 5},
      {"+x", 2},
      {"-x^2", -4},
      {"-x*y", 6},
      {"x^2*y", -12},
      {"x*y^2", 18},
      {"1-x^y", 1 - 0.125},
      {"1 < 2", 1},
      {"2 <= 2", 1},
      {"2 < 2", 0},
      {"3 > x", 1},
      {"x >= 3", 0},
      {"x == 2", 1},
      {"x != 2", 0},
      {"1 + 1 == 2", 1},
      {"not x", 0},
      {"not 0", 1},
      {"not not x", 1},
      {"not x < 1", 1},
      {"not x == 2", 0},
      {"1 or 0 and 0", 1},
      {"(1 or 0) and 0", 0},
      {"not 1 or 1", 1},
      {"not (1 or 1)", 0},
      {"not 0 and 0", 0},
      {"x and y", 1},
      {"zero or x", 1},
      {"x or t", 1},
      {"5 and 3", 1},
      {"0 and 3", 0},
      {"(x > 1) + (y > 1)", 1},
      {"if(x > 1, 10, 20)", 10},
      {"if(x < 1, 10, 20) + 1", 21},
      {"if(x < 1, 1, if(y < 0, 2, 3))", 2},
      {"2*if(x < 1, 1, 4)^2", 32},
      {"1 + if(t, if(x == 2, 5, 6), 7)*2", 11},
      {"elbow.rz + v_x", 7.5},
      {"k*x + zero", 6},
      {"2*pi", 2 * std::numbers::pi},
      {"\t x\n + \r 1 ", 3},
      {"min(3, 1, 2)", 1},
      {"max(x, y, t, 1)", 2},
      {"min(x, y)", -3},
      {"x - 1", 1},
      {"1 - x", -1},
      {"x/4", 0.5},
      {"8/x", 4},
      {"x - y", 5},
      {"x/y", 2.0 / -3.0},
      {"2 < x", 0},
      {"2 <= x", 1},
      {"2 > x", 0},
      {"2 >= x", 1},
      {"3 == x", 0},
      {"3 != x", 1},
  };
  for (const auto& [text, expected] : table) EXPECT_EQ(value(text), expected) << text;
}

struct NamedFunction {
  std::string text;  // of x (and y)
  std::function<double(double, double)> reference;
  double from, to;  // of x and of y
};

const std::vector<NamedFunction>& functions() {
  static const std::vector<NamedFunction> list = {
      {"sin(x)", [](double x, double) { return std::sin(x); }, -5, 5},
      {"cos(x)", [](double x, double) { return std::cos(x); }, -5, 5},
      {"tan(x)", [](double x, double) { return std::tan(x); }, -1.4, 1.4},
      {"asin(x)", [](double x, double) { return std::asin(x); }, -0.95, 0.95},
      {"acos(x)", [](double x, double) { return std::acos(x); }, -0.95, 0.95},
      {"atan(x)", [](double x, double) { return std::atan(x); }, -5, 5},
      {"atan2(x, y)", [](double x, double y) { return std::atan2(x, y); }, 0.1, 5},
      {"atan2(x, -y)", [](double x, double y) { return std::atan2(x, -y); }, 0.1, 5},
      {"sinh(x)", [](double x, double) { return std::sinh(x); }, -3, 3},
      {"cosh(x)", [](double x, double) { return std::cosh(x); }, -3, 3},
      {"tanh(x)", [](double x, double) { return std::tanh(x); }, -3, 3},
      {"exp(x)", [](double x, double) { return std::exp(x); }, -3, 3},
      {"log(x)", [](double x, double) { return std::log(x); }, 0.1, 5},
      {"sqrt(x)", [](double x, double) { return std::sqrt(x); }, 0.1, 5},
      {"abs(x)", [](double x, double) { return std::abs(x); }, -5, 5},
      {"sign(x)", [](double x, double) { return x > 0   ? 1.0
                                                : x < 0 ? -1.0
                                                        : 0.0; }, -5, 5},
      {"floor(x)", [](double x, double) { return std::floor(x); }, -5, 5},
      {"min(x, y)", [](double x, double y) { return std::min(x, y); }, -5, 5},
      {"max(x, y)", [](double x, double y) { return std::max(x, y); }, -5, 5},
      {"mod(x, 0.7)", [](double x, double) { return x - 0.7 * std::floor(x / 0.7); }, -5, 5},
      {"mod(x, -0.7)", [](double x, double) { return x + 0.7 * std::floor(x / -0.7); }, -5, 5},
      {"mod(x, y)", [](double x, double y) { return x - y * std::floor(x / y); }, 0.5, 5},
      {"x^y", [](double x, double y) { return std::pow(x, y); }, 0.1, 3},
      {"x^2.5", [](double x, double) { return std::pow(x, 2.5); }, 0.1, 3},
      {"2^x", [](double x, double) { return std::pow(2.0, x); }, -3, 3},
      {"x^0.5", [](double x, double) { return std::pow(x, 0.5); }, 0.1, 3},
      {"x*y", [](double x, double y) { return x * y; }, -5, 5},
      {"x/y", [](double x, double y) { return x / y; }, 0.5, 5},
      {"3/x", [](double x, double) { return 3 / x; }, 0.5, 5},
      {"x + y - 2*x", [](double x, double y) { return x + y - 2 * x; }, -5, 5},
      {"-(1 - x)/7", [](double x, double) { return -(1 - x) / 7; }, -5, 5},
      {"if(x < y, x*y, x + y)", [](double x, double y) { return x < y ? x * y : x + y; }, -5, 5},
  };
  return list;
}

TEST(Expression, FunctionsAgreeWithTheStandardLibrary) {
  std::mt19937 random(1);
  for (const NamedFunction& f : functions()) {
    const Expression expression = Expression::parse(f.text, symbols());
    std::uniform_real_distribution<double> uniform(f.from, f.to);
    for (int sample = 0; sample < 200; ++sample) {
      const double x = uniform(random), y = uniform(random);
      const double expected = f.reference(x, y);
      // Equal up to the order of operations: one rounding, relative to the largest operand.
      EXPECT_NEAR(expression(std::array{0.0, x, y}), expected, 4e-16 * (std::abs(expected) + 5)) << f.text << " " << x;
    }
  }
}

TEST(Expression, IntegerPowersAgreeWithPow) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(-2, 2);
  for (int n = -20; n <= 20; ++n) {
    const Expression expression = Expression::parse("x^" + std::to_string(n), symbols());
    for (int sample = 0; sample < 50; ++sample) {
      const double x = uniform(random);
      const double expected = std::pow(x, n);
      // At most 8 multiplications and a division, each with half a unit of rounding that the later ones amplify.
      EXPECT_NEAR(expression(std::array{0.0, x}), expected, 20 * 1.2e-16 * std::abs(expected)) << x << "^" << n;
    }
  }
  EXPECT_EQ(value("x^2"), 4.0);
  EXPECT_EQ(value("y^3"), -27.0);
  EXPECT_EQ(value("x^0"), 1.0);
}

TEST(Expression, OnlyTheBranchTakenIsEvaluated) {
  const auto f = [](const std::string& text, double x) {
    return Expression::parse(text, symbols())(std::array{0.0, x});
  };
  EXPECT_EQ(f("if(x > 0, log(x), 0)", -1.0), 0.0);
  EXPECT_EQ(f("if(x <= 0, 5, 1/x)", 0.0), 5.0);
  EXPECT_EQ(f("x > 0 and log(x) > 0", -1.0), 0.0);
  EXPECT_EQ(f("x <= 0 or sqrt(x) > 1", -1.0), 1.0);
  // A branch that is not taken leaves no trace in the derivative either: 0·inf would be NaN.
  EXPECT_EQ(Expression::parse("if(x > 0, sqrt(x), 0)", symbols()).derivative(std::array{0.0, 0.0}, 1), 0.0);
  // Values pending on the stack survive jumps on every path.
  for (const double x : {-1.0, 0.5, 3.0})
    EXPECT_EQ(f("10 + x*(if(x < 0 or x > 2, if(x > 2 and 1, 2, 3), 4)*5 + (x and 7))", x), 10 + x * ((x < 0   ? 3
                                                                                                      : x > 2 ? 2
                                                                                                              : 4) *
                                                                                                         5 +
                                                                                                     1.0));
}

TEST(Expression, OutsideItsDomainAFunctionGivesWhatIeeeGives) {
  const auto f = [](const std::string& text, double x) {
    return Expression::parse(text, symbols())(std::array{0.0, x, x});
  };
  EXPECT_EQ(f("1/x", 0.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(f("log(x)", 0.0), -std::numeric_limits<double>::infinity());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const char* text : {"sqrt(x)", "x + 1", "min(x, 1)", "min(1, x)", "max(x, 1)", "max(1, x)", "abs(x)", "sign(x)",
                           "floor(x)", "mod(x, 2)", "mod(2, x)", "sin(x)", "x*0"})
    EXPECT_TRUE(std::isnan(f(text, nan))) << text;
  EXPECT_TRUE(std::isnan(f("sqrt(x)", -1.0)));
  EXPECT_TRUE(std::isnan(f("mod(1, x)", 0.0)));
  EXPECT_EQ(f("x < 1", nan), 0.0);
  EXPECT_EQ(f("x == y", nan), 0.0);
}

TEST(Expression, ModNeverLeavesTheRangeOfItsDivisor) {
  const Expression mod = Expression::parse("mod(x, y)", symbols());
  std::mt19937 random(3);
  std::uniform_int_distribution<int> multiple(-100000, 100000);
  for (int sample = 0; sample < 20000; ++sample) {
    const double divisor = 0.1 * (1 + sample % 7);
    const double x = std::nextafter(multiple(random) * divisor, sample % 2 ? 1e9 : -1e9);
    EXPECT_GE(mod(std::array{0.0, x, divisor}), 0.0) << x;
    EXPECT_LE(mod(std::array{0.0, x, divisor}), divisor) << x;
    EXPECT_LE(mod(std::array{0.0, x, -divisor}), 0.0) << x;
  }
}

TEST(Expression, DerivativesAgreeWithCentralDifferences) {
  std::mt19937 random(4);
  for (const NamedFunction& f : functions()) {
    const Expression expression = Expression::parse(f.text, symbols());
    std::uniform_real_distribution<double> uniform(f.from, f.to);
    for (int sample = 0; sample < 100; ++sample) {
      const std::array<double, 3> point = {0.0, uniform(random), uniform(random)};
      for (const Index wrt : {1, 2}) {
        constexpr double h = 1e-5;
        std::array<double, 3> up = point, down = point;
        up[static_cast<std::size_t>(wrt)] += h;
        down[static_cast<std::size_t>(wrt)] -= h;
        const double difference = (expression(up) - expression(down)) / (2 * h);
        if (std::abs(difference) > 1e4) continue;  // a jump lies between the two points
        const double slope = expression.derivative(point, wrt);
        if (std::abs(slope) < 1e3) {
          // Truncation h²f'''/6 with |f'''| up to 1e4 on these ranges, rounding 1e-16·30/h.
          EXPECT_NEAR(slope, difference, 2e-7 * (1 + std::abs(slope))) << f.text << " " << point[1] << " " << point[2];
        }
      }
    }
  }
}

TEST(Expression, SecondDerivativesAgreeWithDifferencesOfFirstOnes) {
  std::mt19937 random(5);
  for (const NamedFunction& f : functions()) {
    const Expression expression = Expression::parse(f.text, symbols());
    std::uniform_real_distribution<double> uniform(f.from, f.to);
    for (int sample = 0; sample < 30; ++sample) {
      const std::array<double, 3> point = {0.0, uniform(random), uniform(random)};
      for (const Index i : {1, 2})
        for (const Index j : {1, 2}) {
          constexpr double h = 1e-5;
          std::array<double, 3> up = point, down = point;
          up[static_cast<std::size_t>(j)] += h;
          down[static_cast<std::size_t>(j)] -= h;
          const double difference = (expression.derivative(up, i) - expression.derivative(down, i)) / (2 * h);
          if (std::abs(difference) > 1e3) continue;  // a jump of the slope lies between the two points
          // Truncation as above, one derivative higher.
          EXPECT_NEAR(expression.second_derivative(point, i, j), difference, 2e-5 * (1 + std::abs(difference)))
              << f.text << " " << point[1] << " " << point[2];
        }
    }
  }
}

TEST(Expression, SlopesAtKinksAreTheOnesDocumented) {
  const auto slope = [](const std::string& text, double x) {
    return Expression::parse(text, symbols()).derivative(std::array{0.0, x, x}, 1);
  };
  EXPECT_EQ(slope("abs(x)", 0.0), 1.0);
  EXPECT_EQ(slope("abs(x)", -1.0), -1.0);
  EXPECT_EQ(slope("sign(x)", 0.0), 0.0);
  EXPECT_EQ(slope("floor(x)", 1.0), 0.0);
  EXPECT_EQ(slope("min(2*x, 3*y)", 0.0), 2.0);
  EXPECT_EQ(slope("max(2*x, 3*y)", 0.0), 2.0);
  EXPECT_EQ(slope("min(3*y, 2*x)", 0.0), 0.0);
  EXPECT_EQ(slope("mod(x, 2)", 4.0), 1.0);
  EXPECT_EQ(slope("mod(7, x)", 2.0), -3.0);
  EXPECT_EQ(slope("x < 1", 1.0), 0.0);
  EXPECT_EQ(slope("sqrt(y)", 0.0), 0.0);
  EXPECT_EQ(slope("sqrt(x^2)", 0.0), 0.0);
  EXPECT_EQ(slope("x^2", 0.0), 0.0);
  EXPECT_EQ(slope("x^1.5", 0.0), 0.0);
}

TEST(Expression, NegativeBaseWithConstantExponentHasASlope) {
  const Expression f = Expression::parse("x^y", symbols());
  EXPECT_EQ(f.derivative(std::array{0.0, -2.0, 3.0}, 1), 12.0);
  EXPECT_TRUE(std::isnan(f.derivative(std::array{0.0, -2.0, 3.0}, 2)));
  EXPECT_EQ(f.derivative(std::array{0.0, 0.0, 2.0}, 2), 0.0);
}

TEST(Expression, GradientAndDirectionalDerivativeAgreeWithPartialOnes) {
  const Expression f = Expression::parse("sin(x*elbow.rz) + t^3*x", symbols());
  ASSERT_EQ(f.variables_used(), (std::vector<Index>{0, 1, 4}));
  std::array<double, 3> gradient{};
  EXPECT_EQ(f.gradient(kPoint, gradient), f(kPoint));
  for (std::size_t k = 0; k < 3; ++k) EXPECT_EQ(gradient[k], f.derivative(kPoint, f.variables_used()[k]));
  const std::array<double, 5> direction = {2.0, -1.0, 100.0, 100.0, 0.5};
  const Dual along = f.directional(kPoint, direction);
  EXPECT_EQ(along.value, f(kPoint));
  // Sum of three products against one pass: a few roundings of terms of size 10.
  EXPECT_NEAR(along.slope, 2 * gradient[0] - gradient[1] + 0.5 * gradient[2], 1e-14);
  EXPECT_EQ(f.derivative(kPoint, 2), 0.0);
}

TEST(Expression, DualValuesAreThoseOfDoubles) {
  std::mt19937 random(6);
  for (const NamedFunction& f : functions()) {
    const Expression expression = Expression::parse(f.text, symbols());
    std::uniform_real_distribution<double> uniform(f.from, f.to);
    const std::array<double, 3> point = {0.0, uniform(random), uniform(random)};
    const std::array<Dual, 3> dual = {Dual(0.0), Dual(point[1], 1.0), Dual(point[2], 2.0)};
    const std::array<SecondDual, 3> second = {0.0, SecondDual(dual[1], 1.0), SecondDual(dual[2], 1.0)};
    EXPECT_EQ(expression.evaluate<Dual>(dual).value, expression(point)) << f.text;
    EXPECT_EQ(primal(expression.evaluate<SecondDual>(second)), expression(point)) << f.text;
  }
}

TEST(Expression, ConstantsAreFoldedAndDeadBranchesRemoved) {
  const auto parse = [](const std::string& text) { return Expression::parse(text, symbols()); };
  EXPECT_TRUE(parse("2*pi*k + sin(zero)").is_constant());
  EXPECT_TRUE(parse("zero and x").is_constant());
  EXPECT_TRUE(parse("k or x").is_constant());
  EXPECT_FALSE(parse("0*x").is_constant());
  EXPECT_EQ(parse("if(zero > 0, x/zero, t)").variables_used(), std::vector<Index>{0});
  EXPECT_EQ(parse("if(zero > 0, 1/zero, 7)")({}), 7.0);
  EXPECT_EQ(parse("zero != 0 and 1/zero > 2")({}), 0.0);
  EXPECT_EQ(parse("1 + if(k, 2*(x + y), 0)*2")(kPoint), -3.0);
  EXPECT_EQ(parse("k and x")(kPoint), 1.0);
  EXPECT_EQ(parse("zero or x > 5")(kPoint), 0.0);
  EXPECT_EQ(parse("x^1").text(), "x^1");
}

TEST(Expression, DependenciesAreReported) {
  const Expression f = Expression::parse("x*sin(t) + x", symbols());
  EXPECT_TRUE(f.depends_on(0) && f.depends_on(1) && !f.depends_on(2));
  EXPECT_FALSE(f.depends_only_on(0));
  EXPECT_TRUE(Expression::parse("t^2", symbols()).depends_only_on(0));
  EXPECT_TRUE(Expression::constant(4.5).depends_only_on(3));
  EXPECT_EQ(Expression::constant(4.5)({}), 4.5);
  EXPECT_EQ(Expression::constant(4.5).text(), "4.5");
  EXPECT_TRUE(Expression().is_constant());
  EXPECT_EQ(Expression()({}), 0.0);
}

TEST(Expression, LongSumsAndManyArgumentsNeedNoDepth) {
  std::string sum = "x", smallest = "max(x";
  for (int k = 0; k < 10000; ++k) sum += "+y";
  for (int k = 0; k < 2000; ++k) smallest += ", x - " + std::to_string(k);
  EXPECT_EQ(value(sum), 2.0 - 30000.0);
  EXPECT_EQ(value(smallest + ")"), 2.0);
}

TEST(SymbolTable, NumbersVariablesAndRefusesUnusableNames) {
  SymbolTable table = symbols();
  EXPECT_EQ(table.variable_count(), 5);
  EXPECT_EQ(table.add_variable("z"), 5);
  EXPECT_EQ(table.find("z")->slot, 5);
  EXPECT_TRUE(table.find("k")->is_constant());
  EXPECT_EQ(table.find("nothing"), nullptr);
  EXPECT_EQ(table.names(), (std::vector<std::string>{"t", "x", "y", "v_x", "elbow.rz", "z", "k", "zero"}));
  for (const char* name : {"", "2x", "a b", "x-y", "pi", "sin", "if", "and", "x", "k", ".a", "\u00e9"}) {
    EXPECT_THROW(table.add_variable(name), InputError) << name;
    EXPECT_THROW(table.add_constant(name, 1.0), InputError) << name;
  }
  EXPECT_THROW(table.add_constant("w", std::numeric_limits<double>::infinity()), InputError);
  EXPECT_EQ(table.variable_count(), 6);
}

}  // namespace
}  // namespace stickslip::expression_test
