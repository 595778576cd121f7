// SPDX-License-Identifier: Apache-2.0
// Mean of squares of numbers of any size. Errors are divided by weights that may be as small as numbers can be; where
// the squares leave the range of doubles the largest number alone says enough.
#pragma once

#include <algorithm>
#include <cmath>

namespace stickslip {

class SquareSum {
 public:
  void add(double x) {
    sum_ += x * x;
    largest_ = std::max(largest_, std::abs(x));
  }
  /// sqrt(Σ x² / count), or the largest |x| where Σ x² is no number.
  double mean(double count) const { return std::isinf(sum_) ? largest_ : std::sqrt(sum_ / count); }
  double sum() const { return sum_; }
  double largest() const { return largest_; }

 private:
  double sum_ = 0, largest_ = 0;
};

}  // namespace stickslip
