// SPDX-License-Identifier: Apache-2.0
// How the variables of a unit are numbered: kind + place in the model.
#pragma once

namespace stickslip {

inline constexpr unsigned kBlock = 100'000'000;  ///< more than a kind has
inline constexpr unsigned kInput = 0, kParameter = kBlock, kPosition = 2 * kBlock, kVelocity = 3 * kBlock,
                          kReaction = 4 * kBlock;

}  // namespace stickslip
