// SPDX-License-Identifier: Apache-2.0
// Positive roots of a polynomial of degree up to 4, without a formula: the roots of each derivative separate those of
// the one above it, so that bisection from the linear one upwards finds them all, to round-off, whatever the
// coefficients.
#pragma once

#include <array>
#include <cmath>

namespace stickslip {

/// Lowest coefficient first.
using Quartic = std::array<double, 5>;

/// The part of the product up to degree 4.
Quartic product(const Quartic& a, const Quartic& b);

/// A few numbers on the stack; those that are not finite or too many are dropped.
struct RootList {
  std::array<double, 64> at{};
  int count = 0;
  void add(double x) {
    if (count < static_cast<int>(at.size()) && std::isfinite(x)) at[count++] = x;
  }
};

/// Appends candidates for the positive roots of p, among them all roots: those in [0, scale] and, of the reversed
/// polynomial, those above. Roots of derivatives are candidates too, because a double root has no change of sign.
void positive_roots(Quartic p, double scale, RootList& roots);

}  // namespace stickslip
