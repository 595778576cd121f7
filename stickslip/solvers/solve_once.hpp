// SPDX-License-Identifier: Apache-2.0
// A single solve: problem and options checked before, a workspace of its own, residuals measured after.
#pragma once

#include "stickslip/solvers/problem.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

inline Residuals residuals_of(const DualProblem& problem, const InclusionSolution& s) {
  return residuals(problem, s.r);
}
inline Residuals residuals_of(const PrimalProblem& problem, const InclusionSolution& s) {
  return residuals(problem, s.v, s.r);
}

/// method(problem, options, workspace, solution)
template <class Workspace, class Problem, class Options, class Method>
InclusionSolution solve_once(const Problem& problem, const Options& options, const Method& method) {
  validate(problem);
  options.validate();
  Workspace workspace;
  InclusionSolution solution;
  method(problem, options, workspace, solution);
  solution.residuals = residuals_of(problem, solution);
  return solution;
}

}  // namespace stickslip
