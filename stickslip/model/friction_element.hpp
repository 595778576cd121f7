// SPDX-License-Identifier: Apache-2.0
// One dry-friction law of a model: where it acts and with which numbers.
//
//   u = W_kᵀ v - w(t)                      relative velocity, one or two components       [m/s or rad/s]
//   force on the system: r - viscous u + c γ(u),  r ∈ C with -u ∈ N_C(r)                  [N or N m]
//   C = [-c, c] (one component), disk, polygon or box of radius c (two components)
//   c = limit while slipping, static_limit (>= limit) while stuck; γ weakening (laws/weakening.hpp)
//
// r is the set-valued part alone, r = -c lam with lam of paper 1; γ and the viscous part are smooth.
//
// stiffness k > 0: a spring in series with the slider (Jenkins' element, elastic dry friction). Its deformation d, the
// state of the law, follows from
//   r = -k d,   d' = u - u_s,   -u_s ∈ N_C(r)                             u_s: velocity of the slider     [k: N/m, d:
//   m]
// i.e. the force is that of a spring as long as the limit is not reached, and the limit beyond; ½ k |d|² is stored,
// -r·u_s >= 0 is lost. k → ∞ is the rigid law above. (It is the tangential law of paper 3 with D = 0.)
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
  std::vector<Direction> directions = {};  ///< one, or two for planar friction
  SetKind planar_set = SetKind::disk;      ///< with two directions: disk, polygon or box
  int facets = 8;                          ///< of the polygon
  /// c >= 0, of t, q, v, and of reactions R: then it holds for the R of the same instant. [N or N m]
  StateFunction limit = 0.0;
  std::optional<StateFunction> static_limit = std::nullopt;  ///< >= limit
  Weakening weakening = {};
  double viscous = 0;                                ///< >= 0 [N s/m or N m s/rad]
  std::vector<StateFunction> surface_velocity = {};  ///< empty: at rest; else one per direction [m/s or rad/s]
  double stiffness = 0;  ///< of a spring in series; 0: none, the law is rigid [N/m or N m/rad]

  int size() const { return static_cast<int>(directions.size()); }
  bool elastic() const { return stiffness > 0; }
  /// The set with limit c.
  Set set(double c) const {
    return size() == 1 ? Set{SetKind::interval, 1, c, 0}
                       : Set{planar_set, 2, c, planar_set == SetKind::polygon ? facets : 0};
  }
};

}  // namespace stickslip
