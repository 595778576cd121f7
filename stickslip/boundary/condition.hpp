// SPDX-License-Identifier: Apache-2.0
// What must be 0 at one time of a motion: an expression over the columns of the trajectory (column_layout.hpp).
#pragma once

#include <string>
#include <vector>

#include "stickslip/boundary/column_layout.hpp"
#include "stickslip/model/expression.hpp"

namespace stickslip {

enum class ConditionTime { start, end, time };

struct Condition {
  Expression value;
  ConditionTime at = ConditionTime::end;
  double time = 0;   ///< [s], with ConditionTime::time
  double scale = 1;  ///< what counts as one unit of it where conditions are balanced against each other, > 0

  const std::string& text() const { return value.text(); }
  std::string when() const;  ///< "at the end", "at t = 0.5 s"
  bool uses_reactions(const ColumnLayout& layout) const;
};

/// Throws ExpressionError.
Condition make_condition(const std::string& text, const ColumnLayout& layout, ConditionTime at = ConditionTime::end,
                         double time = 0);

}  // namespace stickslip
