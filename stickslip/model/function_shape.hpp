// SPDX-License-Identifier: Apache-2.0
// What is required of a function of the model before it is used.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stickslip/model/state_function.hpp"

namespace stickslip {

/// What a function may depend on besides the parameters. `position`: the coordinates.
enum class Arguments { position, time_position, position_velocity, time_position_velocity };

/// Throws InputError naming the argument that is not allowed: "mass[0][1] depends on v_x; it may depend on ...". A
/// table over time is an expression's equal only where everything is allowed; elsewhere it is refused. A function of
/// the program must be made for as many coordinates.
void require_arguments(const StateFunction& f, const std::string& what, Arguments allowed,
                       const std::vector<std::string>& coordinates);

/// Throws InputError where f is a function of the program that was made for another system.
void require_sizes(const StateFunction& f, const std::string& what, Index nq, Index nv);

}  // namespace stickslip
