// SPDX-License-Identifier: Apache-2.0
// From when to when a run goes. What a time is small against is the length of the run, wherever its origin lies.
#pragma once

#include <algorithm>
#include <cmath>

namespace stickslip {

struct TimeSpan {
  double start = 0, end = 0;  ///< [s]
  double length() const { return end - start; }
  /// The larger of the run's length and |t|: times that differ by round-off of this are the same.
  double size(double t) const { return std::max(length(), std::abs(t)); }
};

}  // namespace stickslip
