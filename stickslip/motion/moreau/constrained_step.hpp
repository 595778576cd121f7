// SPDX-License-Identifier: Apache-2.0
// Bilateral constraints of a time step, eliminated from its inclusion:
//
//   A v = g + W p + Gᵀ Λ,    G v = a,    u = Wᵀ v - w,    -(u + s) ∈ N_K(p)
//
//   G  rows of the constraints at the place q_θ where impulses act (m × nv), redundant ones and singular positions
//      allowed; Λ their impulses [N s]: the shortest, rows scaled to unit length, where they are not unique
//   a  = rate(t1) + (G - G1) v1, G1 the rows at the end of the step: so that G1 v1 = rate(t1), the constraint at the
//   end,
//      while impulses act along G; v1 from the iteration around the step
//
// With N (G N = 0, Nᵀ M N = 1) and G⁺ of constrained_mass.hpp, v = G⁺ a + N y, and y solves the same kind of problem
//
//   (Nᵀ A N) y = Nᵀ (g - A G⁺ a) + (Wᵀ N)ᵀ p,    u = (Wᵀ N) y - (w - Wᵀ G⁺ a),        Λ = (G⁺)ᵀ (A v - g - W p)
//
// in as many unknowns as there are degrees of freedom left.
//
// Singular positions (rows that come to depend on each other: cranks that lie flat, a second motion branches off). G⁺
// grows like 1/d towards them, d the way to go, and within a step of one it is as large as the rows turn: the iteration
// for a does not settle, or settles on the other motion; at the position itself the row that is lost would set a
// direction free. But the rows span a space that has a limit along either motion. So within such a step rows are those
// at its start or end, whichever is farther away, and a = rate(t1): the direction of v1 is then off by O(h), which
// the projection at the end takes out, and its size by O(h²), once per passing.
#pragma once

#include "stickslip/common/decompositions.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/constrained_mass.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

class ConstrainedStep {
 public:
  /// The system must outlive this object.
  explicit ConstrainedStep(const System& system)
      : system_(system),
        source_(system.laws().constraint_source()),
        any_(!source_.elements().empty()),
        constant_rows_(source_.constant_rows()) {}
  bool any() const { return any_; }
  bool constant_rows() const { return constant_rows_; }

  /// The position that the step starts from, on the constraints.
  void begin(double t0, const Vector& q0, const SystemMatrix& M, SystemWorkspace& workspace);
  /// Rows at (t, q), with M(q). False: something is not finite. q is on the way of the step, in a straight line from
  /// its start: rows that depend on each other at the start do so here up to the distance from the constraints
  /// (dependent_rows.hpp).
  bool place(double t, const Vector& q, const SystemMatrix& M, SystemWorkspace& workspace);
  /// a, from the end of the step.
  void ask(double t1, const Vector& q1, const Vector& v1, SystemWorkspace& workspace);
  /// a = rate(t1), whatever v1 is, with the rows as placed: beside a singular position (below).
  void ask(double t1, const Vector& q1, SystemWorkspace& workspace);
  /// |G⁺ (G - G1)| of the last ask(), in the metric of the mass: what a change of v1 makes of itself in one iteration.
  double turning();
  /// How far the placed rows are from depending on each other: first by rank, then by stretch().
  struct Independence {
    Index rank = 0;
    double stretch = 0;
    bool better_than(const Independence& other, double factor) const {
      return rank != other.rank ? rank > other.rank : stretch < factor * other.stretch;
    }
  };
  Independence independence() const { return {mass_.rank(), mass_.stretch()}; }
  /// The problem without its constraints.
  void reduce(const PrimalProblem& problem);
  /// v of A v = g + Gᵀ Λ, without other reactions; after reduce().
  void free_velocity(Vector& v);
  /// Solves the reduced problem; r, u, v of `solution` are those of the whole. `start`: r of the solution.
  void solve(const PrimalProblem& problem, const SolveOptions& options, InclusionSolution& solution);

  Index rank() const { return mass_.rank(); }
  const Vector& impulse() const { return impulse_; }  ///< Λ of the last solution
  /// Σ_j |G⁺_ji| load_j: the terms that Λ_i is the sum of, whose round-off it carries. [N s]
  void impulse_terms(const Vector& load, Vector& terms) const;
  /// |NᵀW_i| (|Nᵀg| + Σ_k |NᵀW_k r_k|): the terms that u_i of the last solution is the sum of, whose round-off it
  /// carries. Along a chain they exceed what its diagonal says by far: a link gives way where all those below it need
  /// not. [m/s]
  double velocity_terms(Index i) const;
  const DenseMatrix& rows() const { return rows_.A; }         ///< G
  const Vector& end_rates() const { return end_rows_.rate; }  ///< G1 v1
  /// Λ · (θ G1 v1 + (1 - θ) G0 v0): work of constraints that move, also where their rate jumps within the step. [J]
  double work(double theta, double t0, const Vector& q0, SystemWorkspace& workspace);
  const Vector& asked() const { return asked_; }  ///< a

 private:
  void find_impulse(const PrimalProblem& problem, const InclusionSolution& solution);

  const System& system_;
  const ConstraintSource& source_;
  bool any_, constant_rows_;  // asked many times a step
  ConstraintRows rows_, start_rows_, end_rows_, first_rows_;
  ConstrainedMass mass_;
  Vector asked_, given_, balance_, column_, impulse_;
  PrimalProblem reduced_;
  SystemMatrix reduced_matrix_;
  DenseMatrix AN_, turn_, independent_;
  bool redundant_ = false;  // rows depend on each other where the step starts
  Eigen::PartialPivLU<DenseMatrix> factor_;
  PrimalWorkspace solver_;
  InclusionSolution reduced_solution_;
};

}  // namespace stickslip
