// SPDX-License-Identifier: Apache-2.0
// The derivative of a motion by all of its initial state, through every event:
//
//   Φ(t_end, t0) = ∂(δq, v, z)(t_end) / ∂(δq, v, z)(t0)          tangent directions of q, (2 nv + nz) square
//
// Over a period it is the monodromy matrix, whose eigenvalues are the Floquet multipliers. At a start that constraints
// or laws at rest restrict, columns of directions that they forbid are those of the projected direction, so Φ is
// singular there as the motion is.
#pragma once

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

struct StateTransition {
  Simulation run;      ///< from the state to t_end; its notes say where a derivative does not exist
  DenseMatrix matrix;  ///< Φ; not a number in columns without derivative
};

/// From state.t to t_end. The scheme of the options must carry derivatives; its output options are not looked at.
StateTransition state_transition(const System& system, const State& state, const SimulationOptions& options,
                                 double t_end);

}  // namespace stickslip
