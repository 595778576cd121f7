// SPDX-License-Identifier: Apache-2.0
// Times n h that carry no rounding but their last.
#pragma once

#include <cmath>

namespace stickslip {

/// n h. Where h = p / 10^k to the last bit, p n / 10^k is rounded once: three steps of 0.1 s end at 0.3 s, and a run
/// that ends there has a step of a longer run behind it.
class Multiples {
 public:
  explicit Multiples(double h) : h_(h) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: whole numbers up to here are doubles
    double power = 1;
    for (int k = 0; k <= 15; ++k, power *= 10) {
      const double p = std::round(h * power);
      if (p >= 1 && p < kExact && p / power == h) {
        p_ = p;
        power_ = power;
        most_ = kExact / p;
        return;
      }
    }
  }
  double operator()(double n) const { return n < most_ ? p_ * n / power_ : n * h_; }

 private:
  double h_, p_ = 0, power_ = 1, most_ = 0;
};

}  // namespace stickslip
