// SPDX-License-Identifier: Apache-2.0
// The motion that a search ended with, stored as `run` stores its own: result.h5, trajectory.csv, events.csv.
#pragma once

#include <filesystem>
#include <functional>

#include "cli/result_folder.hpp"
#include "stickslip/io/summary.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::cli {

struct StoredMotion {
  Simulation simulation;  ///< with its trajectory
  double wall_seconds = 0;
};

/// `run` is handed hooks and simulates with them. Rows go to result.h5 as they come.
StoredMotion store_motion(ResultFolder& folder, const TrajectoryNames& names, const ResultHeader& header,
                          const std::function<Simulation(const SimulationHooks&)>& run);

}  // namespace stickslip::cli
