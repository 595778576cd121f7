// SPDX-License-Identifier: Apache-2.0
// Units in which a problem (*) has numbers of size 1:  u = 2^velocity û,  D = 2^mobility D̂,  r = 2^(velocity -
// mobility) r̂.
//
// Powers of two change no digit: what an iteration does in these units is the same to the last bit whether the problem
// came in N s or in units of 2^500 N s. Squares and products of scaled numbers neither over- nor underflow.
//
// Laws that D does not couple, directly or through others, need not share a mobility: where the mobilities of such
// parts are more than 2^200 apart, each part has its own. The velocity is that of all: errors are relative to |b|.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "stickslip/laws/set.hpp"
#include "stickslip/solvers/delassus.hpp"

namespace stickslip {

struct ProblemScale {
  int velocity = 0, mobility = 0;
  std::vector<int> own = {};  ///< mobility of each law; empty: `mobility` for all

  int mobility_of(int law) const { return own.empty() ? mobility : own[static_cast<std::size_t>(law)]; }

  /// 2^-exponent; what lies at the very ends of the range of numbers is scaled as far as a factor can.
  static double down(int exponent) { return std::ldexp(1.0, -std::clamp(exponent, -1000, 1000)); }
  /// Exponent of the largest entry; 0 for a vector of zeros.
  static int exponent_of(double largest) { return largest > 0 && std::isfinite(largest) ? std::ilogb(largest) : 0; }

  double to_reaction(double scaled, int law) const { return std::ldexp(scaled, velocity - mobility_of(law)); }
  double from_reaction(double r, int law) const { return std::ldexp(r, mobility_of(law) - velocity); }
  /// Limits of bounded sets are reactions; those of cones have no unit.
  Set scaled(Set set, int law) const {
    if (!is_cone(set.kind)) set.limit = from_reaction(set.limit, law);
    return set;
  }
};

/// In which |b|∞ and the largest diagonal entry of D (or, if none is positive, its largest entry) lie in [1, 2).
ProblemScale natural_scale(const BlockSparseMatrix& D, const Vector& b);

}  // namespace stickslip
