// SPDX-License-Identifier: Apache-2.0
// Problem (V) as an inclusion with one limit per law (mode_decision.hpp): where it is convex, and where there are too
// many combinations of modes to try.
#pragma once

#include "stickslip/motion/event/mode_decision.hpp"

namespace stickslip {

/// Where a law with a static limit gives way, its dynamic limit takes over, law by law. Limits that follow reactions:
/// in turns with these.
Decision solve_mode_inclusion(const DecisionProblem& problem, const DecisionOptions& options);

}  // namespace stickslip
