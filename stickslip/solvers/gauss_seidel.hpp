// SPDX-License-Identifier: Apache-2.0
// Projected block Gauss-Seidel: one law after the other solves its own inclusion with the others held fixed.
//
// Dual form, law k with diagonal block D_kk and q_k = b_k + Σ_{j≠k} D_kj r_j: solved exactly (one_law.hpp), on
// contiguous blocks of D (contact_system.hpp). A dense D is cut into blocks once.
// Converges for symmetric positive semidefinite D and sets without shift (coordinate descent on a convex function).
//
// Primal form, for laws without shift that act on coordinates of their own: the same, on v. Coordinates without a law
// are relaxed, those with one solve A_kk y = ρ_k + r_k, -y ∈ N_C(r_k). O(entries of A) per sweep, nothing dense is
// formed. It stops when no velocity changes by more than `tolerance` times the largest one met so far, start included:
// a motion that dies out has no size of its own.
#pragma once

#include "stickslip/solvers/one_law.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

struct GaussSeidelOptions {
  double tolerance = 1e-12;  ///< dual: on the natural map, relative (Residuals::inclusion); primal: on the change of v
  int max_iterations = 10000;  ///< sweeps
  void validate() const;
};

void solve_gauss_seidel(const DualProblem& problem, const GaussSeidelOptions& options, InclusionSolution& solution);
/// Start from `start` (size m), or zero if it is empty.
InclusionSolution solve_gauss_seidel(const DualProblem& problem, const GaussSeidelOptions& options = {},
                                     const Vector& start = {});

/// Workspace of the primal form.
struct PrimalGaussSeidel {
  std::vector<int> law_of;  ///< law at a coordinate, or -1
  std::vector<int> first_component;
  std::vector<int> coordinate;  ///< of each component of r
  unsigned long checked_version = kNoVersion;
};
/// Throws InputError for cones and for laws that share coordinates or act on several. Starts from solution.v and
/// solution.r when they have the right size, else from zero.
void solve_gauss_seidel(const PrimalProblem& problem, const GaussSeidelOptions& options, PrimalGaussSeidel& workspace,
                        InclusionSolution& solution);
InclusionSolution solve_gauss_seidel(const PrimalProblem& problem, const GaussSeidelOptions& options = {});

}  // namespace stickslip
