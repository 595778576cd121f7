// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression_tree.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/model/expression_program.hpp"

namespace stickslip::expression_detail {

namespace {

bool is_constant(const Node& node) { return node.op == Op::Constant; }

bool all_operands_constant(std::span<const Node> tree, std::size_t n) {
  const Node& node = tree[n];
  if (node.arity == 0 || node.size != node.arity + 1) return false;
  return std::ranges::all_of(tree.subspan(n - node.arity, node.arity), is_constant);
}

/// Replaces the last expression by its subtree that ends at `kept`.
void reduce_to(Tree& tree, std::size_t kept) {
  const auto at = [&](std::size_t n) { return tree.begin() + static_cast<std::ptrdiff_t>(n); };
  const std::size_t begin = tree.size() - tree.back().size;
  const std::size_t first = kept + 1 - tree[kept].size;
  tree.erase(at(kept + 1), tree.end());
  tree.erase(at(begin), at(first));
}

void replace_by_constant(Tree& tree, double value) {
  const std::uint32_t position = tree.back().position;
  tree.resize(tree.size() - tree.back().size);
  append_constant(tree, value, position);
}

void simplify_logical(Tree& tree, Op op, std::size_t left, std::size_t right) {
  if (!is_constant(tree[left])) return;
  const bool left_is_true = tree[left].value != 0.0;
  if (left_is_true == (op == Op::Or)) return replace_by_constant(tree, left_is_true ? 1.0 : 0.0);
  const std::uint32_t position = tree.back().position;
  reduce_to(tree, right);
  if (is_boolean(tree.back().op)) return;
  append_constant(tree, 0.0, position);
  append_operation(tree, Op::NotEqual, 2, position);
}

void simplify_power(Tree& tree, std::size_t base, std::size_t exponent) {
  if (!is_constant(tree[exponent])) return;
  const double value = tree[exponent].value;
  const std::uint32_t position = tree.back().position;
  if (value != 1.0 && value != 0.5) return;
  reduce_to(tree, base);
  if (value == 0.5) append_operation(tree, Op::Sqrt, 1, position);
}

void simplify(Tree& tree) {
  const std::size_t root = tree.size() - 1;
  const Op op = tree[root].op;
  if (all_operands_constant(tree, root)) {
    const auto no_variables = [](std::uint32_t) { return 0.0; };
    const double value = run<double>(compile(subtree(tree, root)), no_variables);
    if (std::isfinite(value)) replace_by_constant(tree, value);
    return;
  }
  if (op != Op::If && op != Op::And && op != Op::Or && op != Op::Power) return;
  const std::vector<std::size_t> operand = operands(tree, root);
  if (op == Op::If) {
    if (is_constant(tree[operand[0]])) reduce_to(tree, tree[operand[0]].value != 0.0 ? operand[1] : operand[2]);
  } else if (op == Op::Power) {
    simplify_power(tree, operand[0], operand[1]);
  } else {
    simplify_logical(tree, op, operand[0], operand[1]);
  }
}

}  // namespace

void append_constant(Tree& tree, double value, std::uint32_t position) {
  tree.push_back({.op = Op::Constant, .arity = 0, .size = 1, .position = position, .value = value, .slot = 0});
}

void append_variable(Tree& tree, Index slot, std::uint32_t position) {
  tree.push_back({.op = Op::Variable, .arity = 0, .size = 1, .position = position, .value = 0.0, .slot = slot});
}

void append_operation(Tree& tree, Op op, std::uint32_t arity, std::uint32_t position, const TimeTable* table) {
  std::uint32_t size = 1;
  for (std::uint32_t k = 0; k < arity; ++k) size += tree[tree.size() - size].size;
  tree.push_back(
      {.op = op, .arity = arity, .size = size, .position = position, .value = 0.0, .slot = 0, .table = table});
  simplify(tree);
}

const Node* find_nonfinite(std::span<const Node> tree) {
  for (std::size_t n = 0; n < tree.size(); ++n) {
    if (all_operands_constant(tree, n)) return &tree[n];
    const bool divides = tree[n].op == Op::Divide || tree[n].op == Op::Mod;
    if (divides && is_constant(tree[n - 1]) && tree[n - 1].value == 0.0) return &tree[n];
  }
  return nullptr;
}

std::vector<std::size_t> operands(std::span<const Node> tree, std::size_t n) {
  std::vector<std::size_t> result(tree[n].arity);
  std::size_t end = n;
  for (auto operand = result.rbegin(); operand != result.rend(); ++operand) {
    *operand = end - 1;
    end -= tree[*operand].size;
  }
  return result;
}

}  // namespace stickslip::expression_detail
