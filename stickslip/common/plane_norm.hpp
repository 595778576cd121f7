// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace stickslip {

/// sqrt(x² + y²) without overflow or underflow, as std::hypot, which costs ten times as much where there is none.
inline double plane_norm(double x, double y) {
  const double square = x * x + y * y;
  return square > 1e-280 && square < 1e300 ? std::sqrt(square) : std::hypot(x, y);
}

}  // namespace stickslip
