// SPDX-License-Identifier: Apache-2.0
// Residual functions of one law with u = D r + b, and their derivatives, for the Newton methods of contact_newton.hpp:
//
//   F(r, u) = r - Φ(r, u),      V = dF = rest + slope D,      rest = 1 - Φ_r,  slope = -Φ_u
//
//   natural map      Φ = P_C(r - ρ (u + s(u))); every set
//   Alart-Curnier    Φ = (z_N⁺, P_{disk(μ z_N⁺)}(z_T)), z = r - ρ u (1991); Coulomb cones
//   smoothed         Φ = ½ (z + (z² + 4ε² e)^½), z = r̄ - ρ ū, r̄ = (μ r_N, r_T), ū = ((u_N + s)/μ, u_T), in the Jordan
//                    algebra of the second-order cone (Chen, Harker, Kanzow, Smale; Fukushima, Luo, Tseng, SIAM J.
//                    Optim. 12, 2002), with |u_T| in s smoothed over δ d ε; Coulomb cones with μ > 0. F is that of r̄.
#pragma once

#include "stickslip/laws/set.hpp"

namespace stickslip {

/// Where the results go, all padded to N components.
template <int N>
struct LawResidual {
  double* F;
  bool slopes;  ///< false: F alone, the rest is left as it is
  double* rest;
  double* slope;  ///< N x N, row-major, like `rest`
  char* active;   ///< slope ≠ 0
};

template <int N>
void natural_map(const Set& set, double rho, const double* r, const double* u, const LawResidual<N>& out);

template <int N>
void alart_curnier(const Set& set, double rho, const double* r, const double* u, const LawResidual<N>& out);

struct Smoothing {
  double epsilon = 0;  ///< in the unit of r
  double slip = 0;     ///< δ
};
/// d: unit of u/r of the law; by_epsilon: ∂F/∂ε, with the slopes.
template <int N>
void smoothed(const Set& set, double rho, double d, const Smoothing& smoothing, const double* r, const double* u,
              const LawResidual<N>& out, double* by_epsilon);

}  // namespace stickslip
