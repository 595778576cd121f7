// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/condition.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stickslip {

std::string Condition::when() const {
  switch (at) {
    case ConditionTime::start:
      return "at the start";
    case ConditionTime::end:
      return "at the end";
    case ConditionTime::time:
      return fmt::format("at t = {:.6g} s", time);
  }
  return "";
}

bool Condition::uses_reactions(const ColumnLayout& layout) const {
  const std::vector<Index>& used = value.variables_used();
  return std::any_of(used.begin(), used.end(), [&](Index slot) { return layout.is_reaction(slot); });
}

Condition make_condition(const std::string& text, const ColumnLayout& layout, ConditionTime at, double time) {
  return {Expression::parse(text, layout.symbols()), at, time};
}

}  // namespace stickslip
