// SPDX-License-Identifier: Apache-2.0
// Everything a run needs to go on: time, positions, velocities, internal states, and one mode per law.
#pragma once

#include <vector>

#include "stickslip/common/vector.hpp"
#include "stickslip/laws/friction_law.hpp"

namespace stickslip {

struct State {
  double t = 0;                  ///< [s]
  Vector q = {};                 ///< positions (nq) [m, rad]
  Vector v = {};                 ///< velocities (nv) [m/s, rad/s]
  Vector z = {};                 ///< internal states of compliant laws; empty where there are none
  std::vector<Mode> modes = {};  ///< one per law; empty: decided from v at the start
  /// One per law, of the point that the mode is of; empty: no law has a polygon whose facets the scheme knows.
  std::vector<ActiveFacets> facets = {};
};

}  // namespace stickslip
