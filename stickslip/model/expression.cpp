// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "stickslip/model/expression_parser.hpp"

namespace stickslip {

using expression_detail::Node;
using expression_detail::Op;
using expression_detail::run;

namespace {

std::vector<Index> collect_variables(const expression_detail::Tree& tree) {
  std::vector<Index> used;
  for (const Node& node : tree)
    if (node.op == Op::Variable) used.push_back(node.slot);
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  return used;
}

[[maybe_unused]] bool covers(std::size_t size, const std::vector<Index>& used) {
  return used.empty() || used.back() < static_cast<Index>(size);
}

}  // namespace

Expression::Expression(std::string text, expression_detail::Tree tree)
    : text_(std::move(text)),
      tree_(std::move(tree)),
      program_(expression_detail::compile(tree_)),
      used_(collect_variables(tree_)) {}

Expression Expression::parse(std::string_view text, const SymbolTable& symbols) {
  Expression result(std::string(text), expression_detail::parse_tree(text, symbols));
  for (const std::string& name : symbols.table_names())
    if (const auto table = symbols.find_table(name); result.uses(table.get())) result.tables_.push_back(table);
  if (result.program_.depth > expression_detail::kStackSize)
    throw ExpressionError(fmt::format("more than {} intermediate results are pending here; give parts of the "
                                      "expression fewer levels of parentheses",
                                      expression_detail::kStackSize),
                          text, result.program_.deepest);
  return result;
}

Expression Expression::constant(double value) {
  expression_detail::Tree tree;
  expression_detail::append_constant(tree, value, 0);
  return {fmt::format("{}", value), std::move(tree)};
}

template <class Scalar>
Scalar Expression::evaluate(std::span<const Scalar> variables) const {
  assert(covers(variables.size(), used_));
  return run<Scalar>(program_, [data = variables.data()](std::uint32_t slot) { return data[slot]; });
}

template double Expression::evaluate<double>(std::span<const double>) const;
template Dual Expression::evaluate<Dual>(std::span<const Dual>) const;
template SecondDual Expression::evaluate<SecondDual>(std::span<const SecondDual>) const;

double Expression::operator()(std::span<const double> variables) const { return evaluate<double>(variables); }

double Expression::derivative(std::span<const double> variables, Index wrt) const {
  assert(covers(variables.size(), used_));
  if (!depends_on(wrt)) return 0.0;
  const auto seeded = [&](std::uint32_t slot) { return Dual(variables[slot], slot == wrt ? 1.0 : 0.0); };
  return run<Dual>(program_, seeded).slope;
}

Dual Expression::directional(std::span<const double> variables, std::span<const double> direction) const {
  assert(covers(variables.size(), used_) && covers(direction.size(), used_));
  return run<Dual>(program_, [&](std::uint32_t slot) { return Dual(variables[slot], direction[slot]); });
}

double Expression::gradient(std::span<const double> variables, std::span<double> gradient) const {
  assert(gradient.size() >= used_.size());
  for (std::size_t k = 0; k < used_.size(); ++k) gradient[k] = derivative(variables, used_[k]);
  return (*this)(variables);
}

double Expression::second_derivative(std::span<const double> variables, Index i, Index j) const {
  assert(covers(variables.size(), used_));
  if (!depends_on(i) || !depends_on(j)) return 0.0;
  const auto seeded = [&](std::uint32_t slot) {
    return SecondDual(Dual(variables[slot], slot == i ? 1.0 : 0.0), Dual(slot == j ? 1.0 : 0.0));
  };
  return run<SecondDual>(program_, seeded).slope.slope;
}

Taylor Expression::series(std::span<const double> variables, Index along, double rate) const {
  assert(covers(variables.size(), used_));
  return run<Taylor>(program_, [&](std::uint32_t slot) { return Taylor(variables[slot], slot == along ? rate : 0.0); });
}

bool Expression::uses(const TimeTable* table) const {
  return std::ranges::any_of(tree_, [table](const Node& node) { return node.table == table; });
}

bool Expression::is_rational() const {
  for (std::size_t n = 0; n < tree_.size(); ++n) {
    switch (tree_[n].op) {
      case Op::Constant:
      case Op::Variable:
      case Op::Negate:
      case Op::Add:
      case Op::Subtract:
      case Op::Multiply:
      case Op::Divide:
        break;
      case Op::Power: {
        const Node& exponent = tree_[n - 1];  // the operand that ends right before the operation
        if (exponent.op != Op::Constant || exponent.value != std::floor(exponent.value)) return false;
        break;
      }
      default:
        return false;
    }
  }
  return true;
}

bool Expression::depends_on(Index slot) const { return std::ranges::binary_search(used_, slot); }

bool Expression::depends_only_on(Index slot) const {
  return used_.empty() || (used_.size() == 1 && used_.front() == slot);
}

}  // namespace stickslip
