// SPDX-License-Identifier: Apache-2.0
// Measurements in a text file (CSV):
//
//   # comment
//   t, x, v_x               the first line names the columns; t is the time [s]
//   0.00, 0.31, -0.02
//   0.01, 0.30,             an empty field, or nan: not measured
//
// Fields are separated by commas, by semicolons, or by blanks where the first line has neither. Names may stand in
// double quotes. Every line has the same number of fields; times ascend.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace stickslip {

struct MeasurementTable {
  std::string path;                         ///< for messages
  std::vector<double> times;                ///< [s]
  std::vector<std::string> names;           ///< of the columns but t
  std::vector<std::vector<double>> values;  ///< one list per column; NaN: not measured
};

/// Both throw InputError of the form "path:LINE: what is wrong".
MeasurementTable read_measurements(const std::string& path);
MeasurementTable parse_measurements(std::string_view text, const std::string& path_for_messages);

}  // namespace stickslip
