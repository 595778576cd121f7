// SPDX-License-Identifier: Apache-2.0
// The motion that a search ended with, stored as `run` stores its own: result.h5, trajectory.csv, events.csv.
#pragma once

#include <filesystem>
#include <functional>

#include "stickslip/io/found_motion.hpp"
#include "stickslip/io/result_folder.hpp"
#include "stickslip/io/summary.hpp"

namespace stickslip::cli {

/// `run` is handed hooks and simulates with them. Rows go to result.h5 as they come.
FoundMotion store_motion(ResultFolder& folder, const TrajectoryNames& names, const ResultHeader& header,
                         const std::function<Simulation(const SimulationHooks&)>& run);

}  // namespace stickslip::cli
