// SPDX-License-Identifier: Apache-2.0
// What the nodes of a finite-element model come nearer when it bends: Q of flexible_body.hpp, and with it the
// stiffening by axial forces.
//
// Matrices of a linear model do not say it. What can be known of them is that nodes which the stiffness joins keep
// their distances:
//   joined nodes a, b, e from a to b, l their distance:  e·(Q_b - Q_a) = -H_ab
//   H_ab = Δᵀ Δ/l                                          Δ = T_b - T_a across e; three coordinates per node
//   H_ab = ∫ w'ᵀ w' ds of the cubic through both ends       six: its slopes there are those of the rotations, as in a
//   beam
// by least squares with the weights |K_ab|; Q = 0 where nodes are held (with none held: at the node nearest to the
// centre). This is exact for chains and trees of beams, and for slender bodies but for what is of the order of their
// thickness: there is a Q that keeps all distances. Where there is none (plates that bend to no developable surface,
// frames that are braced, ends that are both held) the mismatch is spread, not its stress computed: give geometric
// stiffness there. Rigid nodes with inertia (element_mass.hpp) also have the second order of their rotation, ½ θ × (θ ×
// d).
//
// Geometric stiffness (`GeometricCase`): K_g that a load of the body adds to K, from a prestressed analysis. Inertia
// has twelve loads (acceleration, angular acceleration, products of spins), which enter by Q̄ and B (mass_moments.hpp)
// alone:
//   acceleration a    K_g = m a·Q̄                        angular acceleration α   K_g = α·Σ m X × Q
//   spin ω            K_g = Σ m (ω·X)(ω·Q) - ω² X·Q      force F on an interface  K_g = -F·Q there
// What is given holds exactly; what is not stays as near to the above as it can (least Σ m |change of Q|²).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stickslip/model/multibody/element_mass.hpp"

namespace stickslip {

enum class GeometricLoad : unsigned char { acceleration, angular_acceleration, spin, force };

struct GeometricCase {
  SparseMatrix K;  ///< over the coordinates of the elements [N/m]
  GeometricLoad load = GeometricLoad::spin;
  Eigen::Vector3d vector = Eigen::Vector3d::Zero();  ///< a, α, ω or F, in the frame [m/s², rad/s², rad/s, N]
  std::string interface = {};                        ///< where the force acts
};

using ElementInterfaces = std::vector<std::pair<std::string, std::vector<Index>>>;

struct ElementStiffening {
  QuadraticMoments moments;
  std::vector<std::array<DenseMatrix, 3>> interfaces;  ///< Q_c of each
};

/// `held`: per node, whether it is fixed to the frame. Throws InputError: nodes that nothing joins, cases that
/// contradict each other.
ElementStiffening element_stiffening(const ElementModel& model, const SparseMatrix& K, const std::vector<char>& held,
                                     const ElementInterfaces& interfaces, const MassMoments& mass,
                                     const std::vector<GeometricCase>& cases);

}  // namespace stickslip
