// SPDX-License-Identifier: Apache-2.0
// Units in which a problem (*) has numbers of size 1:  u = 2^velocity û,  D = 2^mobility D̂,  r = 2^(velocity -
// mobility) r̂.
//
// Powers of two change no digit: what an iteration does in these units is the same to the last bit whether the problem
// came in N s or in units of 2^500 N s. Squares and products of scaled numbers neither over- nor underflow.
#pragma once

#include <algorithm>
#include <cmath>

#include "stickslip/laws/set.hpp"
#include "stickslip/solvers/delassus.hpp"

namespace stickslip {

struct ProblemScale {
  int velocity = 0, mobility = 0;

  /// 2^-exponent; what lies at the very ends of the range of numbers is scaled as far as a factor can.
  static double down(int exponent) { return std::ldexp(1.0, -std::clamp(exponent, -1000, 1000)); }
  /// Exponent of the largest entry; 0 for a vector of zeros.
  static int exponent_of(double largest) { return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0; }

  double to_reaction(double scaled) const { return std::ldexp(scaled, velocity - mobility); }
  double from_reaction(double r) const { return std::ldexp(r, mobility - velocity); }
  /// Limits of bounded sets are reactions; those of cones have no unit.
  Set scaled(Set set) const {
    if (!is_cone(set.kind)) set.limit = from_reaction(set.limit);
    return set;
  }
};

/// In which |b|∞ and the largest diagonal entry of D (or, if none is positive, its largest entry) lie in [1, 2).
ProblemScale natural_scale(const BlockSparseMatrix& D, const Vector& b);

}  // namespace stickslip
