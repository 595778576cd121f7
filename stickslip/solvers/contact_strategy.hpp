// SPDX-License-Identifier: Apache-2.0
// The methods of contact_solver.hpp and their default strategy, for laws of at most N components: the parts, their
// memory, and the best point so far.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "stickslip/solvers/accelerated_sweeps.hpp"
#include "stickslip/solvers/contact_interior.hpp"
#include "stickslip/solvers/contact_newton.hpp"
#include "stickslip/solvers/contact_patches.hpp"
#include "stickslip/solvers/contact_solver.hpp"

namespace stickslip {

/// One more part of the way, and the error that it left.
void note_part(std::string_view part, double error, InclusionSolution& solution);

/// What is done before a proximal Newton method, and that method.
struct ContactAttempt;

template <int N>
class ContactStrategy {
 public:
  ContactStrategy();
  ~ContactStrategy();
  ContactSystem<N> system;
  std::vector<double> r;  ///< start and best point, padded
  std::vector<double> u;  ///< memory for its velocities
  double error = 0;       ///< of r
  int iterations = 0;
  /// The problem as it was given, for a certificate; null: none is looked for.
  const BlockSparseMatrix* given_D = nullptr;
  const Vector* given_b = nullptr;
  const std::vector<Set>* given_sets = nullptr;
  const BodyBlocks* bodies = nullptr;  ///< D = Wᵀ A⁻¹ W in parts, where that is known

  /// From r; iterations counts on. Sets solution.solver, and the status if there is a certificate of insolubility.
  void run(const ContactOptions& options, const ContactGoal& goal, InclusionSolution& solution);

 private:
  static constexpr double kShare = 0.3;  // of the error asked for: what a patch is solved to
  static constexpr int kPatch = 250;     // laws in patches, per ring of neighbours
  static constexpr int kSweepsAlone = 1000, kSweepsAfterPatches = 50;

  /// From start_; keeps the result if it is better.
  void sweep(const ContactGoal& goal, const SweepLimits& limits);
  /// Conjugate sweeps from r, up to 1000.
  void sweep_while_useful(const ContactGoal& goal, bool backward);
  void run_strategy(const ContactOptions& options, const ContactGoal& goal, InclusionSolution& solution);
  /// False if the goal or a limit was reached before the Newton method at its end.
  bool try_attempt(const ContactAttempt& attempt, double variation, const ContactGoal& goal,
                   InclusionSolution& solution);
  /// Many laws: sweeps that go on where Anderson's stand still, and patches where only a few laws do not settle.
  void run_large(const ContactOptions& options, const ContactGoal& goal, InclusionSolution& solution);
  /// Heaps: the central path, by several ways of smoothing the slip, each followed by conjugate sweeps.
  void run_interior(const ContactOptions& options, const ContactGoal& goal, InclusionSolution& solution);
  /// What interior points leave, from r and into it; the error. Patches, or a proximal Newton method over bodies.
  double finish_with_patches(double* point, const ContactOptions& options, const ContactGoal& goal);
  double finish_with_newton(double* point, const ContactGoal& goal);
  /// Patches 0 .. count - 1, from start_, into start_.
  void solve_patches(int count, const ContactOptions& options, const ContactGoal& goal, int patience);
  struct PatchSolver;  // and its memory, of which each thread needs one
  void solve_patch(int k, const ContactOptions& options, const ContactGoal& goal, int patience, PatchSolver& solver);
  bool is_insoluble(InclusionSolution& solution);
  bool done(const ContactGoal& goal) const;
  void keep(double found);

  AcceleratedSweeps<N> sweeps_;
  ContactNewton<N> newton_;
  ContactInterior<N> interior_;
  ContactPatches<N> patches_;
  std::vector<std::unique_ptr<PatchSolver>> idle_;  // that take no patch just now
  std::vector<double> whole_;                       // start_ before patches are solved
  std::vector<int> patch_cost_;                     // iterations over everything
  std::vector<double> start_, slip_;
  int most_ = 0;  // iterations
  bool is_patch_ = false;
};

}  // namespace stickslip
