// SPDX-License-Identifier: Apache-2.0
// Moments of mass (mass_moments.hpp) from the mass matrix of finite elements, in the shapes T of the modes.
//
// Three displacements per node: M_ab = m_ab 1, T = ½ Σ m_ab v_a·v_b: all moments are known exactly.
//
// Three displacements and three rotations per node (rotations about x, y, z of the frame): M says exactly what a body
// has that is not yet deformed,
//   m, X̄, J   mass, centre, inertia;    Σ m L, Σ m X × L   momentum of the modes;    Σ m L·L   their mass (1)
// and nothing of the products of different directions, which say how inertia changes as the body deforms. Those are
// taken of rigid nodes: m_a = Σ_b tr M_ab^uu/3 at the offset c_a of M^uθ, with J_a = Σ_b M_ab^θθ about the node, which
// move with displacement and rotation. Then places and modes of this cloud are changed, linearly, by what makes (1)
// exact (a change of the order of the squared distance of the nodes):
//   X ← H X,   L_i ← Σ_j F_ji (L_j - g⁰_j × X) + g_i × X        H: to J;   g_i = J⁻¹ Σ m X × L_i, g⁰ of the cloud;   F:
//   to Σ m L·L
#pragma once

#include "stickslip/model/multibody/mass_moments.hpp"

namespace stickslip {

/// The model of a body: M over 3 or 6 coordinates per node, T over its modes.
struct ElementModel {
  const SparseMatrix& M;
  const std::vector<Eigen::Vector3d>& nodes;
  int per_node = 3;
  DenseMatrix T = {};
  /// (x_a, T_a), and the rotations of a node with six coordinates.
  ModalPlace place(Index a) const;
  ModalPlace turn(Index a) const;
};

/// A node that is a rigid body.
struct NodeMass {
  double mass = 0;
  Eigen::Vector3d offset = Eigen::Vector3d::Zero();  ///< of its centre [m]
  Eigen::Matrix3d planar =
      Eigen::Matrix3d::Zero();  ///< ½ tr J 1 - J about the centre: Σ m d dᵀ; may be indefinite [kg m²]
};

/// Of six coordinates per node.
std::vector<NodeMass> node_masses(const ElementModel& model);

/// Throws InputError: a mass that depends on the direction, an inertia that no body has.
MassMoments element_moments(const ElementModel& model);

}  // namespace stickslip
