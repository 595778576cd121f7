// SPDX-License-Identifier: Apache-2.0
// Collocation at the three nodes of Radau IIA (order 5): nodes and weights in [0, 1], and what a function does beside
// its values at the nodes.
//
// Source: Hairer, Wanner, Solving Ordinary Differential Equations II, 2nd ed. 1996, IV.5.
#pragma once

#include <array>
#include <cmath>

#include "stickslip/common/decompositions.hpp"

namespace stickslip::radau5 {

inline const double kRoot6 = std::sqrt(6.0);
inline const std::array<double, 3> kNodes{(4 - kRoot6) / 10, (4 + kRoot6) / 10, 1.0};
inline const std::array<double, 3> kWeights{(16 - kRoot6) / 36, (16 + kRoot6) / 36, 1.0 / 9};

/// A: x - x_0 at the nodes from h x' there.
inline const Eigen::Matrix3d& matrix() {
  static const Eigen::Matrix3d matrix = [] {
    Eigen::Matrix3d A;
    A << (88 - 7 * kRoot6) / 360, (296 - 169 * kRoot6) / 1800, (-2 + 3 * kRoot6) / 225,  //
        (296 + 169 * kRoot6) / 1800, (88 + 7 * kRoot6) / 360, (-2 - 3 * kRoot6) / 225,   //
        (16 - kRoot6) / 36, (16 + kRoot6) / 36, 1.0 / 9;
    return A;
  }();
  return matrix;
}

/// A⁻¹.
inline const Eigen::Matrix3d& inverse() {
  static const Eigen::Matrix3d inverse = matrix().inverse();
  return inverse;
}

/// The parabola through values at the nodes, at 0.
inline Vector at_start(const std::array<Vector, 3>& values) {
  const auto& c = kNodes;
  const auto weight = [&](std::size_t i, std::size_t j, std::size_t k) {
    return c[j] * c[k] / ((c[i] - c[j]) * (c[i] - c[k]));
  };
  return weight(0, 1, 2) * values[0] + weight(1, 2, 0) * values[1] + weight(2, 0, 1) * values[2];
}

/// Its slope at 1.
inline Vector slope_at_end(const std::array<Vector, 3>& values) {
  const auto& c = kNodes;
  const auto weight = [&](std::size_t i, std::size_t j, std::size_t k) {
    return (2 - c[j] - c[k]) / ((c[i] - c[j]) * (c[i] - c[k]));
  };
  return weight(0, 1, 2) * values[0] + weight(1, 2, 0) * values[1] + weight(2, 0, 1) * values[2];
}

}  // namespace stickslip::radau5
