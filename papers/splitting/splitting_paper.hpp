// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "papers/papers.hpp"

namespace stickslip {

/// Figures 1-9 and every claim of paper 1, with the second-order scheme beside it. Takes about a second.
Reproduction reproduce_splitting(const ReproductionProgress& progress);

}  // namespace stickslip
