// SPDX-License-Identifier: Apache-2.0
// Exact active-set method for laws whose set is a box [lo_i, hi_i]: Line, Interval, HalfLine.
//
// Each component is `between` (u_i = 0, lo_i <= r_i <= hi_i), `lower` (r_i = lo_i, u_i >= 0) or `upper` (r_i = hi_i,
// u_i <= 0). Given such a guess, (*) is one linear system; components that violate their condition are exchanged:
//
//   between, r_i < lo_i → lower       lower, u_i < 0 → between
//   between, r_i > hi_i → upper       upper, u_i > 0 → between
//
// All violating components are exchanged at once as long as their number falls below its best value within `patience`
// rounds; after that only the one with the least index is, until the number falls. Exchanging all of them can cycle
// (dense random matrices of size 1000 do); exchanging the least index cannot when every principal minor is positive
// (Murty 1974; the safeguarded combination: Júdice and Pires, Computers & Operations Research 21, 1994), and D of a
// step matrix with positive definite symmetric part has that property when W has full column rank. So the method ends
// with the exact solution, to round-off, or says `refused` because D is singular.
//
// A condition counts as violated when it is by more than 16 ε of the terms it was computed from, component by component
// (forces and torques may differ by many orders of magnitude). In an ill-conditioned problem a law that is at the same
// time about to slip and at its limit can violate a little more than that in both guesses: once the exchanges make no
// progress, violations below 1e-12 of those terms are accepted.
//
// Three linear-algebra kernels share that loop:
//   coordinates  each law acts on one coordinate of its own (W = columns of the identity). Stuck coordinates are pinned
//                in A, so a stuck velocity equals w_i to the last bit and a banded A costs O(n) per exchange.
//   dense        the dual form with dense D.
//   augmented    general sparse W and many laws: [A -W; Wᵀ 0] with the rows of slipping laws replaced
//   (augmented_kernel.hpp,
//                the one kernel that allocates in every call).
#pragma once

#include <memory>

#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

struct ActiveSetOptions {
  int patience = 10;       ///< rounds of exchanging all violations without progress before least-index exchanges
  int max_iterations = 0;  ///< linear solves; 0: 1000 + 20 per component
  /// Looked at in every linear solve and within the factorisation; once raised, status interrupted.
  StopRequest stop = nullptr;
  void validate() const;  ///< throws InputError
};

/// Status of one component; the numbers are those of the last solution and are the start of the next solve.
enum class BoxStatus : char { between, lower, upper, fixed };

/// Workspace of the dual form.
struct DualActiveSet {
  DenseMatrix expanded;  ///< block-sparse D written out
  PinnedFactor factor;
  std::vector<BoxStatus> status;
  std::vector<char> pinned;
  Vector lo, hi, x, product;
};
/// Workspace of the primal form. Keeps the factors while A_version and the set of stuck laws stay the same. Which laws
/// act on which coordinates is looked at again whenever A_version or a size changes.
struct PrimalActiveSet {
  PrimalActiveSet();
  ~PrimalActiveSet();
  PrimalActiveSet(PrimalActiveSet&&) noexcept;
  PrimalActiveSet& operator=(PrimalActiveSet&&) noexcept;
  PinnedFactor factor;
  std::vector<BoxStatus> status;
  std::vector<char> pinned;
  unsigned long factored_version = kNoVersion;
  Vector lo, hi, x;
  std::vector<int> coordinate;  ///< of each law
  std::vector<int> law_at;      ///< at each coordinate, or -1
  unsigned long checked_version = kNoVersion;
  unsigned long sets_version = 0;  ///< 0: read the sets at every solve
  bool nearly_diagonal = false;
  struct Augmented;
  std::unique_ptr<Augmented> augmented;
};

bool all_boxes(const std::vector<Set>& sets);
/// True if every row of Wᵀ is a row of the identity and no two are the same.
bool acts_on_distinct_coordinates(const PrimalProblem& problem);

void solve_active_set(const DualProblem& problem, const ActiveSetOptions& options, DualActiveSet& workspace,
                      InclusionSolution& solution);
InclusionSolution solve_active_set(const DualProblem& problem, const ActiveSetOptions& options = {});

/// Coordinates kernel if it applies, else the augmented one.
void solve_active_set(const PrimalProblem& problem, const ActiveSetOptions& options, PrimalActiveSet& workspace,
                      InclusionSolution& solution);
InclusionSolution solve_active_set(const PrimalProblem& problem, const ActiveSetOptions& options = {});

}  // namespace stickslip
