// SPDX-License-Identifier: Apache-2.0
// Problems without a solution: where to look for a proof (certifies_no_solution in residual.hpp checks it), and the
// solver for boxes with a singular D that such a search needs.
//
// Proximal active set: r_{k+1} solves the problem with D + α S and b - α S r_k, S = diag(1/ρ): strictly monotone, so
// that active_set applies. For a positive semidefinite D that has a solution it converges; without one the steps tend
// to a direction of the recession cone, and that is the candidate. For symmetric D such a direction lies in the null
// space of D: the candidate, known to the accuracy of the iteration, is projected on the null space of the block of D
// that it pushes on, which makes it exact to round-off, and then checked.
#pragma once

#include "stickslip/common/deadline.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

/// Boxes only (line, interval, half-line). tolerance: of the `inclusion` residual.
void solve_proximal_active_set(const DualProblem& problem, double tolerance, InclusionSolution& solution,
                               StopRequest stop = nullptr);

/// A law that nothing can move (its row of D is zero) and that is violated without reactions. y is its certificate.
bool find_immovable_law(const BlockSparseMatrix& D, const Vector& b, const std::vector<Set>& sets, Vector& y);

/// Looks for a certificate among the normals (up to 300) of the problem without friction. True if y passed the check.
bool find_certificate(const DualProblem& problem, Vector& y);

/// What a status no_solution says to a person.
const char* no_solution_message();

}  // namespace stickslip
