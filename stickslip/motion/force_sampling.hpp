// SPDX-License-Identifier: Apache-2.0
// What a step takes an applied force as: its mean, its value at the end or in the middle (force_sampler.hpp).
#pragma once

#include <string_view>

namespace stickslip {

enum class ForceSampling { mean, end, midpoint };
std::string_view to_string(ForceSampling sampling);
/// Throws InputError naming the known words.
ForceSampling force_sampling_from(std::string_view name);

}  // namespace stickslip
