// SPDX-License-Identifier: Apache-2.0
// The motion that a search ended with.
#pragma once

#include "stickslip/motion/simulate.hpp"

namespace stickslip {

struct FoundMotion {
  Simulation simulation;  ///< with its trajectory
  double wall_seconds = 0;
};

}  // namespace stickslip
