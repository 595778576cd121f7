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
/// The derivative by the unknown is more than noise at a value.
using HasSlope = std::function<bool(double value)>;

/// A value changes what is looked at by about as much as it is. None: there is no motion with that value.
using ChangesMuch = std::function<std::optional<bool>(double value)>;

/// Size of an unknown that starts at 0 and of which nothing else tells it: the least power of ten of its unit, between
/// 1e-12 and 1e12, that changes much in either direction. None: none does before motions fail.
std::optional<double> size_by_effect(const Unknown& unknown, const ChangesMuch& changes_much);

/// The first value around `at` that has an effect. None: there is none within the bounds and ten thousand times the
/// size of the unknown.
std::optional<double> value_with_effect(const Unknown& unknown, double at, const EffectOf& effect);

/// Of those values the one with the smallest residual, as a start: where it has no slope (a limit of 0 is the far end
/// of where limits have an effect), one between `at` and it that has.
std::optional<double> start_with_effect(const Unknown& unknown, double at, const EffectOf& effect,
                                        const HasSlope& has_slope);

}  // namespace stickslip
