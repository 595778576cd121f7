// SPDX-License-Identifier: Apache-2.0
// run.dump: times of steps whose contact problems a run writes (fclib_step.hpp).
#pragma once

#include <vector>

#include "stickslip/io/model_file.hpp"

namespace stickslip {

namespace model_detail {
struct Field;
/// A list of times in [start, end], ascending.
std::vector<double> read_times(const Field& field, double start, double end);
}  // namespace model_detail

/// [s], in the order of the file; empty: none. read_model() has seen that they are times of the run.
std::vector<double> dump_times(const ModelFile& model);

}  // namespace stickslip
