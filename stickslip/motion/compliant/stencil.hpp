// SPDX-License-Identifier: Apache-2.0
// Central differences of fourth order: f' ≈ Σ weight f(place η)/η, error η⁴ f⁽⁵⁾/30.
#pragma once

#include <array>
#include <cmath>
#include <limits>

namespace stickslip {

struct StencilPoint {
  double place, weight;
};
inline constexpr std::array<StencilPoint, 4> kStencil{{{1, 8.0 / 12}, {-1, -8.0 / 12}, {2, -1.0 / 12}, {-2, 1.0 / 12}}};
inline const double kStencilStep =
    std::pow(std::numeric_limits<double>::epsilon(), 0.2);  ///< of the size of a component

}  // namespace stickslip
