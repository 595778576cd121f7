// SPDX-License-Identifier: Apache-2.0
// Weakening and viscous force of a friction law, s = c γ(|u|) u/|u| - b u, with its slopes.
#pragma once

#include <array>

#include "stickslip/common/vector.hpp"
#include "stickslip/model/friction_element.hpp"

namespace stickslip {

struct SmoothForce {
  std::array<double, 2> value{}, by_c{};  ///< [N]; by the limit
  std::array<double, 4> by_u{};           ///< row-major
};

/// c: the limit; u: law.size() components.
SmoothForce smooth_force(const FrictionElement& law, double c, const Vector& u);

}  // namespace stickslip
