// SPDX-License-Identifier: Apache-2.0
// Paper 3: J.S. Pang, Favorable Mathematical Properties of Frictional Contact Problems with Local Compliance, 2014.
#pragma once

#include "papers/papers.hpp"

namespace stickslip {

Reproduction reproduce_compliance(const ReproductionProgress& progress);

}  // namespace stickslip
