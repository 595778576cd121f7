// SPDX-License-Identifier: Apache-2.0
// The inclusion that a step of `moreau` was solved by, taken out of a run so that it can be kept and solved alone.
//
//   A v = g + W r + Gᵀ Λ,    u = Wᵀ v - w,    G v = a,    -(u + s(u)) ∈ N_C(r)
//
//   v  velocities at the end of the step; r impulses: friction laws first, then the contact points that take part [N s]
//   w  holds what the law adds to u (restitution, gap/h: moreau.hpp), so that the law itself is Coulomb's without any
//   g  holds the impulses of Poisson's or the energetic impact law, where there were any; r is what comes on top
//
// Of a step that iterates (forces of state, constraints that turn, limits that follow reactions) it is the last of its
// problems; of a step that was cut into parts (located reversals, steps that could not be solved as a whole) the
// problem of each part.
#pragma once

#include <functional>

#include "stickslip/motion/stepping.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

/// Refers to the scheme: valid while the observer is called.
struct StepProblem {
  double start, end;  ///< of the part [s]; unsolved: what was aimed at
  const StepOutcome& outcome;
  const PrimalProblem& problem;
  std::size_t friction_laws;          ///< of problem.sets: the first ones
  const InclusionSolution& solution;  ///< r, u, v; unsolved: what was reached
  const DenseMatrix* G = nullptr;     ///< null: there are no constraints
  const Vector* a = nullptr;
  const Vector* constraint_impulse = nullptr;  ///< Λ
  std::size_t contacts() const { return problem.sets.size() - friction_laws; }
};
using StepProblemObserver = std::function<void(const StepProblem&)>;

/// Throws InputError, with a remedy, where the run is not one of `moreau` or the system has no contacts.
Simulation simulate_step_problems(const System& system, const State& initial, const SimulationOptions& options,
                                  const SimulationHooks& hooks, const StepProblemObserver& observer);

}  // namespace stickslip
