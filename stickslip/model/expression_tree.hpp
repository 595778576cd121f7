// SPDX-License-Identifier: Apache-2.0
// Inside of Expression: the operations and the syntax tree.
//
// The tree is kept in postfix order, one array of nodes: every operand is a contiguous run of nodes that ends right
// before the next operand or the operation itself. So passes over the tree are loops, not recursions (a sum of ten
// thousand terms needs no stack), a subtree is a span, and replacing a subtree by a constant is a truncation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {
class TimeTable;
}

namespace stickslip::expression_detail {

/// Operations of the tree; a program knows them all except If, And, Or, and has fused ones of its own.
enum class Op : std::uint8_t {
  // Leaves.
  Constant,
  Variable,
  // One operand.
  Negate,
  Not,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Tanh,
  Exp,
  Log,
  Sqrt,
  Abs,
  Sign,
  Floor,
  Lookup,  ///< in a table
  // Two operands. The comparisons stay together and in this order.
  Add,
  Subtract,
  Multiply,
  Divide,
  Power,
  Atan2,
  Mod,
  Less,
  LessEqual,
  Greater,
  GreaterEqual,
  Equal,
  NotEqual,
  // Two or more operands.
  Min,
  Max,
  // Operands evaluated only when needed: jumps in the program.
  And,
  Or,
  If,
  // Programs only: operand on the stack with the constant of the instruction. The comparisons stay in order.
  AddConstant,
  MultiplyConstant,
  DivideByConstant,
  ConstantMinus,
  ConstantOver,
  PowerConstant,
  PowerInteger,
  Square,
  Cube,
  LessConstant,
  LessEqualConstant,
  GreaterConstant,
  GreaterEqualConstant,
  EqualConstant,
  NotEqualConstant,
  // Programs only: operand on the stack with a variable.
  AddVariable,
  SubtractVariable,
  MultiplyVariable,
  DivideByVariable,
  // Programs only: control.
  Truth,
  Jump,
  JumpIfFalse,
  JumpIfFalseElsePop,
  JumpIfTrueElsePop,
  End,
};

constexpr bool is_comparison(Op op) { return op >= Op::Less && op <= Op::NotEqual; }

/// The result is always 0 or 1.
constexpr bool is_boolean(Op op) { return is_comparison(op) || op == Op::Not || op == Op::And || op == Op::Or; }

struct Node {
  Op op;
  std::uint32_t arity;               ///< number of operands
  std::uint32_t size;                ///< nodes of the subtree that ends here, this one included
  std::uint32_t position;            ///< byte in the text, for messages
  double value;                      ///< Constant
  Index slot;                        ///< Variable
  const TimeTable* table = nullptr;  ///< Lookup; owned by the Expression
};

using Tree = std::vector<Node>;

void append_constant(Tree& tree, double value, std::uint32_t position);
void append_variable(Tree& tree, Index slot, std::uint32_t position);

/// Appends an operation on the last `arity` subtrees and simplifies: operations on constants are carried out unless the
/// result is not finite (find_nonfinite reports those that survive), branches that can never be taken are removed,
/// x^1 = x, x^0.5 = sqrt(x).
void append_operation(Tree& tree, Op op, std::uint32_t arity, std::uint32_t position, const TimeTable* table = nullptr);

/// The first operation on constants that has no finite value, or division by the constant 0; nullptr if there is none.
const Node* find_nonfinite(std::span<const Node> tree);

/// Node numbers of the operands of node n, in order.
std::vector<std::size_t> operands(std::span<const Node> tree, std::size_t n);

/// The nodes of the subtree that ends at n.
inline std::span<const Node> subtree(std::span<const Node> tree, std::size_t n) {
  return tree.subspan(n + 1 - tree[n].size, tree[n].size);
}

}  // namespace stickslip::expression_detail
