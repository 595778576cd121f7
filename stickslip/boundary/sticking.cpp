// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/sticking.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace stickslip {

std::vector<StickingLaw> sticking_laws(const Trajectory& trajectory, double least) {
  std::vector<StickingLaw> found;
  const std::vector<std::string>& names = trajectory.names().laws;
  if (trajectory.rows() == 0) return found;
  for (std::size_t law = 0; law < names.size(); ++law) {
    Index stuck = 0;
    for (Index row = 0; row < trajectory.rows(); ++row)
      stuck += trajectory.mode(row, static_cast<Index>(law)) == Mode::stick;
    const double fraction = static_cast<double>(stuck) / static_cast<double>(trajectory.rows());
    if (fraction >= least) found.push_back({names[law], fraction});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const StickingLaw& a, const StickingLaw& b) { return a.fraction > b.fraction; });
  return found;
}

std::string describe(const std::vector<StickingLaw>& laws) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t k = 0; k < std::min(laws.size(), kMost); ++k)
    text += fmt::format("{}the law '{}' stuck for {:.0f} % of the time", k ? ", " : "", laws[k].law,
                        100 * laws[k].fraction);
  if (laws.size() > kMost) text += fmt::format(", and so did {} more", laws.size() - kMost);
  return text;
}

}  // namespace stickslip
