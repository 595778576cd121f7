// SPDX-License-Identifier: Apache-2.0
// Gauss-Legendre quadrature with four points on [a, b]: exact for polynomials of degree 7.
#pragma once

#include <array>

namespace stickslip {

struct QuadraturePoint {
  double x;       ///< in (-1, 1)
  double weight;  ///< the weights sum to 1: the rule returns a mean
};

inline constexpr std::array<QuadraturePoint, 4> kGaussLegendre4{{{-0.8611363115940526, 0.17392742256872693},
                                                                 {-0.3399810435848563, 0.32607257743127307},
                                                                 {0.3399810435848563, 0.32607257743127307},
                                                                 {0.8611363115940526, 0.17392742256872693}}};

}  // namespace stickslip
