// SPDX-License-Identifier: Apache-2.0
// What was measured of a motion: values over time, each an expression of the columns of the trajectory.
#pragma once

#include <string>
#include <vector>

#include "stickslip/boundary/column_layout.hpp"
#include "stickslip/model/expression.hpp"

namespace stickslip {

struct MeasuredColumn {
  std::string name;                 ///< in the data
  Expression model;                 ///< what the model has in its place (column_layout.hpp)
  std::vector<double> values = {};  ///< one per time; NaN: not measured
  double sigma = 0;                 ///< standard deviation of its noise, in its unit; 0: not known
  double weight = 1;                ///< on top of the scaling by size; > 0

  /// Root mean square about the mean; of a constant its magnitude; 1 where all is 0.
  double size() const;
  long count() const;  ///< measured values
};

struct Measurement {
  std::vector<double> times;  ///< ascending [s]
  std::vector<MeasuredColumn> columns;
  long count() const;
};

/// Throws InputError: no columns, no values, times that do not ascend.
void require_valid(const Measurement& data);

}  // namespace stickslip
