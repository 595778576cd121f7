// SPDX-License-Identifier: Apache-2.0
// A number of the model that may depend on time and state: a constant, an expression, or a table over time.
//
// Variables are laid out as (t, q_1..q_nq, v_1..v_nv, i, R_1..R_m): slot 0 is time, i an index for functions that are one
// text for many coordinates, R reactions of contacts and constraints (LawSet::reaction_count), which limits may name.
#pragma once

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "stickslip/common/vector.hpp"
#include "stickslip/model/expression.hpp"
#include "stickslip/model/time_table.hpp"

namespace stickslip {

class StateFunction {
 public:
  StateFunction(double constant = 0.0) : data_(constant) {}  // a plain number is the commonest case
  StateFunction(Expression expression);
  StateFunction(TimeTable table) : data_(std::move(table)) {}

  double operator()(std::span<const double> variables) const;
  /// The function along time, t = variables[0] + rate s, as a power series in s; a table by the piece after its point.
  Taylor series(std::span<const double> variables, double rate) const;
  bool is_constant() const { return std::holds_alternative<double>(data_); }
  bool depends_on_time() const;
  /// On a coordinate, velocity or reaction, i.e. on any slot but time and the index.
  bool depends_on_state(Index index_slot) const;
  /// On a slot behind the index.
  bool depends_on_reactions(Index index_slot) const;
  const Expression* expression() const { return std::get_if<Expression>(&data_); }
  /// The table over time, if it is one.
  const TimeTable* table() const { return std::get_if<TimeTable>(&data_); }
  /// Times where it jumps or has a kink (Expression::append_breakpoints).
  void append_breakpoints(BreakpointSearch& search, const HeldVariable& held = {}) const;

 private:
  std::variant<double, Expression, TimeTable> data_;
};

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
