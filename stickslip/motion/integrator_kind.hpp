// SPDX-License-Identifier: Apache-2.0
// The integrators of smooth motion that a scheme may be told to take (common/ode.hpp).
#pragma once

#include <string_view>

namespace stickslip {

enum class IntegratorKind { dormand_prince, radau };
std::string_view to_string(IntegratorKind kind);
/// Throws InputError naming the known words.
IntegratorKind integrator_from(std::string_view name);

}  // namespace stickslip
