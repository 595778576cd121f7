// SPDX-License-Identifier: Apache-2.0
// The multiplier iteration of paper 1 (Glowinski, Shiau, Kuo, Nasser 2004), equations (4.14)-(4.16).
//
//   u^k = D r^k + b,      r^{k+1} = P_C( r^k - rho S u^k ),      S = diag(s_k)
//
// With interval laws of half-width c_k (here an impulse limit, tau_f c in the paper) and s_k = c_k² this is the paper's
// lam^{k+1} = P_Λ(lam^k + rho C u^k) for lam = -r/c. Laws without a limit take s_k = natural weight (residual.hpp).
//
// Theorem 4.1: convergence for 0 < rho < 2/beta, beta the largest eigenvalue of S^{1/2} D S^{1/2}; the bound is sharp.
// It needs D symmetric and sets without shift (cones are refused), and it is computed and enforced here: a rho at or
// above it is refused. The best fixed value is 2/(beta_min + beta_max); where beta_min is (nearly) 0 that is the bound
// itself, so that 99 % of the bound are taken, which costs at most 1 % more iterations. P is non-expansive, not a
// contraction.
// A law with c_k = 0 has no multiplier and is left out (r_k = 0).
#pragma once

#include <algorithm>
#include <functional>

#include "stickslip/solvers/problem.hpp"

namespace stickslip {

struct ProjectedIterationOptions {
  double rho = 0;  ///< step of the iteration; 0: the best fixed value
  /// Stop when no component of r/sqrt(s) (the paper's lam) changes by more; laws without a limit: of the largest of
  /// theirs so far.
  double tolerance = 1e-12;
  int max_iterations = 100000;
  double max_seconds = 0;  ///< wall clock; 0: no limit
  void validate() const;
};

/// Extreme eigenvalues of S^{1/2} D S^{1/2} and what Theorem 4.1 makes of them.
struct IterationBound {
  double smallest = 0, largest = 0;
  /// Infinite if D = 0: then every rho converges.
  double rho_limit() const { return 2 / largest; }
  double rho_best() const { return largest > 0 ? std::min(2 / (smallest + largest), 0.99 * rho_limit()) : 1.0; }
};

/// u = D r + b as a function, so that D need not be formed. D must be symmetric.
using ReactionMap = std::function<void(const Vector& r, Vector& u)>;

/// s_k per component of r.
void iteration_scaling(const std::vector<Set>& sets, const Vector& natural_weights, Vector& scaling);
Vector iteration_scaling(const std::vector<Set>& sets, const Vector& natural_weights);
/// Dense eigenvalues up to 200 components with s > 0, Lanczos above. The map is probed with b removed.
IterationBound iteration_bound(const ReactionMap& map, const Vector& scaling);

/// Starts from solution.r. The caller sees to it that D is symmetric; cones and a rho out of bounds are refused.
void solve_projected_iteration(const ReactionMap& map, const std::vector<Set>& sets, const Vector& scaling,
                               const IterationBound& bound, const ProjectedIterationOptions& options,
                               InclusionSolution& solution);
/// Start from r = start (size m), or zero if it is empty.
InclusionSolution solve_projected_iteration(const DualProblem& problem, const ProjectedIterationOptions& options = {},
                                            const Vector& start = {});

}  // namespace stickslip
