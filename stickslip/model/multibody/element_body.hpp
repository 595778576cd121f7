// SPDX-License-Identifier: Apache-2.0
// A flexible body from the mass and stiffness matrices of finite elements with three displacements per node.
//
//   coordinates 3 k, 3 k + 1, 3 k + 2: displacements of node k along x, y, z of the body's frame
//   M_ab = m_ab 1 between nodes a and b, as elements of solids have it, consistent or lumped: T = ½ Σ m_ab v_a·v_b
//
// Coordinates η by modal_basis.hpp, u_a = T_a η: nodes `held` do not move in the frame; without any the frame follows
// the body as its modes in space do. The kinetic energy depends on the numbers m_ab only through
//   m = Σ m_ab,   the mean A = Σ m_ab (x_b, T_b)/m,   C = Σ m_ab (A_a - A)(A_b - A)ᵀ       A_a = (x_a, T_a), 3 (1 +
//   modes) numbers
// so that C = Σ λ_r y_r y_rᵀ (eigenvectors) is that of pairs of equal masses m/2R at A ± y_r sqrt(λ_r R/m): at most 3
// (1 + modes) pairs stand for any number of nodes, exactly, while the body deforms and turns.
//
// An interface is one node, or several, whose frame is at their mean and turns with the rotation that fits them best.
// The points of such a body do not come nearer when it bends: there is no stiffening by axial forces.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stickslip/common/system_matrix.hpp"
#include "stickslip/model/multibody/flexible_body.hpp"

namespace stickslip {

struct ElementBodyOptions {
  std::vector<Eigen::Vector3d> nodes = {};  ///< in the body's frame [m]
  std::vector<std::pair<std::string, std::vector<Index>>> interfaces = {};
  std::vector<std::string> held = {};  ///< interfaces that are fixed to the frame
  std::vector<std::string> kept = {};  ///< interfaces whose displacements are coordinates
  Index modes = 6;
  double damping = 0;  ///< ratio of each mode
};

/// Throws InputError: sizes, a mass matrix of another form, rigid motions that are not there.
FlexibleBody make_element_body(const SparseMatrix& M, const SparseMatrix& K, const ElementBodyOptions& options);

}  // namespace stickslip
