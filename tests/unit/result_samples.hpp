// SPDX-License-Identifier: Apache-2.0
// Runs made up of formulas: every number of row n follows from n, so that any part of a file can be checked by itself.
#pragma once

#include <cmath>
#include <filesystem>
#include <random>
#include <string>

#include "stickslip/io/result_writer.hpp"

namespace stickslip::samples {

/// A folder of its own for each test, removed at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name) {
    std::random_device device;
    path_ = std::filesystem::temp_directory_path() /
            ("stickslip_" + name + "_" + std::to_string(device()) + std::to_string(device()));
    std::filesystem::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline TrajectoryNames names(bool smooth_part, bool friction_velocity) {
  TrajectoryNames n;
  n.coordinates = n.velocities = {"x1", "x2", "arm.rz"};
  n.laws = {"shoe", "table"};
  n.reactions = {"shoe", "table_t1", "table_t2"};
  n.smooth_part = smooth_part;
  n.friction_velocity = friction_velocity;
  return n;
}

inline ResultHeader header() { return {"A made-up run", "models/made_up.toml", "moreau", "0.1.0"}; }

/// A number without pattern, different for every (n, column).
inline double number(long n, int column) {
  return std::sin(0.7 * static_cast<double>(n) + 1.3 * column) *
         std::exp2(static_cast<double>((n + column) % 40) - 20.0);
}

inline void fill_row(long n, OutputRow& row) {
  row.t = 1e-3 * static_cast<double>(n);
  auto fill = [n](Vector& v, int first) {
    v.resize(3);
    for (int i = 0; i < 3; ++i) v[i] = number(n, first + i);
  };
  fill(row.q, 0);
  fill(row.v, 3);
  fill(row.reaction, 6);
  fill(row.smooth, 9);
  fill(row.friction_velocity, 12);
  row.energy = {number(n, 15), number(n, 16), number(n, 17), number(n, 18),
                number(n, 19), number(n, 20), number(n, 21)};
  row.modes = {static_cast<Mode>(n % 6), static_cast<Mode>((n / 3) % 6)};
}

inline Event event(long n) {
  return {1e-3 * static_cast<double>(n), static_cast<int>(n % 2),        static_cast<EventKind>(n % 6),
          static_cast<Mode>(n % 5),      static_cast<Mode>((n + 1) % 5), number(n, 22)};
}

inline State state(long n) {
  OutputRow row;
  fill_row(n, row);
  return {row.t, row.q, row.v, Vector(), row.modes};
}

inline Simulation simulation(const TrajectoryNames& names, long rows, long events) {
  Simulation s;
  s.trajectory = Trajectory(names, 3, 3, rows);
  OutputRow row;
  for (long n = 0; n < rows; ++n) {
    fill_row(n, row);
    s.trajectory.append(row);
  }
  for (long n = 0; n < events; ++n) s.trajectory.events.push_back(event(n));
  s.final = state(rows + 7);  // with thinned output the last state is no row
  s.final_reaction = Vector::LinSpaced(3, 1.5, 2.5);
  s.steps = 4321;
  s.problems = 8765;
  s.audit = {{"inclusion", 1e-14, 1e-10, true, true, "", "residual of the law"},
             {"energy_work_in", 2.5, 0, false, true, "J", "work of applied forces"}};
  return s;
}

}  // namespace stickslip::samples
