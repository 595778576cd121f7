// SPDX-License-Identifier: Apache-2.0
// Unknowns without effect where they start: a mistake if they have none anywhere near; else (a law sticks) a start from
// which they have one.
#pragma once

#include <functional>
#include <optional>

#include "stickslip/boundary/unknown.hpp"

namespace stickslip {

/// What another value of one unknown makes of the equations.
struct Effect {
  bool changes = false;  ///< beyond the noise of the runs
  double residual = 0;   ///< that is to become small
};
/// None: there is no motion with that value.
using EffectOf = std::function<std::optional<Effect>(double value)>;

/// Of values around `at` that have an effect, the one with the smallest residual; the first one found where only
/// `whether` there is one is asked. None: there is none within the bounds and a hundred times the size of the unknown.
std::optional<double> value_with_effect(const Unknown& unknown, double at, bool whether, const EffectOf& effect);

}  // namespace stickslip
