// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "papers/papers.hpp"

namespace stickslip {

/// Paper 2: stick and slip by switching constraints on and off (README.md).
Reproduction reproduce_stick_slip(const ReproductionProgress& progress);

}  // namespace stickslip
