// SPDX-License-Identifier: Apache-2.0
// Points of a tree, their Jacobians and what these do along the motion.
//
//   P point fixed to a link, v_P = J_P v,   ω = J_ω v          columns: axis × (P - o), axis (rotation); axis, 0
//   rates      d/dt(J v) at constant v: the acceleration of the point with v' = 0
//   slopes     ∂(J_P v)/∂δ_j = axis_j × (v_P - v_p(P)) + w_p × dP_j,   dP_j = column j of J_P,  p the parent of j's
//   link
//              ∂(J_ω v)/∂δ_j = axis_j × (ω - ω_p)
//
// With v = e_i these are the second derivatives of P along δ_i, then δ_j.
#pragma once

#include "stickslip/model/multibody/tree_motion.hpp"

namespace stickslip {

/// A point and directions fixed to a body, at one state.
struct TreePoint {
  int link = -1;
  Eigen::Vector3d P, v, a;   ///< position, velocity, rate; v and a after move_links(), accelerate_links()
  Eigen::Vector3d w, alpha;  ///< of the link
};

/// `at`: in the link (world, on the ground).
TreePoint tree_point(const TreeMotion<double>& motion, int link, const Eigen::Vector3d& at, bool moving);

/// Velocities that move a link, from the root on down.
const std::vector<Index>& velocities_above(const std::vector<std::vector<Index>>& paths, int link);
std::vector<std::vector<Index>> velocity_paths(const Tree& tree);

/// Axis of velocity k in the world.
Eigen::Vector3d axis_of(const Tree& tree, const TreeMotion<double>& motion, Index k);
/// Column k of J_P, for a P that k moves.
Eigen::Vector3d point_column(const Tree& tree, const TreeMotion<double>& motion, Index k, const Eigen::Vector3d& P);
/// Column k of J_ω: the axis, or 0 of a translation.
Eigen::Vector3d spin_column(const Tree& tree, const TreeMotion<double>& motion, Index k);

/// ∂(J_P v)/∂δ_k and ∂(J_ω v)/∂δ_k, for a P that k moves.
Eigen::Vector3d point_slope(const Tree& tree, const TreeMotion<double>& motion, Index k, const TreePoint& point);
Eigen::Vector3d spin_slope(const Tree& tree, const TreeMotion<double>& motion, Index k, const TreePoint& point);

/// Second derivatives of P along δ_i, then δ_j, and of the turning, both i and j above P. `j_first`: j turns the axis
/// of i (it is above i, or belongs to the same joint).
struct SecondColumn {
  Eigen::Vector3d point, spin;
};
SecondColumn second_column(const Tree& tree, const TreeMotion<double>& motion, Index i, Index j,
                           const Eigen::Vector3d& P);

}  // namespace stickslip
