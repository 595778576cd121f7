// SPDX-License-Identifier: Apache-2.0
// The second half of paper 2, coupled bodies: the example built of bodies and hinges, an arm whose hinges are locked by
// friction and let go by a load, a closed chain whose constraints depend on one another.
#pragma once

#include <Eigen/Dense>
#include <string>
#include <vector>

#include "stickslip/motion/simulate.hpp"

namespace stickslip::paper2 {

/// Case 3 as a tree (two-bodies.toml), event scheme.
Simulation run_two_bodies();

/// models/planar-arm.toml: two links of 0.5 m (1 kg) and 0.4 m (0.6 kg), limits 8 and 1.3 N m. Gravity alone is below
/// them; from 2 s on the tip carries 2 N more every second.
struct LockedArm {
  double motion = 0;    ///< of all hinges until the first one gives way: largest |q - q(0)| [rad]
  double release = 0;   ///< first event [s]
  double expected = 0;  ///< from statics: the elbow carries its limit [s]
  std::string hinge;    ///< that gave way
  Status status = Status::success;
};
LockedArm run_locked_arm();

/// models/bricard.toml: six hinges, five rods; published positions of the joint that starts at (1, -1, 0).
struct ClosedChain {
  Index rows = 0, rank = 0;
  std::vector<std::string> dependent;
  double position_error = 0;  ///< at 0.5 and 1 s [m]
  double energy_drift = 0;    ///< largest |E - E(0)| [J]
  Status status = Status::success;
};
ClosedChain run_closed_chain();

}  // namespace stickslip::paper2
