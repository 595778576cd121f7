// SPDX-License-Identifier: Apache-2.0
// Dynamics of a tree (tree_motion.hpp has places, velocities and inverse dynamics; tree_sweeps.hpp forward dynamics).
//
//   mass matrix        composite bodies: the momentum of all that hangs on link i under unit velocity i, seen by the
//                      joints above it. O(n depth)
//   M = Lᵀ D L         L unit lower triangular with M_ij only where j is above i: no entry is filled in. O(n depth²)
//   slopes             ∂τ/∂δ and ∂τ/∂v of inverse dynamics, exact. O(n depth)
//
// Slopes. With S_j the motion (axis, 0) or (0, axis) of velocity j, everything from j on down turned by δ_j turns with
// it, but for what its parent p does: in spatial vectors, × and ×* the cross products of motions with motions and
// forces,
//   ψ_j = v_p × S_j,   φ_j = a_p × S_j + v_p × ψ_j,   σ_j = v_j × S_j,   2B m = v ×* I m - I (v × m) + m ×* I v
// and with I, 2B, f summed over all that hangs on the lower one of i and j
//   i above j          ∂τ_i/∂δ_j = S_iᵀ (2B ψ_j + I φ_j + S_j ×* f)         i is j, or below   S_iᵀ (2B ψ_j + I φ_j)
//   either             ∂τ_i/∂v_j = S_iᵀ (2B S_j + I (ψ_j + σ_j))
// (derived as in Carpentier and Mansard, Analytical derivatives of rigid body dynamics algorithms, RSS 2018; here with
// vectors at the origins of the links).
#pragma once

#include <functional>

#include "stickslip/model/multibody/tree_motion.hpp"

namespace stickslip {

/// Memory of all of these.
struct TreeScratch {
  explicit TreeScratch(const Tree& tree);
  TreeMotion<double> motion;
  std::vector<LinkInertia<double>> composite;
  std::vector<Eigen::Matrix<double, 6, 6>> composite6, twice_B;
  std::vector<Eigen::Matrix<double, 6, 1>> spatial_v, spatial_a, spatial_f;
  Vector tau;
};

/// use(i, j, M_ij) for i and every j above it or i itself (j <= i); after place_links() and place_inertia().
template <class Use>
void mass_entries(const Tree& tree, TreeScratch& scratch, Use&& use);

/// Velocities above i on the way to the ground, nearest first; of the joint of i itself those before it.
/// parent[i] = -1: none. The structure of M and of its factor.
std::vector<Index> velocity_parents(const Tree& tree);

/// M = Lᵀ D L in place, in the lower triangle of a full matrix (column-major, n × n). False: a pivot is not positive.
bool factor_tree(const std::vector<Index>& parents, DenseMatrix& M);
/// x ← M⁻¹ x
void solve_tree(const std::vector<Index>& parents, const DenseMatrix& factor, Vector& x);

/// by_q += factor ∂τ/∂δ, by_v += factor ∂τ/∂v, τ = inverse_dynamics(q, v, a, gravity); a null: 0. Both n × n,
/// column-major. by_v may be null.
void inverse_dynamics_slopes(const Tree& tree, const Vector& q, const Vector& v, const double* a,
                             const Eigen::Vector3d& gravity, double factor, TreeScratch& scratch, double* by_q,
                             double* by_v);

/// ½ vᵀ M v [J]; -Σ m g·x [J].
double kinetic_energy(const Tree& tree, const Vector& q, const Vector& v, TreeScratch& scratch);
double gravity_potential(const Tree& tree, const Vector& q, const Eigen::Vector3d& gravity, TreeScratch& scratch);

/// Of this thread, for evaluations that come without a workspace.
TreeScratch& thread_scratch(const Tree& tree);

// ---------------------------------------------------------------------------------------------------------------------

namespace tree_detail {
/// Masses of all that hangs on each link.
void compose(const Tree& tree, TreeScratch& scratch);
}  // namespace tree_detail

template <class Use>
void mass_entries(const Tree& tree, TreeScratch& scratch, Use&& use) {
  using Eigen::Vector3d;
  tree_detail::compose(tree, scratch);
  const auto& place = scratch.motion.place;
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const Link& link = tree.links[i];
    const LinkInertia<double>& all = scratch.composite[i];
    const int count = link.velocities();
    for (int k = 0; k < count; ++k) {
      const Vector3d axis = link.kind == JointKind::ball ? Vector3d(place[i].R.col(k)) : place[i].axis;
      // Linear momentum, and angular momentum about the origin of the link looked from.
      Vector3d p, L;
      if (link.kind == JointKind::translation) {
        p = all.m * axis;
        L = all.h.cross(axis);
      } else {
        p = axis.cross(all.h);
        L = all.I * axis;
      }
      const Index row = link.v + k;
      for (std::size_t j = i;;) {
        const Link& above = tree.links[j];
        if (above.kind == JointKind::rotation) {
          use(row, above.v, place[j].axis.dot(L));
        } else if (above.kind == JointKind::translation) {
          use(row, above.v, place[j].axis.dot(p));
        } else {
          const int last = j == i ? k + 1 : 3;
          for (int c = 0; c < last; ++c) use(row, above.v + c, place[j].R.col(c).dot(L));
        }
        if (above.parent < 0) break;
        L += place[j].r.cross(p);
        j = static_cast<std::size_t>(above.parent);
      }
    }
  }
}

}  // namespace stickslip
