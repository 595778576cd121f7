// SPDX-License-Identifier: Apache-2.0
// What result.h5 holds (docs/results.md), and how its state to go on from and its earlier rows get there. Only sources
// include this header.
#pragma once

#include <string>
#include <vector>

#include "stickslip/io/hdf5_file.hpp"
#include "stickslip/io/result_writer.hpp"

namespace stickslip {

/// Of the table `energy`.
const std::vector<std::string>& energy_columns();

/// A file with all its tables, empty, and all its texts.
void make_result_file(const std::filesystem::path& path, const TrajectoryNames& names, const ResultHeader& header);

/// Rows and events of an earlier result up to its checkpoint, into a file of make_result_file().
void copy_earlier(const std::filesystem::path& part, const EarlierResult& earlier);

/// Two slots, of which the older is overwritten; the counter that names the newer one is written last.
void write_checkpoint(const hdf5::File& file, const Checkpoint& checkpoint, std::size_t laws, std::int64_t number);

}  // namespace stickslip
