// SPDX-License-Identifier: Apache-2.0
// Bilateral constraints of a time step, eliminated from its inclusion:
//
//   A v = g + W p + Gᵀ Λ,    G v = a,    u = Wᵀ v - w,    -(u + s) ∈ N_K(p)
//
//   G  rows of the constraints at the place q_θ where impulses act (m × nv), redundant ones and singular positions
//      allowed; Λ their impulses [N s]: the shortest, rows scaled to unit length, where they are not unique
//   a  = rate(t1) + (G - G1) v1, G1 the rows at the end of the step: so that G1 v1 = rate(t1), the constraint at the end,
//      while impulses act along G; v1 from the iteration around the step
//
// With N (G N = 0, Nᵀ M N = 1) and G⁺ of constrained_mass.hpp, v = G⁺ a + N y, and y solves the same kind of problem
//
//   (Nᵀ A N) y = Nᵀ (g - A G⁺ a) + (Wᵀ N)ᵀ p,    u = (Wᵀ N) y - (w - Wᵀ G⁺ a),        Λ = (G⁺)ᵀ (A v - g - W p)
//
// in as many unknowns as there are degrees of freedom left.
#pragma once

#include <Eigen/LU>

#include "stickslip/model/system.hpp"
#include "stickslip/motion/constrained_mass.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

class ConstrainedStep {
 public:
  /// The system must outlive this object.
  explicit ConstrainedStep(const System& system) : system_(system), source_(system.laws().constraint_source()) {}
  bool any() const { return !source_.elements().empty(); }
  bool constant_rows() const { return source_.constant_rows(); }

  /// Rows at (t, q), with M(q). False: something is not finite.
  bool place(double t, const Vector& q, const SystemMatrix& M, SystemWorkspace& workspace);
  /// a, from the end of the step. Beside a singular position G⁺ is as large as the rows turn, and no iteration settles:
  /// `turning` = false leaves that out for a step, a = rate(t1), and the rest to the projection at its end.
  void ask(double t1, const Vector& q1, const Vector& v1, bool turning, SystemWorkspace& workspace);
  /// The problem without its constraints.
  void reduce(const PrimalProblem& problem);
  /// v of A v = g + Gᵀ Λ, without other reactions; after reduce().
  void free_velocity(Vector& v);
  /// Solves the reduced problem; r, u, v of `solution` are those of the whole. `start`: r of the solution.
  void solve(const PrimalProblem& problem, const SolveOptions& options, InclusionSolution& solution);

  const Vector& impulse() const { return impulse_; }  ///< Λ of the last solution
  const DenseMatrix& rows() const { return rows_.A; }  ///< G
  const Vector& rates() const { return rows_.rate; }   ///< G v where impulses act

 private:
  void find_impulse(const PrimalProblem& problem, const InclusionSolution& solution);

  const System& system_;
  const ConstraintSource& source_;
  ConstraintRows rows_, end_rows_;
  ConstrainedMass mass_;
  Vector asked_, given_, balance_, column_, impulse_;
  PrimalProblem reduced_;
  SystemMatrix reduced_matrix_;
  DenseMatrix AN_;
  Eigen::PartialPivLU<DenseMatrix> factor_;
  PrimalWorkspace solver_;
  InclusionSolution reduced_solution_;
};

}  // namespace stickslip
