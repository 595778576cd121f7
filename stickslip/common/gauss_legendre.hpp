// SPDX-License-Identifier: Apache-2.0
// Gauss-Legendre quadrature with four and eight points on [a, b]: exact for polynomials of degree 7 and 15.
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

inline constexpr std::array<QuadraturePoint, 8> kGaussLegendre8{{{-0.9602898564975362317, 0.0506142681451881296},
                                                                 {-0.7966664774136267396, 0.1111905172266872353},
                                                                 {-0.5255324099163289858, 0.1568533229389436437},
                                                                 {-0.1834346424956498049, 0.1813418916891809915},
                                                                 {0.1834346424956498049, 0.1813418916891809915},
                                                                 {0.5255324099163289858, 0.1568533229389436437},
                                                                 {0.7966664774136267396, 0.1111905172266872353},
                                                                 {0.9602898564975362317, 0.0506142681451881296}}};

}  // namespace stickslip
