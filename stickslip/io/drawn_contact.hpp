// SPDX-License-Identifier: Apache-2.0
// Where the forces of contacts given by functions act, as far as the drawings of a planar model say so.
//
// A drawing at p(q), turned by θ(q) about z, moves at its point p + ρ with p' + θ' z × ρ. A contact whose rows are
//
//   W_c = (∂p/∂q)ᵀ d_c + (∂θ/∂q)ᵀ (ρ × d_c)_z,    |d_c| = 1,    c: normal, tangents; d_c normal to one another
//
// acts on it at ρ along d_c; minus the same of a second drawing, between the two. d_c and the levers (ρ × d_c)_z are
// found from the rows; the point from the levers of two directions in the plane. Where the drawing does not turn, or
// the contact has no tangent, it is the point of the line of action on the surface of the shape.
// Rows that no drawing, nor any two, explain belong to a contact whose place is not known.
#pragma once

#include <optional>
#include <vector>

#include "stickslip/io/drawing.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip {

struct DrawnContact {
  Eigen::Vector3d point;                    ///< [m]
  std::vector<Eigen::Vector3d> directions;  ///< normal, then tangents
};

/// Of the contact with these rows over the velocities, at the state. Coordinates are plain: q' = v.
std::optional<DrawnContact> drawn_contact(const std::vector<Drawing>& drawings, std::span<const double> variables,
                                          const DenseMatrix& rows);

}  // namespace stickslip
