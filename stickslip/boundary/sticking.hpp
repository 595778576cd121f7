// SPDX-License-Identifier: Apache-2.0
// Laws that stuck for most of a motion: what they hold does not move, and nothing that is asked of it can be reached.
#pragma once

#include <string>
#include <vector>

#include "stickslip/motion/trajectory.hpp"

namespace stickslip {

struct StickingLaw {
  std::string law;
  double fraction = 0;  ///< of the rows
};

/// Those that stick in at least `least` of the rows, most first.
std::vector<StickingLaw> sticking_laws(const Trajectory& trajectory, double least = 0.5);

/// "the law 'shoe' stuck for 97 % of the time"; empty if there is none.
std::string describe(const std::vector<StickingLaw>& laws);

}  // namespace stickslip
