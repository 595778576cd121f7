// SPDX-License-Identifier: Apache-2.0
// Inside of shoot(): what a problem must be, and what it leaves open about its unknowns.
#pragma once

#include "stickslip/boundary/shooting.hpp"

namespace stickslip {

/// Throws InputError: see shoot().
void require_valid(const ShootingProblem& problem, bool closest);

/// The same motion in one run.
ShootingProblem in_one_segment(ShootingProblem problem);

/// Unknowns that start at 0, without a scale or bounds that tell their size, get one from what the conditions make of
/// them (size_by_effect()), so that the search is the same in any units. Where fewer conditions than unknowns are
/// given they stay as they are: sizes are then part of what is asked for.
ShootingProblem with_sizes(const ShootingProblem& problem, const ShootingOptions& options);

}  // namespace stickslip
