// SPDX-License-Identifier: Apache-2.0
// The inclusion (*) for a few intervals and half-lines, by least-index exchanges on the stack: most events concern one
// or two laws, and the general solver costs more to call than to run there.
#pragma once

#include "stickslip/solvers/problem.hpp"

namespace stickslip {

/// Up to six components, D dense and positive definite. False: leave it to the general solver.
bool solve_few_boxes(const DualProblem& problem, Vector& r);

}  // namespace stickslip
