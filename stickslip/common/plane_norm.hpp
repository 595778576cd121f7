// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace stickslip {

/// sqrt(x² + y²) without overflow or underflow, as std::hypot, which costs ten times as much where there is none. (The
/// limits are those of double: squares within them are exact to round-off.)
inline double plane_norm(double x, double y) {
  constexpr double kSmallest = 1e-280, kLargest = 1e300;
  const double square = x * x + y * y;
  return square > kSmallest && square < kLargest ? std::sqrt(square) : std::hypot(x, y);
}

}  // namespace stickslip
