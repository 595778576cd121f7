// SPDX-License-Identifier: Apache-2.0
// trajectory.csv and events.csv. Numbers are the shortest decimals that read back to the same double; not-a-number is
// `nan`, infinity `inf`. Names with a comma, quote, line break or outer blank are quoted, quotes inside are doubled.
//
//   trajectory.csv   t, <coordinate>..., v_<coordinate>..., r_<reaction>...
//                    then, where the run has them, r_<reaction>_smooth... and vf_<coordinate>...
//   events.csv       t, law, kind, before, after, impulse; facets_before, facets_after where the scheme knows facets
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/io/result_reader.hpp"
#include "stickslip/motion/trajectory.hpp"

namespace stickslip {

/// "d_<column>_<unknown>", unknown by unknown: coordinates, velocities and, where known, reactions.
std::vector<std::string> sensitivity_columns(const TrajectoryNames& names);
/// All columns of trajectory.csv, not quoted.
std::vector<std::string> trajectory_columns(const TrajectoryNames& names);
std::string csv_cell(std::string_view text);

void write_trajectory_csv(const std::filesystem::path& path, const Trajectory& trajectory);
void write_events_csv(const std::filesystem::path& path, const Trajectory& trajectory);

/// The same from a stored result, part by part. keep_going(fraction), if given, is asked before each part; false ends
/// it: there is no file then, and the answer is false.
bool write_trajectory_csv(const std::filesystem::path& path, const ResultStream& result,
                          const std::function<bool(double)>& keep_going = {});
bool write_events_csv(const std::filesystem::path& path, const ResultStream& result,
                      const std::function<bool(double)>& keep_going = {});

}  // namespace stickslip
