// SPDX-License-Identifier: Apache-2.0
// A flexible body in a floating frame, with modal coordinates η:
//
//   point at X of the body's frame   X + L η + ½ Σ_c e_c ηᵀ Q_c η,    turned by the rotations S η about x, y, z [m,
//   rad] elastic force on η               -K η - D η' [η: m]
//
// Its mass sits at stations: points of an integration rule of a beam, or of a finite-element model. All that inertia
// does to a body that deforms while it moves follows from their motion: no term of the coupling of deformation and
// rotation is left out. Q is what a point comes nearer when a slender body bends, -½ ∫ (w')² ds: with it centrifugal
// and other axial forces stiffen (soften) the bending. A station is also where something can be fixed: a node.
//
// Frames. The hinge of the body (or its free motion) moves its frame; the modes say how the body lies in it.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <string>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

struct FlexibleStation {
  std::string node = {};                                ///< its name where something can be fixed; empty: mass alone
  Eigen::Vector3d position = Eigen::Vector3d::Zero();   ///< X [m]
  Eigen::Matrix<double, 3, Eigen::Dynamic> shift = {};  ///< L
  Eigen::Matrix<double, 3, Eigen::Dynamic> turn = {};   ///< S; empty: keeps the direction of the frame [1/m]
  std::array<DenseMatrix, 3> shortening = {};           ///< Q_c; empty: 0 [1/m]
  double mass = 0;                                      ///< [kg]
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();    ///< of the station about itself [kg m²]
};

struct FlexibleBody {
  std::vector<FlexibleStation> stations;
  DenseMatrix stiffness, damping;  ///< K, D [N/m, N s/m]
  Vector frequency;                ///< of the modes, with the frame held [rad/s]
  Index modes() const { return stiffness.rows(); }
  double mass() const;
  /// Throws InputError where sizes do not fit, K is not positive definite, a mass is negative, or two nodes share a
  /// name.
  void validate() const;
};

}  // namespace stickslip
