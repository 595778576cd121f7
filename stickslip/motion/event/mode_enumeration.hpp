// SPDX-License-Identifier: Apache-2.0
// Problem (V) by trying all combinations of modes (mode_decision.hpp).
#pragma once

#include "stickslip/motion/event/mode_decision.hpp"

namespace stickslip {

/// Combinations there are; 0: some law has modes that cannot be enumerated (two tangents at rest).
double combinations(const DecisionProblem& problem);
Decision enumerate_modes(const DecisionProblem& problem, const DecisionOptions& options);

}  // namespace stickslip
