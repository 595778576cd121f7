// SPDX-License-Identifier: Apache-2.0
// A function of time from a table in a text file (CSV):
//
//   # comment
//   time, force             optional header: the first line, if its first field is not a number
//   0.0,  1.5
//   0.1,  1.7
//
// Fields are separated by commas, by semicolons, or by blanks where a line has neither. Column 1 is time [s]; columns
// count from 1. Every line has the same number of columns. What the points mean is in model/time_table.hpp.
#pragma once

#include <string>
#include <string_view>

#include "stickslip/model/time_table.hpp"

namespace stickslip {

/// Throws InputError of the form "path:LINE: what is wrong" unless times ascend (two equal ones are a jump).
TimeTable read_time_table(const std::string& path, int column = 2, Interpolation interpolation = Interpolation::linear);
TimeTable parse_time_table(std::string_view text, const std::string& path_for_messages, int column = 2,
                           Interpolation interpolation = Interpolation::linear);

}  // namespace stickslip
