// SPDX-License-Identifier: Apache-2.0
// A flexible body from the mass and stiffness matrices of finite elements.
//
//   coordinates of node k, p per node, from p k on: displacements along x, y, z of the body's frame; with p = 6 then
//   its rotations about them. p is what the sizes of the matrices say
//
// Coordinates η by modal_basis.hpp, u_a = T_a η: nodes `held` do not move in the frame; without any the frame follows
// the body as its modes in space do. Inertia: element_mass.hpp; a few pairs of points stand for all nodes
// (mass_moments.hpp). What points come nearer when the body bends: element_stiffening.hpp.
//
// An interface is one node, or several, whose frame is at their mean and turns with the rotation that fits them best.
// One node turns with its own rotation, if it has six coordinates; so do several about a line on which they lie.
#pragma once

#include "stickslip/model/multibody/element_stiffening.hpp"

namespace stickslip {

struct ElementBodyOptions {
  std::vector<Eigen::Vector3d> nodes = {};  ///< in the body's frame [m]
  ElementInterfaces interfaces = {};
  std::vector<std::string> held = {};  ///< interfaces that are fixed to the frame
  std::vector<std::string> kept = {};  ///< interfaces whose motions are coordinates
  Index modes = 6;
  double damping = 0;  ///< ratio of each mode
  bool stiffening = true;
  std::vector<GeometricCase> geometric = {};
};

/// Throws InputError: sizes, a mass matrix of another form, rigid motions that are not there.
FlexibleBody make_element_body(const SparseMatrix& M, const SparseMatrix& K, const ElementBodyOptions& options);

}  // namespace stickslip
