// SPDX-License-Identifier: Apache-2.0
// The verdict on a periodic motion that was found: stability, certificates, and what is said about it.
#pragma once

#include "stickslip/periodic/solve_periodic.hpp"

namespace stickslip {

/// What the verdict is based on beside the solution.
struct JudgedMotion {
  const PeriodicProblem& problem;
  const PeriodicOptions& options;  ///< as they were used
  const PeriodicHooks& hooks;
  const Orbit& weighted_orbit;  ///< of the weighted residual, where the solution is polished
  double condition = 0;         ///< number of the equations
  bool fell_back = false;       ///< to an orbit of a run
  double smallest = 0;          ///< motion that the weighted residual tells from none; 0: not known [m]
};

/// Sets stability, certificates, notes, status and message of the solution.
void judge_solution(const JudgedMotion& motion, PeriodicSolution& solution);

/// Refused: the orbit is one of a family, and nothing selects it.
void ask_for_condition(PeriodicSolution& solution);

}  // namespace stickslip
