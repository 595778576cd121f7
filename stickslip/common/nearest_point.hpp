// SPDX-License-Identifier: Apache-2.0
// The point of a linear system that is nearest to the origin, within bounds:
//
//   minimise ½ ‖D y‖²  over  A y = b,  low <= y <= high,      A: m × n with few rows, D diagonal and positive
//
// By its dual: y(ν) = D⁻² Aᵀ ν, each component put into its bounds, and ν with A y(ν) = b by Newton's method on a
// concave function that is piecewise quadratic. So bounds that a first guess would meet and the nearest point does not
// are left again.
#pragma once

#include <optional>

#include "stickslip/common/vector.hpp"

namespace stickslip {

/// None: no y within the bounds satisfies the system, to round-off.
std::optional<Vector> nearest_point(const DenseMatrix& A, const Vector& b, const Vector& D, const Vector& low,
                                    const Vector& high);

}  // namespace stickslip
