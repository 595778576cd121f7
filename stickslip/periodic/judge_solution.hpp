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

/// Functions of the basis that tell apart what is fast, in harmonics: what its errors are measured by
/// (CertificateLimits).
double basis_resolution(const PeriodicOptions& options);

/// Of the amplitudes, over the larger one. Errors of a basis are those of its forces: where friction leaves little of
/// them to move anything, a polished orbit is small beside the error of the start that it came from, and none the worse
/// for it. `least`: what counts as a motion at least [m].
double orbit_change(const Orbit& a, const Orbit& b, double least);
/// What a basis may be away from the motion, over its size.
double basis_limit(const PeriodicOptions& options);

/// Sets stability, certificates, notes, status and message of the solution.
void judge_solution(const JudgedMotion& motion, PeriodicSolution& solution);

/// Refused: the orbit is one of a family, and nothing selects it.
void ask_for_condition(PeriodicSolution& solution);

}  // namespace stickslip
