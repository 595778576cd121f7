// SPDX-License-Identifier: Apache-2.0
// A 2x2 symmetric positive definite matrix G as the metric |x|_G² = xᵀ G x of the planar sets.
#pragma once

namespace stickslip {

struct Metric {
  double g11 = 1.0;
  double g12 = 0.0;  ///< = g21
  double g22 = 1.0;
};

}  // namespace stickslip
