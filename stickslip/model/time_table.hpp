// SPDX-License-Identifier: Apache-2.0
// A function of time given by points: linear in between, constant before the first and after the last.
// Two points with the same time are a jump.
#pragma once

#include <string>
#include <vector>

namespace stickslip {

class TimeTable {
 public:
  /// Throws InputError (mentioning `source`) unless times ascend, at most two are equal, and all numbers are finite.
  TimeTable(std::vector<double> times, std::vector<double> values, std::string source);
  double operator()(double t) const;
  double slope_after(double t) const;  ///< of the line that follows t
  const std::vector<double>& times() const { return times_; }
  const std::string& source() const { return source_; }

 private:
  std::vector<double> times_, values_;
  std::string source_;
};

}  // namespace stickslip
