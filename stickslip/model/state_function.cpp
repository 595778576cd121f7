// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/state_function.hpp"

#include <algorithm>

namespace stickslip {

StateFunction::StateFunction(Expression expression) {
  if (expression.is_constant()) {
    data_ = expression(std::span<const double>());
  } else {
    data_ = std::move(expression);
  }
}

double StateFunction::operator()(std::span<const double> variables) const {
  if (const double* constant = std::get_if<double>(&data_)) return *constant;
  if (const Expression* e = expression()) return (*e)(variables);
  return (*table())(variables[0]);
}

Taylor StateFunction::series(std::span<const double> variables, double rate) const {
  if (const double* constant = std::get_if<double>(&data_)) return *constant;
  if (const Expression* e = expression()) return e->series(variables, 0, rate);
  return table()->evaluate(Taylor(variables[0], rate));
}

bool StateFunction::depends_on_time() const {
  if (const Expression* e = expression()) return e->depends_on(0);
  return table() != nullptr;
}

bool StateFunction::depends_on_state(Index index_slot) const {
  const Expression* e = expression();
  if (!e) return false;
  return std::any_of(e->variables_used().begin(), e->variables_used().end(),
                     [&](Index slot) { return slot != 0 && slot != index_slot; });
}

bool StateFunction::depends_on_reactions(Index index_slot) const {
  const Expression* e = expression();
  return e && !e->variables_used().empty() && e->variables_used().back() > index_slot;
}

void StateFunction::append_breakpoints(BreakpointSearch& search, const HeldVariable& held) const {
  if (const Expression* e = expression()) return e->append_breakpoints(0, search, held);
  if (!table()) return;
  for (const double t : table()->times())
    if (t > search.from && t < search.to) search.times.push_back(t);
}

std::span<const double> gathered_variables(const Vector& q, const Vector& v) {
  thread_local std::vector<double> values;
  values.resize(static_cast<std::size_t>(2 + q.size() + v.size()));
  values.front() = values.back() = 0.0;
  std::copy_n(v.data(), v.size(), std::copy_n(q.data(), q.size(), values.begin() + 1));
  return values;
}

}  // namespace stickslip
