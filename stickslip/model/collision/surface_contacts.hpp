// SPDX-License-Identifier: Apache-2.0
// Contacts of a convex body A with a surface of triangles B: pairs of features that see each other.
//
//   A  vertices, edges and faces of its core (a point, a segment, a polyhedron), rounded by r; or a cylinder
//   B  regions, convex edges and corners (surface_mesh.hpp)
//
// A contact is a pair whose normal n (from B to A) is in the normal cone of B's feature and -n in that of A's:
//
//   vertex  over region     n that of the region, gap = n·(x - p) - r
//   edge    over edge       n = ± their cross product (rounded: the direction between them), where they cross seen
//   along n face    over corner     n = minus the normal of the face vertex over edge or corner, edge over corner n the
//   direction between them; while the cores are apart cylinder                its facing points over regions; its
//   distance from edges and corners
//
// The cone of B holds to round-off: n outside it by less than 17° is replaced by the nearest border, further out there
// is no contact. So no normal ever comes from the division of a plane into triangles, or points against a wall that has
// an end. That of A is wider by 17°, so that a box keeps its four points while it rocks.
//
// Depth: outside a convex edge it is the least that counts. A pair along n with gap g < 0 is left out where A stands
// higher than g over the whole of a neighbouring plane: moved out along that one it is free sooner. In a groove both
// sides count. What is deeper than half the smallest half width of A behind a plane has gone through it: the surface
// has no inside.
#pragma once

#include <vector>

#include "stickslip/model/collision/contact_point.hpp"
#include "stickslip/model/collision/narrow_phase.hpp"

namespace stickslip {

/// Appends all points with gap <= margin of A, convex and no plane, over the surface of B. Normals from B to A.
void surface_contacts(const PlacedShape& a, const PlacedShape& b, double margin, ManifoldWorkspace& workspace,
                      std::vector<ContactPoint>& out);

}  // namespace stickslip
