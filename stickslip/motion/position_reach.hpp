// SPDX-License-Identifier: Apache-2.0
// How large positions are, as displacements: what round-off of a row g(q) with ∂g/∂δ = A is made of, Σ_j |A_j| reach_j.
//
//   reach_j = |q_j|                                          where q' = v
//   reach_j = max |q_k| over the numbers that v_j moves / |T_j|   elsewhere, T_j column j of q' = T(q) v
//
// A unit quaternion has a reach of 2 rad whichever way it is turned; the mass centre of a body its distance from the
// origin. [m, rad]
#pragma once

#include <vector>

#include "stickslip/model/kinematics.hpp"

namespace stickslip {

class PositionReach {
 public:
  /// The kinematics must outlive this object.
  explicit PositionReach(const Kinematics& kinematics) : kinematics_(kinematics) {}

  /// Of all velocities. Allocates at the first call alone.
  const Vector& operator()(const Vector& q);
  /// Per number of q: the largest of those that move together with it.
  const Vector& sizes(const Vector& q);

 private:
  void find_numbers(const Vector& q);

  const Kinematics& kinematics_;
  std::vector<std::vector<Index>> numbers_;  // that a velocity moves; empty: not known yet
  Vector length_, reach_, sizes_;            // |T_j|, hardly different from place to place
};

}  // namespace stickslip
