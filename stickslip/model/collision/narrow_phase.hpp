// SPDX-License-Identifier: Apache-2.0
// All contact points of two placed shapes with gap <= margin. A pure function of the two poses.
//
// Closed forms, exact to round-off:
//   sphere with sphere, capsule, box, cylinder, plane     one point
//   capsule with capsule                                  the two nearest points of the axes, and each end of one axis
//                                                         over the inside of the other: parallel capsules have two
//   plane with box, hull                                  every vertex
//   plane with capsule                                    both ends
//   plane with cylinder                                   the four points of the cap, or the two ends of the side line
//   anything convex with a surface of triangles           pairs of features (surface_contacts.hpp)
// Everything else: the separating direction n and the overlap of the facing features (manifold.hpp).
//
// Choice of n, the direction of largest separation σ (convex.hpp). Candidates are the normals of all faces, cylinder
// axes, and for boxes and cylinders the cross products of their edges and axes. The best one is taken if the manifold
// along it holds a point at the depth of σ: then the bodies, parted by σ, touch there, and n is a stationary point of
// σ. Otherwise, and for penetrating bodies other than two boxes (whose candidates are complete), σ is maximised from
// it, and from the direction between the two bodies shrunk to half size.
//
// The penetration depth of bodies that overlap by more than about a tenth of their size may be that of another local
// minimum of the parting translation than the least one (never for two boxes).
#pragma once

#include <vector>

#include "stickslip/model/collision/contact_point.hpp"
#include "stickslip/model/collision/manifold.hpp"

namespace stickslip {

struct PlacedShape {
  const Geometry* geometry = nullptr;
  Matrix3 R = Matrix3::Identity();  ///< world from shape
  Vector3 x = Vector3::Zero();
};

/// Appends the contact points, in ascending order of their feature; shape_a, shape_b and law are left to the caller.
/// Two planes have none, nor have two surfaces, or a plane and a surface.
void find_contacts(const PlacedShape& a, const PlacedShape& b, double margin, ManifoldWorkspace& workspace,
                   std::vector<ContactPoint>& out);

}  // namespace stickslip
