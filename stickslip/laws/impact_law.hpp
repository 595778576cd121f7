// SPDX-License-Identifier: Apache-2.0
// What the coefficient of restitution e relates at an impact.
//
//   newton     u_N⁺ >= -e u_N⁻           velocities: simple, can make energy where friction couples to the normal
//   poisson    p_N(expansion) >= e p_N(compression)                              impulses of two phases
//   energetic  W_N(rebound) = -e² W_N(compression),  W_N = ∫ u_N dp_N            work of the normal impulse along its
//                                                                                path; never makes energy (Stronge)
// Without friction at one contact all three are the same. The equations stand in solvers/impact.hpp.
#pragma once

#include <string_view>

namespace stickslip {

/// Ordered: where contacts with different laws take part in one impact, the later one holds for all of them.
enum class ImpactLaw { newton, poisson, energetic };

std::string_view to_string(ImpactLaw law);
/// Throws InputError naming the known words.
ImpactLaw impact_law_from(std::string_view name);

}  // namespace stickslip
