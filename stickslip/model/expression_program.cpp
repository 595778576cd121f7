// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/expression_program.hpp"

#include <cstdlib>

namespace stickslip::expression_detail {

namespace {

/// Above this, pow is as fast as the multiplications and more accurate.
constexpr int kLargestIntegerPower = 16;

Op shifted(Op op, Op from, Op to) {
  return static_cast<Op>(static_cast<int>(op) - static_cast<int>(from) + static_cast<int>(to));
}

/// a OP b is b mirrored(OP) a.
Op mirrored(Op comparison) {
  switch (comparison) {
    case Op::Less:
      return Op::Greater;
    case Op::LessEqual:
      return Op::GreaterEqual;
    case Op::Greater:
      return Op::Less;
    case Op::GreaterEqual:
      return Op::LessEqual;
    default:
      return comparison;
  }
}

/// The fused instruction for x OP constant; End if there is none.
Instruction with_constant_right(Op op, double c) {
  if (is_comparison(op)) return {c, 0, shifted(op, Op::Less, Op::LessConstant)};
  switch (op) {
    case Op::Add:
      return {c, 0, Op::AddConstant};
    case Op::Subtract:
      return {-c, 0, Op::AddConstant};
    case Op::Multiply:
      return {c, 0, Op::MultiplyConstant};
    case Op::Divide:
      return {c, 0, Op::DivideByConstant};
    case Op::Power:
      if (c == 2.0) return {c, 0, Op::Square};
      if (c == 3.0) return {c, 0, Op::Cube};
      if (std::abs(c) <= kLargestIntegerPower && c == std::floor(c)) return {c, 0, Op::PowerInteger};
      return {c, 0, Op::PowerConstant};
    default:
      return {};
  }
}

/// The fused instruction for constant OP x; End if there is none.
Instruction with_constant_left(Op op, double c) {
  if (is_comparison(op)) return {c, 0, shifted(mirrored(op), Op::Less, Op::LessConstant)};
  switch (op) {
    case Op::Add:
      return {c, 0, Op::AddConstant};
    case Op::Subtract:
      return {c, 0, Op::ConstantMinus};
    case Op::Multiply:
      return {c, 0, Op::MultiplyConstant};
    case Op::Divide:
      return {c, 0, Op::ConstantOver};
    default:
      return {};
  }
}

/// One pass in postfix order. What must happen between two operands (jumps, the partial minimum of min(a, b, c)) is
/// noted beforehand at the node where the earlier operand ends; each node ends an operand of one operation only.
class Compiler {
 public:
  explicit Compiler(std::span<const Node> tree) : tree_(tree), after_(tree.size(), Op::End), jump_(tree.size(), 0) {}

  Program compile() {
    for (std::size_t n = 0; n < tree_.size(); ++n) note_work_between_operands(n);
    for (std::size_t n = 0; n < tree_.size(); ++n) {
      here_ = tree_[n].position;
      emit_node(n);
      emit_after(n);
    }
    emit({}, 0);
    return std::move(program_);
  }

 private:
  void note_work_between_operands(std::size_t n) {
    const Node& node = tree_[n];
    if (node.arity < 2) return;
    const std::vector<std::size_t> operand = operands(tree_, n);
    switch (node.op) {
      case Op::If:
        after_[operand[0]] = Op::JumpIfFalse;
        after_[operand[1]] = Op::Jump;
        break;
      case Op::And:
        after_[operand[0]] = Op::JumpIfFalseElsePop;
        break;
      case Op::Or:
        after_[operand[0]] = Op::JumpIfTrueElsePop;
        break;
      case Op::Min:
      case Op::Max:
        for (std::size_t k = 1; k + 1 < operand.size(); ++k) after_[operand[k]] = node.op;
        break;
      default:
        // The mark of a constant that goes into the instruction instead of onto the stack.
        if (fuses_left(tree_[operand[0]], node.op, tree_[operand[1]])) after_[operand[0]] = Op::Constant;
    }
  }

  static bool fuses_left(const Node& left, Op op, const Node& right) {
    return left.op == Op::Constant && right.op != Op::Constant && with_constant_left(op, left.value).op != Op::End;
  }

  void emit_node(std::size_t n) {
    const Node& node = tree_[n];
    switch (node.op) {
      case Op::Constant:
        if (after_[n] != Op::Constant) emit({node.value, 0, Op::Constant}, +1);
        break;
      case Op::Variable:
        emit({0.0, static_cast<std::uint32_t>(node.slot), Op::Variable}, +1);
        break;
      case Op::Lookup:
        emit({0.0, static_cast<std::uint32_t>(program_.tables.size()), Op::Lookup}, 0);
        program_.tables.push_back(node.table);
        break;
      case Op::If:
        land(n - 1 - tree_[n - 1].size);
        break;
      case Op::And:
      case Op::Or:
        if (!is_boolean(tree_[n - 1].op)) emit({0.0, 0, Op::Truth}, 0);
        land(n - 1 - tree_[n - 1].size);
        break;
      default:
        if (node.arity == 1)
          emit({0.0, 0, node.op}, 0);
        else
          emit_binary(node.op, tree_[n - 1 - tree_[n - 1].size], tree_[n - 1]);
    }
  }

  void emit_binary(Op op, const Node& left, const Node& right) {
    if (fuses_left(left, op, right)) return emit(with_constant_left(op, left.value), 0);
    if (right.op == Op::Constant) {
      if (const Instruction fused = with_constant_right(op, right.value); fused.op != Op::End)
        return replace_last(fused);
    }
    if (right.op == Op::Variable && op >= Op::Add && op <= Op::Divide)
      return replace_last({0.0, static_cast<std::uint32_t>(right.slot), shifted(op, Op::Add, Op::AddVariable)});
    emit({0.0, 0, op}, -1);
  }

  void emit_after(std::size_t n) {
    const Op work = after_[n];
    if (work == Op::End || work == Op::Constant) return;
    jump_[n] = program_.code.size();
    emit({0.0, 0, work}, -1);
    if (work == Op::Jump) land(n - tree_[n].size);
  }

  /// The jump noted after the operand that ends at `operand` goes to the next instruction.
  void land(std::size_t operand) {
    program_.code[jump_[operand]].index = static_cast<std::uint32_t>(program_.code.size());
  }

  void emit(const Instruction& instruction, Index effect_on_depth) {
    program_.code.push_back(instruction);
    depth_ += effect_on_depth;
    if (depth_ <= program_.depth) return;
    program_.depth = depth_;
    program_.deepest = here_;
  }

  void replace_last(const Instruction& instruction) {
    program_.code.back() = instruction;
    --depth_;
  }

  std::span<const Node> tree_;
  std::vector<Op> after_;
  std::vector<std::size_t> jump_;
  Program program_;
  Index depth_ = 0;
  std::uint32_t here_ = 0;
};

}  // namespace

Program compile(std::span<const Node> tree) { return Compiler(tree).compile(); }

}  // namespace stickslip::expression_detail
