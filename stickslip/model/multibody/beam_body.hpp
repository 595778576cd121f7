// SPDX-License-Identifier: Apache-2.0
// A straight beam along the x axis of its frame, from s = 0 to L, as a flexible body.
//
//   u, v, w along x, y, z and rotations θx, θy, θz of the section at s:
//   U = ½ ∫ E A u'² + G J θx'² + E Iz θz'² + E Iy θy'² + κ G A ((v' - θz)² + (w' + θy)²) ds
//   T   mass ρ A per length; ρ (Iy + Iz) of the torsion; with shear also ρ Iz, ρ Iy of θz, θy (Timoshenko). Without
//   shear
//       (κ = 0) θz = v', θy = -w' and the sections have no inertia of their own in bending (Euler, Bernoulli)
//   a point comes nearer to the frame by ½ ∫_0^s v'² + w'² ds (`stiffening`; flexible_body.hpp)
//
// Finite elements with the cubics that solve a uniform element under loads at its ends (with shear: J.S. Przemieniecki,
// Theory of Matrix Structural Analysis, 1968, section 5.6), linear in u and θx; four stations per element, at the
// points of Gauss that integrate the mass matrix of a uniform element exactly: the stations have the mass matrix of the
// elements. Coordinates are the lowest natural modes with the ends as given, or, with `kept` nodes, those of Craig and
// Bampton (reduction.hpp).
//
// Ends, seen from the frame: clamped (nothing moves), pinned (v = w = θx = 0), free. At s = 0 clamped and pinned hold
// u, at s = L nobody does: the length is kept by the axial stiffness alone. Where rigid motions are left (free, free;
// pinned, free) they are the frame's, and the modes are those of the body in space.
//
// Sections may taper: area and moments are linear in s.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stickslip/model/multibody/flexible_body.hpp"

namespace stickslip {

enum class BeamEnd : unsigned char { clamped, pinned, free };

/// Of the section at one end.
struct BeamSection {
  double area = 0;        ///< [m²]
  double Iy = 0, Iz = 0;  ///< second moments about y (bending along z) and z [m⁴]
  double torsion = 0;     ///< J; 0: Iy + Iz [m⁴]
};

struct BeamOptions {
  double length = 0;          ///< [m]
  double youngs_modulus = 0;  ///< E [Pa]
  double shear_modulus = 0;   ///< G; needed for torsion and shear [Pa]
  double density = 0;         ///< [kg/m³]
  double shear_factor = 0;    ///< κ; 0: no shear
  BeamSection first = {}, last = {};
  BeamEnd first_end = BeamEnd::clamped, last_end = BeamEnd::free;
  bool bends_y = true, bends_z = true, stretches = true, twists = true;  ///< which of v, w, u, θx there are
  int elements = 8;
  Index modes = 6;
  std::vector<std::pair<std::string, double>> nodes = {};  ///< names and places s; "root" and "tip" are there anyway
  std::vector<std::string> kept = {};                      ///< nodes whose motion is kept as coordinates
  double damping = 0;                                      ///< ratio of each mode
  bool stiffening = true;
  /// Throws InputError naming the value.
  void validate() const;
};

FlexibleBody make_beam(const BeamOptions& options);

}  // namespace stickslip
