// SPDX-License-Identifier: Apache-2.0
// Which runs of a sweep ended in the same state: basins of attraction. Two final states are the same where no number of
// position and velocity differs by more than `resolution` times the range that it has on the way in all runs together
// (the table has minimum and maximum as well). (A motion that goes on must be
// looked at in the same phase: forced motions are, at one end time; self-excited ones are not.)
#pragma once

#include <vector>

#include "stickslip/io/sweep_file.hpp"

namespace stickslip {

struct Attractors {
  std::vector<long> of_run;        ///< number of the attractor; -1: the run has no final state. By first appearance
  std::vector<long> counts;        ///< runs of each
  std::vector<std::string> names;  ///< of the numbers of a state
  std::vector<std::vector<double>> states;  ///< of the first run that ended there
};
Attractors find_attractors(const SweepTable& table, double resolution);

}  // namespace stickslip
