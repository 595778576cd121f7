// SPDX-License-Identifier: Apache-2.0
// What is known about a function of the model before it is used: what it depends on, and how simple it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "stickslip/model/state_function.hpp"

namespace stickslip {

/// What a function may depend on besides the parameters. `position`: the coordinates.
enum class Arguments { position, time_position, position_velocity, time_position_velocity };

/// Throws InputError naming the argument that is not allowed: "mass[0][1] depends on v_x; it may depend on ...". A
/// table over time is an expression's equal only where everything is allowed; elsewhere it is refused.
void require_arguments(const StateFunction& f, const std::string& what, Arguments allowed,
                       const std::vector<std::string>& coordinates);

/// Of a polynomial in (t, q, v): `quadratic` and below only if it is certain, `any` otherwise.
///
/// Certain means: the text consists of + - * /, integer powers, and functions of constants alone, so that f is a
/// rational function; and its second derivatives along random directions are exactly 0 (affine), or bitwise the same
/// (quadratic), at random points.
enum class Degree { constant, affine, quadratic, any };
Degree degree(const StateFunction& f, const std::vector<std::string>& coordinates);

}  // namespace stickslip
