// SPDX-License-Identifier: Apache-2.0
// Independent residuals of the inclusion (*): computed from r (and v) alone, shared by no solver's inner workings, and
// used by every stopping test, every test and the audit.
//
// Natural map of law k with weight ρ_k > 0:  e_k = r_k - P_{C_k}( r_k - ρ_k (u_k + s(u_k)) ),  zero iff the law holds
// for any ρ_k. ρ_k = 1/D_kk makes it independent of units up to the unit of r.
#pragma once

#include "stickslip/solvers/problem.hpp"

namespace stickslip {

/// |e_k|, the largest over the laws. rho has one entry per law. [unit of r]
double natural_map_residual(const std::vector<Set>& sets, const Vector& r, const Vector& u, const Vector& rho);
/// Largest distance of r_k from C_k. [unit of r]
double membership_residual(const std::vector<Set>& sets, const Vector& r);

/// ρ_k = block size / trace(D_kk); where the trace is not positive, the inverse of the largest one, or 1.
Vector natural_weights(const DualProblem& problem);
/// ρ_k = block size / Σ_c Σ_j W_jc² / A_jj: the same with diag(A)⁻¹ for A⁻¹, so that D need not be formed.
Vector natural_weights(const PrimalProblem& problem);

/// All residuals; u is recomputed from r (dual) or from v (primal).
Residuals residuals(const DualProblem& problem, const Vector& r);
Residuals residuals(const PrimalProblem& problem, const Vector& v, const Vector& r);

/// True if y proves that no r solves the problem: y ∈ rec(C) and sup_{r ∈ C} r·(Dᵀy) + b·y < 0. For a solution,
/// u·y >= 0 for every y in the recession cone of C, which that inequality forbids. Sets with a shift are not covered
/// (always false). Entries of Dᵀy below `tolerance` times |D||y| count as zero.
bool certifies_no_solution(const DualProblem& problem, const Vector& y, double tolerance = 1e-10);

}  // namespace stickslip
