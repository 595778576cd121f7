// SPDX-License-Identifier: Apache-2.0
// Projected block Gauss-Seidel in primal form, for laws without shift that act on coordinates of their own: one law
// after the other solves its own inclusion with the other velocities held fixed.
//
//   law k:                      A_kk y = ρ_k + r_k,  -y ∈ N_C(r_k)      y = v_k - w_k, ρ_k: load by all other
//   coordinates coordinate without a law:   A_ii v_i = g_i - Σ_{j≠i} A_ij v_j
//
// O(entries of A) per sweep, nothing dense is formed. Converges for symmetric positive definite A. It stops when no
// velocity changes by more than `tolerance` times the largest one met so far, start included: a motion that dies out
// has no size of its own. (The dual form: ContactMethod::gauss_seidel.)
#pragma once

#include "stickslip/solvers/one_law.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

struct GaussSeidelOptions {
  double tolerance = 1e-12;    ///< on the change of v in a sweep
  int max_iterations = 10000;  ///< sweeps
  void validate() const;
};

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
