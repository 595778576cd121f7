// SPDX-License-Identifier: Apache-2.0
// Mathematics for functions written once for every number type: `using namespace stickslip::math;` makes sin(x),
// abs(x), max(0.0, x), ... right for double, Dual, SecondDual and Taylor alike. (Without it, abs(x) of a double may be
// the integer function of C.)
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>

#include "stickslip/common/dual.hpp"
#include "stickslip/common/taylor.hpp"

namespace stickslip::math {

using std::abs, std::acos, std::asin, std::atan, std::atan2, std::cos, std::cosh, std::exp, std::floor, std::hypot,
    std::log, std::max, std::min, std::pow, std::sin, std::sinh, std::sqrt, std::tan, std::tanh;

/// -1, 0 or 1; slope 0.
template <class Scalar>
Scalar sign(const Scalar& x) {
  return Scalar(x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0);
}

}  // namespace stickslip::math
