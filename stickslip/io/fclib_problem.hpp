// SPDX-License-Identifier: Apache-2.0
// Friction-contact problems as FCLIB states them, as plain data, and how they become the inclusion of the solvers.
//
// n_c contacts in d = 2 or 3 dimensions; per contact the components (normal, tangential...) follow each other; m = d
// n_c.
//
// Local:    u = W r + V λ + q,      0 = Vᵀ r + R λ + s,                r_k ∈ K_k,  -(u_k + (μ_k |u_kT|, 0, 0)) ∈
// N_K(r_k) Global:   M v = H r + G λ + f,    u = Hᵀ v + w,    0 = Gᵀ v + b,     the same law
//
//   r  reactions (m) [N or N s]            u  relative velocities (m) [m/s]       K_k = { r_N >= 0, |r_T| <= μ_k r_N }
//   λ  reactions of bilateral constraints (p; V, R, s, G, b are empty where there are none)
//   v  velocities of the bodies (n)        M  mass, or step matrix (n × n)        H, G  directions (n × m, n × p)
//
// Signs are those of the solvers' forms (solvers/problem.hpp): λ joins r as laws of the kind `line`, after the
// contacts; the surface velocity there is -w and -b here. "W" here is D there, "H" is W, "q" is b.
//
// Source: Acary, Brémond, Huber, Pérignon: FCLIB: a collection of discrete 3D frictional contact problems, Inria RT-444
// (2014), and the reading and writing functions of libfclib 3.1.
#pragma once

#include <string>
#include <variant>

#include "stickslip/solvers/problem.hpp"

namespace stickslip {

struct FclibInfo {
  std::string title, description, math_info;
};

struct LocalContactProblem {
  int dimension = 3;
  SparseMatrix W;
  Vector q, mu;
  SparseMatrix V, R;
  Vector s;
  FclibInfo info;
};

struct GlobalContactProblem {
  int dimension = 3;
  SparseMatrix M, H, G;
  Vector f, w, b, mu;
  FclibInfo info;
};

using FclibProblem = std::variant<LocalContactProblem, GlobalContactProblem>;

/// A solution or a guess. v is empty for local problems, l (λ) without bilateral constraints.
struct FclibSolution {
  Vector v, u, r, l;
};

Index contact_count(const FclibProblem& problem);
int contact_dimension(const FclibProblem& problem);

/// Throws InputError, beginning with the name of what is wrong: sizes that do not fit, a number that is not finite,
/// μ < 0, a dimension other than 2 or 3, no contact at all.
void validate(const LocalContactProblem& problem);
void validate(const GlobalContactProblem& problem);

/// Laws: n_c friction cones, then p lines. D is block-sparse.
DualProblem to_dual(const LocalContactProblem& problem);
/// The same laws over the bodies. `A` receives M and must outlive the problem.
PrimalProblem to_primal(const GlobalContactProblem& problem, SystemMatrix& A);

/// W = Hᵀ M⁻¹ H, V = Hᵀ M⁻¹ G, R = Gᵀ M⁻¹ G, q = Hᵀ M⁻¹ f + w, s = Gᵀ M⁻¹ f + b. Blocks of W that couple two contacts
/// are stored in full. Throws InputError if M is singular, or if it is not symmetric and there are bilateral
/// constraints (the local form has Vᵀ where Gᵀ M⁻¹ H would be needed).
LocalContactProblem condense(const GlobalContactProblem& problem);

/// (r, λ) of the dual form, taken apart, with u and (global problem) v = M⁻¹ (H r + G λ + f).
FclibSolution expand(const LocalContactProblem& problem, const Vector& reactions);
FclibSolution expand(const GlobalContactProblem& problem, const Vector& reactions);

/// Reactions to start from: (r, λ).
Vector reactions_of(const FclibSolution& solution);

}  // namespace stickslip
