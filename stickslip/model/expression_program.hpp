// SPDX-License-Identifier: Apache-2.0
// Inside of Expression: the compiled form.
//
// A program is a list of instructions for a stack machine whose top of stack is kept in a register (`top` below); an
// instruction with one operand works on it, one with two takes the left operand from the stack and the right one from
// the register. Constants and variables as right operands are part of the instruction.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "stickslip/common/dual.hpp"
#include "stickslip/model/expression_tree.hpp"
#include "stickslip/model/time_table.hpp"

namespace stickslip::expression_detail {

/// Values a program may have pending at one time.
inline constexpr Index kStackSize = 256;

struct Instruction {
  double constant = 0.0;
  std::uint32_t index = 0;  ///< slot of the variable, target of the jump, number of the table
  Op op = Op::End;
};

struct Program {
  std::vector<Instruction> code;
  std::vector<const TimeTable*> tables;  ///< of the lookups, by their index
  Index depth = 0;                       ///< largest number of pending values; runnable only up to kStackSize
  std::uint32_t deepest = 0;             ///< position in the text where that happens
};

Program compile(std::span<const Node> tree);

template <class Scalar>
Scalar sign_of(const Scalar& x) {
  const double value = primal(x);
  if (value > 0.0) return 1.0;
  if (value < 0.0) return -1.0;
  return value == 0.0 ? 0.0 : value;  // NaN stays NaN
}

/// a - b floor(a/b). Rounding of a/b up to an integer would leave a tiny remainder of the wrong sign: it becomes 0.
template <class Scalar>
Scalar floor_mod(const Scalar& a, const Scalar& b) {
  const Scalar remainder = a - b * std::floor(primal(a) / primal(b));
  const double value = primal(remainder);
  return (value < 0.0 && primal(b) > 0.0) || (value > 0.0 && primal(b) < 0.0) ? remainder - value : remainder;
}

/// The first of the smallest; NaN if either is NaN (unlike std::min).
template <class Scalar>
Scalar smaller(const Scalar& a, const Scalar& b) {
  return primal(b) < primal(a) || std::isnan(primal(b)) ? b : a;
}

template <class Scalar>
Scalar larger(const Scalar& a, const Scalar& b) {
  return primal(b) > primal(a) || std::isnan(primal(b)) ? b : a;
}

/// x^n by repeated squaring; a handful of multiplications for the small n the compiler passes here.
template <class Scalar>
Scalar integer_power(Scalar x, int n) {
  Scalar result = 1.0;
  for (unsigned rest = static_cast<unsigned>(n < 0 ? -n : n); rest != 0; rest >>= 1, x = x * x)
    if (rest & 1u) result = result * x;
  return n < 0 ? Scalar(1.0) / result : result;
}

/// Runs the program; load(slot) gives a variable. No allocation, no exceptions.
template <class Scalar, class Load>
Scalar run(const Program& program, const Load& load) {
  using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cos, std::cosh, std::exp, std::floor, std::log,
      std::pow, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;
  std::array<Scalar, kStackSize> stack;
  Scalar* below = stack.data();
  Scalar top = 0.0;
  const auto push = [&] { *below++ = top; };
  const auto pop = [&]() -> Scalar { return *--below; };
  const auto truth = [](bool b) { return Scalar(b ? 1.0 : 0.0); };
  const Instruction* const code = program.code.data();
  for (const Instruction* at = code;; ++at) {
    switch (at->op) {
      case Op::Constant:
        push();
        top = at->constant;
        break;
      case Op::Variable:
        push();
        top = load(at->index);
        break;

      case Op::AddConstant:
        top = top + at->constant;
        break;
      case Op::MultiplyConstant:
        top = top * at->constant;
        break;
      case Op::DivideByConstant:
        top = top / at->constant;
        break;
      case Op::ConstantMinus:
        top = at->constant - top;
        break;
      case Op::ConstantOver:
        top = Scalar(at->constant) / top;
        break;
      case Op::PowerConstant:
        top = pow(top, at->constant);
        break;
      case Op::PowerInteger:
        top = integer_power(top, static_cast<int>(at->constant));
        break;
      case Op::Square:
        top = top * top;
        break;
      case Op::Cube:
        top = top * top * top;
        break;
      case Op::LessConstant:
        top = truth(primal(top) < at->constant);
        break;
      case Op::LessEqualConstant:
        top = truth(primal(top) <= at->constant);
        break;
      case Op::GreaterConstant:
        top = truth(primal(top) > at->constant);
        break;
      case Op::GreaterEqualConstant:
        top = truth(primal(top) >= at->constant);
        break;
      case Op::EqualConstant:
        top = truth(primal(top) == at->constant);
        break;
      case Op::NotEqualConstant:
        top = truth(primal(top) != at->constant);
        break;

      case Op::AddVariable:
        top = top + load(at->index);
        break;
      case Op::SubtractVariable:
        top = top - load(at->index);
        break;
      case Op::MultiplyVariable:
        top = top * load(at->index);
        break;
      case Op::DivideByVariable:
        top = top / load(at->index);
        break;

      case Op::Add:
        top = pop() + top;
        break;
      case Op::Subtract:
        top = pop() - top;
        break;
      case Op::Multiply:
        top = pop() * top;
        break;
      case Op::Divide:
        top = pop() / top;
        break;
      case Op::Power:
        top = pow(pop(), top);
        break;
      case Op::Atan2:
        top = atan2(pop(), top);
        break;
      case Op::Mod:
        top = floor_mod(pop(), top);
        break;
      case Op::Min:
        top = smaller(pop(), top);
        break;
      case Op::Max:
        top = larger(pop(), top);
        break;
      case Op::Less:
        top = truth(primal(pop()) < primal(top));
        break;
      case Op::LessEqual:
        top = truth(primal(pop()) <= primal(top));
        break;
      case Op::Greater:
        top = truth(primal(pop()) > primal(top));
        break;
      case Op::GreaterEqual:
        top = truth(primal(pop()) >= primal(top));
        break;
      case Op::Equal:
        top = truth(primal(pop()) == primal(top));
        break;
      case Op::NotEqual:
        top = truth(primal(pop()) != primal(top));
        break;

      case Op::Negate:
        top = -top;
        break;
      case Op::Not:
        top = truth(primal(top) == 0.0);
        break;
      case Op::Truth:
        top = truth(primal(top) != 0.0);
        break;
      case Op::Sin:
        top = sin(top);
        break;
      case Op::Cos:
        top = cos(top);
        break;
      case Op::Tan:
        top = tan(top);
        break;
      case Op::Asin:
        top = asin(top);
        break;
      case Op::Acos:
        top = acos(top);
        break;
      case Op::Atan:
        top = atan(top);
        break;
      case Op::Sinh:
        top = sinh(top);
        break;
      case Op::Cosh:
        top = cosh(top);
        break;
      case Op::Tanh:
        top = tanh(top);
        break;
      case Op::Exp:
        top = exp(top);
        break;
      case Op::Log:
        top = log(top);
        break;
      case Op::Sqrt:
        top = sqrt(top);
        break;
      case Op::Abs:
        top = abs(top);
        break;
      case Op::Sign:
        top = sign_of(top);
        break;
      case Op::Floor:
        top = floor(top);
        break;
      case Op::Lookup:
        top = program.tables[at->index]->evaluate(top);
        break;

      // A jump lands on the instruction before its target: the loop moves on by one.
      case Op::Jump:
        at = code + at->index - 1;
        break;
      case Op::JumpIfFalse:
        if (primal(top) == 0.0) at = code + at->index - 1;
        top = pop();
        break;
      case Op::JumpIfFalseElsePop:
        if (primal(top) == 0.0) {
          top = 0.0;
          at = code + at->index - 1;
        } else {
          top = pop();
        }
        break;
      case Op::JumpIfTrueElsePop:
        if (primal(top) != 0.0) {
          top = 1.0;
          at = code + at->index - 1;
        } else {
          top = pop();
        }
        break;

      case Op::And:
      case Op::Or:
      case Op::If:
      case Op::End:
        return top;
    }
  }
}

}  // namespace stickslip::expression_detail
