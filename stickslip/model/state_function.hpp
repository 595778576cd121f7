// SPDX-License-Identifier: Apache-2.0
// A number of the model that may depend on time and state: a constant, an expression, a table over time, or a function
// of the program (state_callable.hpp). All answer the same questions.
//
// Variables are laid out as (t, q_1..q_nq, v_1..v_nv, i, R_1..R_m): slot 0 is time, i an index for functions that are
// one text for many coordinates, R reactions of contacts and constraints (LawSet::reaction_count), which limits may
// name.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "stickslip/common/vector.hpp"
#include "stickslip/model/expression.hpp"
#include "stickslip/model/state_callable.hpp"
#include "stickslip/model/time_table.hpp"

namespace stickslip {

class StateFunction {
 public:
  StateFunction(double constant = 0.0) : data_(constant) {}  // a plain number is the commonest case
  StateFunction(Expression expression);
  StateFunction(TimeTable table) : data_(std::move(table)) {}
  StateFunction(std::shared_ptr<const StateCallable> function) : data_(std::move(function)) {}

  double operator()(std::span<const double> variables) const;
  /// For double, Dual and SecondDual.
  template <class Scalar>
  Scalar evaluate(std::span<const Scalar> variables) const;
  /// ∂f/∂x_wrt. Exact but for plain functions of the program; of a table, that of the piece after its point.
  double derivative(std::span<const double> variables, Index wrt) const;
  /// f and Σ_i ∂f/∂x_i direction_i
  Dual directional(std::span<const double> variables, std::span<const double> direction) const;
  /// ∂²f/∂x_i∂x_j
  double second_derivative(std::span<const double> variables, Index i, Index j) const;
  /// Derivatives are exact; else they are differences (state_callable.hpp).
  bool has_exact_derivatives() const { return !callable() || callable()->is_exact(); }

  /// The function along time, t = variables[0] + rate s, as a power series in s; a table by the piece after its point.
  /// Only where has_series().
  Taylor series(std::span<const double> variables, double rate) const;
  bool has_series() const { return has_exact_derivatives() || !depends_on_time(); }

  /// Ascending slots that the value can depend on.
  const std::vector<Index>& variables_used() const;
  bool is_constant() const { return std::holds_alternative<double>(data_); }
  bool depends_on(Index slot) const;
  bool depends_on_time() const { return depends_on(0); }
  /// On a coordinate, velocity or reaction, i.e. on any slot but time and the index.
  bool depends_on_state(Index index_slot) const;
  /// On a slot behind the index.
  bool depends_on_reactions(Index index_slot) const;
  /// It may jump or have a kink at a time that is the same for all states.
  bool may_switch_over_time() const;
  /// Of an expression certain means: + - * /, integer powers, and functions of constants alone, so that f is a rational
  /// function; and its second derivatives along random directions are exactly 0 (affine), or bitwise the same
  /// (quadratic), at random points. Of a function of the program: what its facts say.
  Degree degree() const;
  /// Times where it jumps or has a kink (Expression::append_breakpoints); of a function of the program those of its
  /// facts.
  void append_breakpoints(BreakpointSearch& search, const HeldVariable& held = {}) const;

  /// The number, the text of the expression, or a word for the others.
  std::string text() const;
  /// What only one kind has: the tree of an expression, the points of a table, the sizes of a function.
  const Expression* expression() const { return std::get_if<Expression>(&data_); }
  const TimeTable* table() const { return std::get_if<TimeTable>(&data_); }
  const StateCallable* callable() const {
    const auto* function = std::get_if<std::shared_ptr<const StateCallable>>(&data_);
    return function ? function->get() : nullptr;
  }

 private:
  std::variant<double, Expression, TimeTable, std::shared_ptr<const StateCallable>> data_;
};

extern template double StateFunction::evaluate<double>(std::span<const double>) const;
extern template Dual StateFunction::evaluate<Dual>(std::span<const Dual>) const;
extern template SecondDual StateFunction::evaluate<SecondDual>(std::span<const SecondDual>) const;

/// f(t), f(t, q), f(t, q, v) or f(t, q, v, i) for systems with nq positions and nv velocities (state_callable.hpp).
template <callable_detail::Function F>
StateFunction function_of(Index nq, Index nv, F f, CallableFacts facts = {}) {
  return make_callable(nq, nv, std::move(f), std::move(facts));
}
/// For systems with n coordinates, q' = v.
template <callable_detail::Function F>
StateFunction function_of(Index n, F f, CallableFacts facts = {}) {
  return make_callable(n, n, std::move(f), std::move(facts));
}

/// f(t) for any system.
template <class F>
StateFunction function_of_time(F f, CallableFacts facts = {}) {
  static_assert(callable_detail::arguments<F, double>() == 1);
  return make_callable(0, 0, std::move(f), std::move(facts));
}

/// (t, q, v, i, R) of the layout above, refreshed without allocation.
class Variables {
 public:
  Variables(Index nq, Index nv, Index reactions = 0)
      : values_(Vector::Zero(2 + nq + nv + reactions)), nq_(nq), nv_(nv) {}
  void set(double t, const Vector& q, const Vector& v) {
    values_[0] = t;
    values_.segment(1, nq_) = q;
    values_.segment(1 + nq_, nv_) = v;
  }
  void set_state(const Vector& q, const Vector& v) {
    values_.segment(1, nq_) = q;
    values_.segment(1 + nq_, nv_) = v;
  }
  void set_time(double t) { values_[0] = t; }
  void set_index(Index i) { values_[1 + nq_ + nv_] = static_cast<double>(i); }
  Index index_slot() const { return 1 + nq_ + nv_; }
  /// R, all of them. [N, N m]
  auto reactions() { return values_.tail(values_.size() - index_slot() - 1); }
  /// Without R.
  std::span<const double> state() const { return span().first(static_cast<std::size_t>(index_slot() + 1)); }
  std::span<const double> span() const { return {values_.data(), static_cast<std::size_t>(values_.size())}; }

 private:
  Vector values_;
  Index nq_, nv_;
};

/// (0, q, v, 0) for evaluations that come without a workspace; valid up to the next call of this thread.
std::span<const double> gathered_variables(const Vector& q, const Vector& v);

}  // namespace stickslip
