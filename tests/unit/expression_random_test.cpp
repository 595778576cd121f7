// SPDX-License-Identifier: Apache-2.0
// Random texts: well-formed ones against an evaluation that shares no code with the library, malformed ones for
// survival.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "stickslip/model/expression.hpp"

namespace stickslip::expression_random_test {
namespace {

constexpr std::array<double, 3> kPoint = {0.7, -1.3, 2.1};

SymbolTable symbols() {
  SymbolTable table;
  for (const char* name : {"x", "y", "a.b"}) table.add_variable(name);
  table.add_constant("k", 0.37);
  return table;
}

/// A text, its value at kPoint, and how tightly its outermost operation binds.
struct Sample {
  std::string text;
  double value;
  int binding;
};

// Levels of the grammar from loose to tight.
enum Binding : int { kOr, kAnd, kNot, kComparison, kSum, kProduct, kSign, kPower, kPrimary };

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Sample expression(int depth) {
    if (depth == 0) return leaf();
    const auto sub = [&] { return expression(below(depth)); };
    switch (below(14)) {
      case 0:
        return infix(sub(), "+", sub(), kSum, [](double a, double b) { return a + b; });
      case 1:
        return infix(sub(), "-", sub(), kSum, [](double a, double b) { return a - b; });
      case 2:
        return infix(sub(), "*", sub(), kProduct, [](double a, double b) { return a * b; });
      case 3:
        return infix(sub(), "/", sub(), kProduct, [](double a, double b) { return a / b; });
      case 4:
        return infix(sub(), "<", sub(), kComparison, [](double a, double b) { return a < b ? 1.0 : 0.0; });
      case 5:
        return infix(sub(), ">=", sub(), kComparison, [](double a, double b) { return a >= b ? 1.0 : 0.0; });
      case 6:
        return infix(sub(), "and", sub(), kAnd, [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; });
      case 7:
        return infix(sub(), "or", sub(), kOr, [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; });
      case 8: {
        const Sample a = sub();
        return {fmt::format("not {}", at_least(a, kNot)), a.value == 0 ? 1.0 : 0.0, kNot};
      }
      case 9: {
        const Sample a = sub();
        return {fmt::format("-{}", at_least(a, kSign)), -a.value, kSign};
      }
      case 10: {
        const Sample a = sub();
        const int n = below(4);
        return {at_least(a, kPrimary) + "^" + std::to_string(n), std::pow(a.value, n), kPower};
      }
      case 11: {
        const Sample condition = sub(), a = sub(), b = sub();
        return {"if(" + condition.text + ", " + a.text + ", " + b.text + ")", condition.value != 0 ? a.value : b.value,
                kPrimary};
      }
      case 12: {
        const Sample a = sub(), b = sub(), c = sub();
        return {"max(" + a.text + ", " + b.text + "," + c.text + ")", larger(a.value, larger(b.value, c.value)),
                kPrimary};
      }
      default: {
        const Sample a = sub();
        return below(2) == 0 ? Sample{"sin(" + a.text + ")", std::sin(a.value), kPrimary}
                             : Sample{"atan( " + a.text + " )", std::atan(a.value), kPrimary};
      }
    }
  }

  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }

 private:
  Sample leaf() {
    switch (below(6)) {
      case 0:
        return {"x", kPoint[0], kPrimary};
      case 1:
        return {"y", kPoint[1], kPrimary};
      case 2:
        return {"a.b", kPoint[2], kPrimary};
      case 3:
        return {"k", 0.37, kPrimary};
      case 4:
        return {"1.5e-1", 0.15, kPrimary};
      default: {
        const int n = below(4);
        return {std::to_string(n), static_cast<double>(n), kPrimary};
      }
    }
  }

  /// NaN if either is NaN.
  static double larger(double a, double b) { return std::isnan(a + b) ? a + b : std::max(a, b); }

  /// Parentheses where the grammar needs them, and sometimes where it does not.
  std::string at_least(const Sample& sample, int binding) {
    return sample.binding < binding || below(8) == 0 ? "(" + sample.text + ")" : sample.text;
  }

  template <class Function>
  Sample infix(const Sample& a, const std::string& symbol, const Sample& b, int binding, const Function& f) {
    const int left = binding == kComparison ? kSum : binding;
    return {at_least(a, left) + " " + symbol + " " + at_least(b, binding + 1), f(a.value, b.value), binding};
  }

  std::mt19937 random_;
};

TEST(ExpressionRandom, WrittenTreesReadBackToTheirValue) {
  const SymbolTable table = symbols();
  Generator generator(11);
  int compared = 0;
  for (int sample = 0; sample < 50000; ++sample) {
    const Sample tree = generator.expression(1 + sample % 8);
    if (!std::isfinite(tree.value)) continue;
    try {
      const Expression expression = Expression::parse(tree.text, table);
      // The same operations in the same order; only integer powers round differently from std::pow, and a difference
      // in the last place can grow through the operations above it.
      EXPECT_NEAR(expression(kPoint), tree.value, 1e-9 * (1 + std::abs(tree.value))) << tree.text;
      const std::array<Dual, 3> dual = {Dual(kPoint[0], 1.0), Dual(kPoint[1], 0.5), Dual(kPoint[2], -2.0)};
      EXPECT_EQ(expression.evaluate<Dual>(dual).value, expression(kPoint)) << tree.text;
      ++compared;
    } catch (const ExpressionError& error) {
      // The one reason to refuse a well-formed text: a part like 1/0 in a branch that this point does not take.
      EXPECT_NE(error.message().find("has no finite value"), std::string::npos) << error.what();
    }
  }
  EXPECT_GT(compared, 40000);
}

TEST(ExpressionRandom, RandomTokensAreReadOrRefusedButNeverCrash) {
  const std::vector<std::string> tokens = {
      "1",    ".5",   "1e9",  "0",      "x",    "y",    "a.b",    "k", "pi",       "+",    "-",  "*",   "/",   "^",
      "<",    "<=",   "==",   "!=",     "(",    ")",    "(",      ")", ",",        "and",  "or", "not", "if(", "sin(",
      "min(", "max(", "mod(", "floor(", "abs(", "log(", "atan2(", "=", "\xc3\xa9", "\xff", " ",  "q",   ".",   "sqrt("};
  const SymbolTable table = symbols();
  Generator generator(12);
  int read = 0;
  double sum = 0.0;
  for (int sample = 0; sample < 100000; ++sample) {
    std::string text;
    const int length = generator.below(1 + sample % 12);
    for (int k = 0; k < length; ++k)
      text += tokens[static_cast<std::size_t>(generator.below(static_cast<int>(tokens.size())))];
    try {
      const Expression expression = Expression::parse(text, table);
      sum += expression(kPoint) + expression.derivative(kPoint, 0) + expression.second_derivative(kPoint, 0, 1);
      BreakpointSearch search{-1.0, 2.0};
      expression.append_breakpoints(0, search);
      ++read;
    } catch (const ExpressionError& error) {
      EXPECT_GE(error.column(), 1);
      EXPECT_LE(error.column(), static_cast<Index>(text.size()) + 1);
    }
  }
  EXPECT_GT(read, 2000);
  (void)sum;
}

TEST(ExpressionRandom, RandomBytesAreReadOrRefusedButNeverCrash) {
  const SymbolTable table = symbols();
  Generator generator(13);
  for (int sample = 0; sample < 20000; ++sample) {
    std::string text(static_cast<std::size_t>(generator.below(20)), ' ');
    for (char& c : text) c = static_cast<char>(generator.below(256));
    try {
      Expression::parse(text, table);
    } catch (const ExpressionError& error) {
      EXPECT_EQ(error.text(), text);
    }
  }
}

TEST(ExpressionRandom, BreakpointsOfRandomTreesAreSortedAndInside) {
  const SymbolTable table = symbols();
  Generator generator(14);
  for (int sample = 0; sample < 3000; ++sample) {
    const Sample tree = generator.expression(1 + sample % 6);
    Expression expression;
    try {
      expression = Expression::parse(tree.text, table);
    } catch (const InputError&) {
      continue;
    }
    BreakpointSearch search{-1.0, 2.0};
    expression.append_breakpoints(0, search);
    const std::vector<double>& times = search.times;
    for (std::size_t k = 0; k < times.size(); ++k) {
      EXPECT_TRUE(times[k] > -1.0 && times[k] < 2.0) << tree.text;
      EXPECT_TRUE(k == 0 || times[k - 1] < times[k]) << tree.text;
    }
  }
}

}  // namespace
}  // namespace stickslip::expression_random_test
