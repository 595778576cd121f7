// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/state_function.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace stickslip {

StateFunction::StateFunction(Expression expression) {
  if (expression.is_constant()) {
    data_ = expression(std::span<const double>());
  } else {
    data_ = std::move(expression);
  }
}

double StateFunction::operator()(std::span<const double> variables) const { return evaluate<double>(variables); }

template <class Scalar>
Scalar StateFunction::evaluate(std::span<const Scalar> variables) const {
  if (const double* constant = std::get_if<double>(&data_)) return *constant;
  if (const Expression* e = expression()) return e->evaluate<Scalar>(variables);
  if (const TimeTable* points = table()) return points->evaluate(variables[0]);
  return callable()->evaluate(variables);
}

template double StateFunction::evaluate<double>(std::span<const double>) const;
template Dual StateFunction::evaluate<Dual>(std::span<const Dual>) const;
template SecondDual StateFunction::evaluate<SecondDual>(std::span<const SecondDual>) const;

double StateFunction::derivative(std::span<const double> variables, Index wrt) const {
  if (const Expression* e = expression()) return e->derivative(variables, wrt);
  if (const StateCallable* function = callable()) return function->derivative(variables, wrt);
  return table() && wrt == 0 ? table()->slope_after(variables[0]) : 0.0;
}

Dual StateFunction::directional(std::span<const double> variables, std::span<const double> direction) const {
  if (const double* constant = std::get_if<double>(&data_)) return *constant;
  if (const Expression* e = expression()) return e->directional(variables, direction);
  if (const StateCallable* function = callable()) return function->directional(variables, direction);
  return table()->evaluate(Dual(variables[0], direction[0]));
}

double StateFunction::second_derivative(std::span<const double> variables, Index i, Index j) const {
  if (const Expression* e = expression()) return e->second_derivative(variables, i, j);
  if (const StateCallable* function = callable()) return function->second_derivative(variables, i, j);
  if (!table() || i != 0 || j != 0) return 0.0;
  return table()->evaluate(SecondDual(Dual(variables[0], 1.0), Dual(1.0, 0.0))).slope.slope;
}

Taylor StateFunction::series(std::span<const double> variables, double rate) const {
  if (const double* constant = std::get_if<double>(&data_)) return *constant;
  if (const Expression* e = expression()) return e->series(variables, 0, rate);
  if (const TimeTable* points = table()) return points->evaluate(Taylor(variables[0], rate));
  if (!depends_on_time()) return (*this)(variables);
  return callable()->series(variables, 0, rate);
}

const std::vector<Index>& StateFunction::variables_used() const {
  static const std::vector<Index> none, time_alone{0};
  if (const Expression* e = expression()) return e->variables_used();
  if (const StateCallable* function = callable()) return function->variables_used();
  return table() ? time_alone : none;
}

bool StateFunction::depends_on(Index slot) const { return std::ranges::binary_search(variables_used(), slot); }

bool StateFunction::depends_on_state(Index index_slot) const {
  return std::ranges::any_of(variables_used(), [&](Index slot) { return slot != 0 && slot != index_slot; });
}

bool StateFunction::may_switch_over_time() const {
  if (const Expression* e = expression()) return e->has_switch_of(0);
  return depends_on_time();
}

Degree StateFunction::degree() const {
  if (is_constant()) return Degree::constant;
  if (const StateCallable* function = callable()) return function->facts().degree;
  const Expression* e = expression();
  if (!e || !e->is_rational()) return Degree::any;

  constexpr int kPoints = 5, kDirections = 3;
  std::mt19937 random(20041);
  std::uniform_real_distribution<double> uniform(-1.0, 1.0);
  std::vector<SecondDual> x(static_cast<std::size_t>(e->variables_used().back() + 1));
  const auto used = [&](Index slot) -> SecondDual& { return x[static_cast<std::size_t>(slot)]; };
  bool affine = true, quadratic = true;
  for (int direction = 0; direction < kDirections; ++direction) {
    for (const Index slot : e->variables_used())
      used(slot) = SecondDual(Dual(0.0, uniform(random)), Dual(uniform(random), 0.0));
    double first = 0;
    for (int point = 0; point < kPoints; ++point) {
      for (const Index slot : e->variables_used()) used(slot).value.value = 3.0 * uniform(random);
      const double second = e->evaluate<SecondDual>(x).slope.slope;
      if (!std::isfinite(second)) return Degree::any;
      if (point == 0) first = second;
      affine &= second == 0.0;
      quadratic &= second == first;
    }
  }
  return affine ? Degree::affine : quadratic ? Degree::quadratic : Degree::any;
}

bool StateFunction::depends_on_reactions(Index index_slot) const {
  return !variables_used().empty() && variables_used().back() > index_slot;
}

void StateFunction::append_breakpoints(BreakpointSearch& search, const HeldVariable& held) const {
  if (const Expression* e = expression()) return e->append_breakpoints(0, search, held);
  const auto append = [&](const std::vector<double>& times) {
    for (const double t : times)
      if (t > search.from && t < search.to) search.times.push_back(t);
  };
  if (const TimeTable* points = table()) append(points->times());
  if (const StateCallable* function = callable()) append(function->facts().breakpoints);
}

std::string StateFunction::text() const {
  if (const double* constant = std::get_if<double>(&data_)) return fmt::format("{:g}", *constant);
  if (const Expression* e = expression()) return e->text();
  return table() ? "table over time" : callable()->facts().text;
}

std::span<const double> gathered_variables(const Vector& q, const Vector& v) {
  thread_local std::vector<double> values;
  values.resize(static_cast<std::size_t>(2 + q.size() + v.size()));
  values.front() = values.back() = 0.0;
  std::copy_n(v.data(), v.size(), std::copy_n(q.data(), q.size(), values.begin() + 1));
  return values;
}

}  // namespace stickslip
