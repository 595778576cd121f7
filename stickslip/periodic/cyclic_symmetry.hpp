// SPDX-License-Identifier: Apache-2.0
// A rotationally periodic structure of N sectors of which one is modelled, and the wave that travels round it.
//
// With d nodal diameters the next sector repeats what this one does a part φ/2π of the period later, φ = 2π d/N; of
// harmonic h
//   x_right = e^{-i h φ} x_left           left and right: coordinates on the two cuts of the sector, in pairs
// Excitation of engine order d: the force on sector s is that on sector 0 at t - s φ/(2π) T.
#pragma once

#include <numbers>
#include <utility>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

struct CyclicSymmetry {
  int sectors = 0;                             ///< N; 0: none
  int diameter = 0;                            ///< d, 0 <= d < N; N - d: the same wave backwards
  std::vector<std::pair<Index, Index>> pairs;  ///< (left, right)
  bool any() const { return sectors > 0; }
  double angle() const { return any() ? 2 * std::numbers::pi * diameter / sectors : 0.0; }  ///< φ
  /// Throws InputError with value and relation.
  void validate(Index coordinates) const;
};

}  // namespace stickslip
