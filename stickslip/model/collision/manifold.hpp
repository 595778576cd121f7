// SPDX-License-Identifier: Apache-2.0
// Contact manifold of two convex bodies for a given normal n (unit, from B to A).
//
//   1. The facing feature of each body: the face at its support vertex that faces the other most; an edge where all
//      faces there are steeper than 84° against n, and the vertex alone where all edges are steeper than 78°; of a
//      cylinder the cap (tilt below 60°) or the line of its side.
//   2. Both features are projected along n; the overlap of the two convex polygons is found by clipping.
//   3. At each corner of the overlap:  gap = h_A - h_B,  h the height of the feature's plane along n.
//
// Why heights along n of both planes and not distances to a reference face: the points and gaps depend on n only in
// second order, so that it does not matter which of several nearly parallel axes (face of A, face of B, a pair of
// edges) round-off makes the winner. A cube on a table has four points at any small tilt, with each corner's own gap.
//
// A cap has 4 points. Tilted by more than 1e-7: the lowest point of its rim and those a quarter and a half turn from
// it (ids 4..7), so that a rolling rim rolls on its exact circle. Flatter: four points fixed in the cylinder (ids
// 0..3), so that round-off does not turn them. No continuous choice exists (a direction field round the flat position
// has degree one); at the change gaps jump by less than 3e-8 radius.
#pragma once

#include <vector>

#include "stickslip/model/collision/contact_point.hpp"
#include "stickslip/model/collision/convex.hpp"

namespace stickslip {

constexpr double flat_cap = 1e-7;  ///< sine of the tilt up to which a cap is flat

struct PlanePoint {
  double x = 0.0, y = 0.0;  ///< in the plane normal to n
  double cross(const PlanePoint& o) const { return x * o.y - y * o.x; }
  PlanePoint operator-(const PlanePoint& o) const { return {x - o.x, y - o.y}; }
};

/// Convex polygon (3 or more corners), segment or point, seen along n.
struct FacingFeature {
  std::vector<PlanePoint> corners;      ///< counter-clockwise
  std::vector<FeatureTag> vertices;     ///< one per corner
  std::vector<FeatureTag> edges;        ///< from this corner to the next
  double h0 = 0.0, hx = 0.0, hy = 0.0;  ///< height along n: h0 + hx x + hy y
  double height(const PlanePoint& p) const { return h0 + hx * p.x + hy * p.y; }
};

struct ClipCorner {
  PlanePoint p;
  FeatureTag tag[2] = {no_feature, no_feature};  ///< of A, of B
  FeatureTag edge = no_feature;                  ///< the side that begins here ...
  int edge_of = 0;                               ///< ... and whose it is: 0 A, 1 B
  int clip_side = -1;                            ///< its number, if it is a side of the clipping polygon
};

struct ManifoldPoint {
  double gap = 0.0;  ///< between the cores, along n
  Vector3 middle = Vector3::Zero();
  FeatureTag tag[2] = {no_feature, no_feature};
};

/// Points of a cylinder that face along d: the four of a cap, or the two ends of a line of the side.
struct FacingPoints {
  Vector3 x[4];
  FeatureTag tag[4];
  int count = 0;
};
FacingPoints facing_points_of_cylinder(const Convex& cylinder, const Vector3& d);

/// Scratch space: grows, never shrinks.
struct ManifoldWorkspace {
  FacingFeature facing[2];
  std::vector<ClipCorner> corners, clipped;
  std::vector<ManifoldPoint> points;  ///< the result
  // Of surface_contacts(): what of the surface is near, the body's vertices, an edge of the surface.
  std::vector<int> triangles, edges, surface_corners;
  std::vector<Vector3> placed;
  Geometry segment;
};

/// All corners of the overlap, whatever their gap. `tolerance` [m]: a corner that lies outside by less counts as
/// inside, corners closer than that are one.
void clip_manifold(const Convex& a, const Convex& b, const Vector3& n, double tolerance, ManifoldWorkspace& workspace);

}  // namespace stickslip
