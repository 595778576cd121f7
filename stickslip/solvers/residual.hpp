// SPDX-License-Identifier: Apache-2.0
// Independent residuals of the inclusion (*): computed from r (and v) alone, shared by no solver's inner workings, and
// used by every stopping test, every test and the audit.
//
// Natural map of law k with weight ρ_k > 0:  e_k = r_k - P_{C_k}( r_k - ρ_k (u_k + s(u_k)) ),  zero iff the law holds
// for any ρ_k. ρ_k = 1/D_kk makes it independent of units up to the unit of r.
//
// Three relative errors of the whole problem, 2-norms over all laws, b the velocity without reactions:
//
//   error         |e| / max(|b|, |r|, |u|),  ρ = 1     the measure of friction-contact software; ρ = 1 ties it to the
//                                                       units, and where |r| >> |b| the division hides digits
//   strict_error  |e| / |b|,                 ρ = 1
//   unit_free     |(e_k / ρ_k)| / |b|,       ρ_k natural weights: velocities over velocities, the same whatever
//                                             the units of mass, length and time, as long as all rows of u have one
//                                             unit (contacts: m/s); beside laws in rad/s it depends on the unit of
//                                             length
//
// unit_free is never smaller than 2⁻⁵³ |(r_k/ρ_k)|/|b|: below the round-off of D r nothing is known. Only unit_free can
// say that a problem is solved: with D × 1e6 reactions are small numbers, and ρ = 1 cannot see that u is wrong. Where
// the divisor is 0 the numerator is reported. Nothing here over- or underflows before r and u do.
#pragma once

#include "stickslip/solvers/problem.hpp"

namespace stickslip {

/// |e_k|, the largest over the laws. rho has one entry per law. [unit of r]
double natural_map_residual(const std::vector<Set>& sets, const Vector& r, const Vector& u, const Vector& rho);
/// sqrt(Σ_k |e_k|²) with ρ = 1. [unit of r]
double natural_map_norm(const std::vector<Set>& sets, const Vector& r, const Vector& u);
/// sqrt(Σ_k |e_k / ρ_k|²). [unit of u]
double natural_map_norm(const std::vector<Set>& sets, const Vector& r, const Vector& u, const Vector& rho);
/// Largest distance of r_k from C_k. [unit of r]
double membership_residual(const std::vector<Set>& sets, const Vector& r);

/// ρ_k = block size / trace(D_kk); where the trace is not positive, the inverse of the largest one, or 1.
Vector natural_weights(const DualProblem& problem);
/// ρ_k = block size / Σ_c Σ_j W_jc² / A_jj: the same with diag(A)⁻¹ for A⁻¹, so that D need not be formed.
Vector natural_weights(const PrimalProblem& problem);

/// All residuals; u is recomputed from r (dual) or from v (primal). The primal form needs b = Wᵀ A⁻¹ g - w for its
/// errors and factorises A for it.
Residuals residuals(const DualProblem& problem, const Vector& r);
Residuals residuals(const PrimalProblem& problem, const Vector& v, const Vector& r);

/// Reactions that a certificate must exclude: those up to this many times |b|∞/D_kk, the impulse that stops the fastest
/// free velocity at law k by itself. It is as far as the sixteen digits of D and y can be asked to reach.
inline constexpr double kCertifiedReach = 1e14;

/// True if y proves that no r solves the problem:
///
///   y ∈ T, the directions along which every solution has u·y >= 0:   line: any y;   half-line: y >= 0;
///       bounded sets: y = 0;   cones: y_N >= 0, y_T = 0                                     (exactly, not nearly)
///   sup_{r ∈ C, |r_k| <= R_k} r·(Dᵀy) + b·y < 0
///
/// Proof: a solution has u_k = 0 on lines, u_k >= 0 on half-lines and u_N >= 0 on contacts, so u·y >= 0. But
/// u·y = r·(Dᵀy) + b·y with r ∈ C is negative by the inequality. For an unbounded cone the supremum over all of it is 0
/// if (Dᵀy)_N + μ |(Dᵀy)_T| <= 0 and infinite otherwise. A Dᵀy that is zero in exact arithmetic is not zero in that of
/// the machine, so the law is given the benefit of what is left, and within a hundredth of the
/// reach of what rounding of D can hide (2⁻⁵³ of the largest of each block): the claim is that no reactions up to R_k =
/// reach |b|∞/D_kk solve the problem. 1e-6 kg under 1e6 kg needs 1e12 of these units, and is not certified.
///
/// Coulomb's law is not associated: for y ∈ K with y_T ≠ 0 a solution only promises u·y >= -μ |u_T| y_N (the shift),
/// and u_T may be anything while sliding. So y ∈ K is not enough, and directions with y_T ≠ 0 prove nothing: a body
/// wedged between walls that its friction cones connect may have no solution either, and that is reported as not
/// converged. For symmetric positive semidefinite D a certificate exists exactly if the problem without friction has no
/// solution.
bool certifies_no_solution(const DualProblem& problem, const Vector& y, double reach = kCertifiedReach);

}  // namespace stickslip
