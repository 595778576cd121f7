// SPDX-License-Identifier: Apache-2.0
#include "cli/motion_results.hpp"

#include <chrono>

#include "cli/terminal.hpp"
#include "stickslip/io/csv_writer.hpp"

namespace stickslip::cli {

FoundMotion store_motion(ResultFolder& folder, const TrajectoryNames& names, const ResultHeader& header,
                         const std::function<Simulation(const SimulationHooks&)>& run) {
  FoundMotion stored;
  ResultWriter writer(folder.open(), names, header);
  SimulationHooks hooks;
  hooks.on_row = [&](const OutputRow& row) { writer.add(row); };
  hooks.on_event = [&](const Event& event) { writer.add(event); };
  hooks.keep_going = [&](const State&) {
    writer.flush_if_due();
    return !interrupted();
  };
  hooks.stop = interrupt_request();
  const auto begin = std::chrono::steady_clock::now();
  stored.simulation = run(hooks);
  stored.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  writer.close(stored.simulation, stored.wall_seconds);
  write_trajectory_csv(folder.path() / "trajectory.csv", stored.simulation.trajectory);
  write_events_csv(folder.path() / "events.csv", stored.simulation.trajectory);
  return stored;
}

}  // namespace stickslip::cli
