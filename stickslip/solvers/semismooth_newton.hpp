// SPDX-License-Identifier: Apache-2.0
// Semismooth Newton on the natural map of the dual form, with line search.
//
//   F_k(r) = r_k - P_{C_k}( r_k - ρ_k (u_k + s(u_k)) ) = 0,      u = D r + b,      ρ_k natural weights (residual.hpp)
//   V = I - J (I - ρ (I + s'(u)) D),   J an element of the generalised Jacobian of P
//
// Newton direction V d = -F with a Levenberg term when V is singular; Armijo search on |F|², the largest of the last
// `memory` values as reference (Grippo, Lampariello, Lucidi 1986). Quadratic near a regular solution; needs neither
// symmetric nor invertible D. Dense: meant for up to a few thousand components.
#pragma once

#include "stickslip/solvers/problem.hpp"

namespace stickslip {

struct SemismoothNewtonOptions {
  double tolerance = 1e-12;  ///< on the natural map, relative (Residuals::inclusion)
  int max_iterations = 200;
  int memory = 10;         ///< of the non-monotone line search; 1 makes it monotone
  double max_seconds = 0;  ///< wall clock; 0: no limit
  void validate() const;
};

void solve_semismooth_newton(const DualProblem& problem, const SemismoothNewtonOptions& options,
                             InclusionSolution& solution);
/// Start from `start` (size m), or zero if it is empty.
InclusionSolution solve_semismooth_newton(const DualProblem& problem, const SemismoothNewtonOptions& options = {},
                                          const Vector& start = {});

}  // namespace stickslip
