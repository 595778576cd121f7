// SPDX-License-Identifier: Apache-2.0
// One dry-friction law of a model: where it acts and with which numbers.
//
//   u = W_kᵀ v - w(t)                      relative velocity, one or two components       [m/s or rad/s]
//   force on the system: r - viscous u + c γ(u),  r ∈ C with -u ∈ N_C(r)                  [N or N m]
//   C = [-c, c] (one component), disk, polygon or box of radius c (two components)
//   c = limit while slipping, static_limit (>= limit) while stuck; γ weakening (laws/weakening.hpp)
//
// r is the set-valued part alone, r = -c lam with lam of paper 1; γ and the viscous part are smooth.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "stickslip/laws/set.hpp"
#include "stickslip/laws/weakening.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip {

/// A direction over the velocities: u = Σ coefficient · v[coordinate].
using Direction = std::vector<std::pair<Index, double>>;

/// The velocity of one coordinate.
inline Direction on(Index coordinate) { return {{coordinate, 1.0}}; }
/// That of one over another one: u = v[first] - v[second].
inline Direction between(Index first, Index second) { return {{first, 1.0}, {second, -1.0}}; }

struct FrictionElement {
  std::string name = {};
  std::vector<Direction> directions = {};                    ///< one, or two for planar friction
  SetKind planar_set = SetKind::disk;                        ///< with two directions: disk, polygon or box
  int facets = 8;                                            ///< of the polygon
  /// c >= 0, of t, q, v, and of reactions R: then it holds for the R of the same instant. [N or N m]
  StateFunction limit = 0.0;
  std::optional<StateFunction> static_limit = std::nullopt;  ///< >= limit
  Weakening weakening = {};
  double viscous = 0;                                ///< >= 0 [N s/m or N m s/rad]
  std::vector<StateFunction> surface_velocity = {};  ///< empty: at rest; else one per direction [m/s or rad/s]

  int size() const { return static_cast<int>(directions.size()); }
  /// The set with limit c.
  Set set(double c) const {
    return size() == 1 ? Set{SetKind::interval, 1, c, 0}
                       : Set{planar_set, 2, c, planar_set == SetKind::polygon ? facets : 0};
  }
};

}  // namespace stickslip
