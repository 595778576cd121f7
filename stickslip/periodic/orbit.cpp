// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/orbit.hpp"

namespace stickslip {

void read_rows(Orbit& orbit) {
  if (orbit.q.empty()) return;
  orbit.minimum = orbit.maximum = orbit.q[0];
  for (const Vector& q : orbit.q) {
    orbit.minimum = orbit.minimum.cwiseMin(q);
    orbit.maximum = orbit.maximum.cwiseMax(q);
  }
  if (orbit.modes.empty()) return;
  orbit.stick_fraction = Vector::Zero(static_cast<Index>(orbit.modes[0].size()));
  for (const std::vector<Mode>& modes : orbit.modes)
    for (std::size_t k = 0; k < modes.size(); ++k)
      if (modes[k] == Mode::stick) orbit.stick_fraction[static_cast<Index>(k)] += 1;
  orbit.stick_fraction /= static_cast<double>(orbit.modes.size());
}

}  // namespace stickslip
