// SPDX-License-Identifier: Apache-2.0
// The one inclusion every scheme reduces its step to, as plain data, in two forms.
//
// Dual:     u = D r + b,                         -(u + s(u)) ∈ N_C(r),   C = C_1 × … × C_m
// Primal:   A v = g + W r,   u = Wᵀ v - w,       -(u + s(u)) ∈ N_C(r)
//
//   r  reactions: force or impulse that the laws put on the system                 [N or N s]
//   u  relative velocity (or acceleration, or gap) conjugate to r                  [m/s, ...]
//   D  = Wᵀ A⁻¹ W, b = Wᵀ A⁻¹ g - w: how the primal form becomes the dual one
//   A  step matrix, symmetric part positive definite; W directions (nv × m); w velocity of the surface
//   C_k, s  set and shift of law k (laws/set.hpp)
//
// The primal form keeps A banded or sparse and W sparse: a chain of n masses costs O(n), while its D is dense.
#pragma once

#include <string>
#include <vector>

#include "stickslip/common/status.hpp"
#include "stickslip/common/system_matrix.hpp"
#include "stickslip/laws/set.hpp"
#include "stickslip/solvers/delassus.hpp"
#include "stickslip/solvers/stopping_measure.hpp"

namespace stickslip {

struct DualProblem {
  Delassus D;
  Vector b;
  std::vector<Set> sets;
};

/// No factors yet: the version no problem has.
inline constexpr unsigned long kNoVersion = ~0ul;

struct PrimalProblem {
  const SystemMatrix* A = nullptr;  ///< not owned: a step matrix is factorised once and serves many steps
  /// Changes whenever the numbers in A or W change; solvers keep factors as long as it does not. g, w and the limits of
  /// the sets may change freely.
  unsigned long A_version = 0;
  Vector g;
  SparseMatrix Wt;  ///< Wᵀ, one row per component of r
  Vector w;
  std::vector<Set> sets;
  /// Changes whenever a set changes; 0: not kept, solvers read the sets every time.
  unsigned long sets_version = 0;
};

/// How well (r, u) satisfies the inclusion; see residual.hpp for the definitions.
struct Residuals {
  double equation = 0;      ///< |u - D r - b| or |A v - g - W r|, largest component over the size of its terms
  double inclusion = 0;     ///< natural map, largest law, over max(|r|, ρ|u|)
  double membership = 0;    ///< distance of r from C, largest law [N or N s]
  double error = 0;         ///< natural map with ρ = 1, 2-norm, over max(|b|, |r|, |u|): what peers report
  double strict_error = 0;  ///< the same over |b|
  double unit_free = 0;     ///< natural map with ρ_k, times 1/ρ_k, 2-norm, over |b|: what decides (residual.hpp)
};

struct InclusionSolution {
  Status status = Status::not_converged;
  std::string message;  ///< empty on success
  Vector r, u, v;       ///< v only for the primal form
  Residuals residuals;
  int iterations = 0;
  std::string solver;           ///< which method, or chain of methods, produced r
  std::vector<double> history;  ///< inclusion residual per iteration, where the method records it
  Vector certificate;           ///< with Status::no_solution: see certifies_no_solution() in residual.hpp
};

/// Number of components of r.
Index reaction_size(const std::vector<Set>& sets);
std::vector<int> block_sizes(const std::vector<Set>& sets);
/// Throws InputError naming the sizes that do not fit, the entry that is not finite, or the law that is not one.
void validate(const DualProblem& problem);
void validate(const PrimalProblem& problem);
/// Reactions to start from: `start`, or zero if it is empty. Throws InputError if its size or an entry is wrong.
Vector start_reactions(const DualProblem& problem, const Vector& start);
/// D = Wᵀ A⁻¹ W (dense) and b = Wᵀ A⁻¹ g - w.
DualProblem to_dual(const PrimalProblem& problem);

}  // namespace stickslip
