// SPDX-License-Identifier: Apache-2.0
// Which number of a model is no number, for a message a person can act on.
#pragma once

#include <string>

#include "stickslip/model/system.hpp"
#include "stickslip/motion/state.hpp"

namespace stickslip {

/// After a step from `s` towards t_end that met a number that is not finite: "the force on x is nan at t = 0.5 s; look
/// at its expression there", or, where every force is finite at both ends and in the middle of the step, that the
/// motion runs away. Empty if the state itself is no number.
std::string not_finite_cause(const System& system, const State& s, double t_end);

}  // namespace stickslip
