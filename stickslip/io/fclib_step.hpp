// SPDX-License-Identifier: Apache-2.0
// A step of `moreau` (motion/moreau/step_problem.hpp) as a global friction-contact problem of FCLIB
// (fclib_problem.hpp):
//
//   M = A,   H = W,   f = g,   w_FCLIB = -w,   G_FCLIB = Gᵀ,   b = -a
//
// All contacts get the dimension of the largest. A contact without friction, or with one tangent among others with two,
// gets directions that move nothing (columns of H that are 0) for what it lacks, and μ = 0 in the first case.
// Friction laws whose limit is 0 in this step are left out; FCLIB has no place for others.
#pragma once

#include "stickslip/io/fclib_problem.hpp"
#include "stickslip/motion/moreau/step_problem.hpp"

namespace stickslip {

struct FclibStep {
  GlobalContactProblem problem;
  FclibSolution solution;  ///< what the step was solved to
};

/// Throws InputError: friction laws beside the contacts, or sections that are not round.
FclibStep fclib_step(const StepProblem& step);

}  // namespace stickslip
