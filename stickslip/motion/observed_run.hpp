// SPDX-License-Identifier: Apache-2.0
// simulate() with a look into the scheme after every part of a step, solved or not: for what a scheme knows of a step
// and no row, event or audit holds (the problem that it solved: moreau/step_problem.hpp).
#pragma once

#include "stickslip/motion/stepping.hpp"

namespace stickslip {

Simulation simulate_observed(const System& system, const State& initial, const SimulationOptions& options,
                             const SimulationHooks& hooks, const StepObserver& observer);

}  // namespace stickslip
