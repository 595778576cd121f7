// SPDX-License-Identifier: Apache-2.0
// One solve() for the inclusion (*): picks a method that fits the laws, falls back when it fails, says which it used.
//
//   every law a box (Line, Interval, HalfLine)   active_set; if D is singular on the stuck laws, a proximal-point loop
//                                                around it (D + α diag, α → small), which converges for any positive
//                                                semidefinite D that has a solution and yields a certificate if it has
//                                                none
//   planar friction, cones                       contact_solver.hpp: accelerated sweeps, proximal Newton, restarts
//
// Primal form: boxes and planar friction on distinct coordinates stay primal (active_set, gauss_seidel and then one
// solve with the stuck coordinates pinned, so that sticking is exact); a few general directions go through D, which is
// kept while A_version does not change; many general directions use the augmented active set. Where the primal method
// fails the dual one is tried. Contacts (cones), alone or beside other laws, are condensed body by body
// (condensation.hpp) and their number may change from step to step; a single law on up to 12 coordinates is solved at
// once (single_law.hpp).
#pragma once

#include "stickslip/solvers/active_set.hpp"
#include "stickslip/solvers/condensation.hpp"
#include "stickslip/solvers/contact_solver.hpp"
#include "stickslip/solvers/gauss_seidel.hpp"
#include "stickslip/solvers/problem.hpp"
#include "stickslip/solvers/projected_iteration.hpp"
#include "stickslip/solvers/semismooth_newton.hpp"
#include "stickslip/solvers/single_law.hpp"
#include "stickslip/solvers/solve_options.hpp"
#include "stickslip/solvers/stacked_laws.hpp"

namespace stickslip {

/// The part of the options that a method takes; where it has a default of its own, max_iterations = 0 leaves that.
ContactOptions contact_options(const SolveOptions& options);
ActiveSetOptions active_set_options(const SolveOptions& options);
ProjectedIterationOptions projected_iteration_options(const SolveOptions& options);

InclusionSolution solve(const DualProblem& problem, const SolveOptions& options = {}, const Vector& start = {});

/// Keeps factors, D and the last statuses from one step to the next. It belongs to one structure: sizes, the
/// coordinates that W touches, the kinds of the sets. (A change of the sizes or of the solver is noticed.) Problems
/// with cones may change all of that freely.
struct PrimalWorkspace {
  SingleLaw single_law;
  Condensation condensation;
  ContactWorkspace contacts;
  PrimalActiveSet active_set;
  StackedLaws stacked;
  PrimalGaussSeidel gauss_seidel;
  PinnedFactor factor;        ///< of A
  PinnedFactor stuck_factor;  ///< of A with the stuck coordinates pinned
  std::vector<char> pinned, none_pinned;
  DualProblem dual;
  DualActiveSet dual_active_set;
  Vector weights, scaling, new_scaling, work, fixed;
  IterationBound bound;
  bool symmetric = false;  ///< A, as far as the projected iteration needs to know
  unsigned long factor_version = kNoVersion, stuck_version = kNoVersion, dual_version = kNoVersion,
                bound_version = kNoVersion;
  bool on_coordinates = false;  ///< each law has coordinates to itself
  int path = -1;                ///< how this structure is solved
  SolverKind path_solver = SolverKind::automatic;
  Index path_coordinates = -1, path_laws = -1;
};
/// Sets status, message, r, u, v, iterations and solver; the residuals are left to the caller, who may not need them.
void solve(const PrimalProblem& problem, const SolveOptions& options, PrimalWorkspace& workspace,
           InclusionSolution& solution);
InclusionSolution solve(const PrimalProblem& problem, const SolveOptions& options = {});

}  // namespace stickslip
