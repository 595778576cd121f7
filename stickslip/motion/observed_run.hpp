// SPDX-License-Identifier: Apache-2.0
// simulate() with a look into the scheme after every part of a step, solved or not: for what a scheme knows of a step
// and no row, event or audit holds (the problem that it solved: moreau/step_problem.hpp).
#pragma once

#include <functional>

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

/// The part went from `start` to `end`; where the outcome is no success, `end` is what was aimed at. [s]
using StepObserver =
    std::function<void(const Scheme& scheme, double start, double end, const StepOutcome& outcome)>;

Simulation simulate_observed(const System& system, const State& initial, const SimulationOptions& options,
                             const SimulationHooks& hooks, const StepObserver& observer);

}  // namespace stickslip
