// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "stickslip/model/kinematics.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip {

/// Throws InputError naming the argument where f is not a function of t and q of such a system, whose velocities may be
/// others than the rates of its coordinates (nq != nv).
void require_position_function(const StateFunction& f, const std::string& what, const Kinematics& kinematics);

}  // namespace stickslip
