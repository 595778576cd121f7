// SPDX-License-Identifier: Apache-2.0
// The impact problem of contacts that touch (solvers/impact.hpp), from the placed dynamics.
#pragma once

#include <vector>

#include "stickslip/motion/event/mode_dynamics.hpp"
#include "stickslip/solvers/impact.hpp"

namespace stickslip {

/// `touching`: laws, all of them contacts. `rows`: their components, in the order of the problem.
void pose_impact(const ModeDynamics& dynamics, const std::vector<std::size_t>& touching, ImpactProblem& problem,
                 std::vector<Index>& rows);

}  // namespace stickslip
