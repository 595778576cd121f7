// SPDX-License-Identifier: Apache-2.0
// Paper 4: A. Fidlin, J. Deppler, B. Braun, Convergency of viscoelastic constraints to nonholonomic idealization.
#pragma once

#include "papers/papers.hpp"

namespace stickslip {

Reproduction reproduce_viscoelastic(const ReproductionProgress& progress);

}  // namespace stickslip
