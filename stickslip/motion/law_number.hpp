// SPDX-License-Identifier: Apache-2.0
// Numbers of a case of which it is known without asking what they touch: "contact.<index or name>.mu" of contacts given
// by functions is the coefficient of that law and nothing else. A scheme that knows the derivative by it needs no
// neighbouring cases (sensitivity.hpp), of which each costs four systems.
#pragma once

#include <optional>
#include <string>

#include "stickslip/motion/case.hpp"

namespace stickslip {

/// The contact law whose coefficient has this name; nothing where the name is of another kind, or more depends on it.
std::optional<std::size_t> contact_of_coefficient(const System& system, const std::string& name);
/// The scheme of these options knows the derivative by such a coefficient.
bool knows_coefficients(const SimulationOptions& options);

}  // namespace stickslip
