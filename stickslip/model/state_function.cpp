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
  return std::get<TimeTable>(data_)(variables[0]);
}

Taylor StateFunction::series(std::span<const double> variables, double rate) const {
  if (const double* constant = std::get_if<double>(&data_)) return *constant;
  if (const Expression* e = expression()) return e->series(variables, 0, rate);
  const TimeTable& table = std::get<TimeTable>(data_);
  return Taylor(table(variables[0]), rate * table.slope_after(variables[0]));
}

bool StateFunction::depends_on_time() const {
  if (const Expression* e = expression()) return e->depends_on(0);
  return std::holds_alternative<TimeTable>(data_);
}

bool StateFunction::depends_on_state(Index index_slot) const {
  const Expression* e = expression();
  if (!e) return false;
  return std::any_of(e->variables_used().begin(), e->variables_used().end(),
                     [&](Index slot) { return slot != 0 && slot != index_slot; });
}

void StateFunction::append_breakpoints(double from, double to, Index scan_points, std::vector<double>& times) const {
  if (const Expression* e = expression()) {
    e->append_breakpoints(0, from, to, scan_points, times);
  } else if (const TimeTable* table = std::get_if<TimeTable>(&data_)) {
    for (double t : table->times())
      if (t > from && t < to) times.push_back(t);
  }
}

}  // namespace stickslip
