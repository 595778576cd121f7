// SPDX-License-Identifier: Apache-2.0
// Paper 5: M. Legrand, C. Pierre, periodic solutions of systems with friction by weighted residuals of equalities.
#pragma once

#include "papers/papers.hpp"

namespace stickslip {

Reproduction reproduce_periodic(const ReproductionProgress& progress);

}  // namespace stickslip
