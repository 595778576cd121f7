// SPDX-License-Identifier: Apache-2.0
// Convex polyhedra with what clipping needs: plane faces of any number of corners, edges, and who meets whom.
//
//   face f: { x : normal_f · x <= offset_f }, |normal_f| = 1, pointing out; its corners go round counter-clockwise seen
//   from outside; its edge k joins corner k and corner k+1.
//
// A point (1 vertex) and a segment (2 vertices, 1 edge) are the degenerate members, without faces: the cores of sphere
// and capsule.
#pragma once

#include <array>
#include <vector>

#include "stickslip/model/collision/pose.hpp"

namespace stickslip {

struct Polyhedron {
  std::vector<Vector3> vertices;
  std::vector<std::array<int, 2>> edges;
  std::vector<Vector3> normals;    ///< one per face
  std::vector<int> face_start;     ///< corners of face f: face_vertices[face_start[f] .. face_start[f+1])
  std::vector<int> face_vertices;  ///< indices of vertices
  std::vector<int> face_edges;     ///< index of the edge from this corner to the next
  std::vector<int> vertex_face_start, vertex_faces;  ///< faces round vertex i, ascending
  std::vector<int> vertex_edge_start, vertex_edges;  ///< edges at vertex i, ascending

  int faces() const { return static_cast<int>(normals.size()); }
  int corners(int face) const { return face_start[face + 1] - face_start[face]; }
};

Polyhedron point_polyhedron();
/// From (0, 0, -half_length) to (0, 0, half_length).
Polyhedron segment_polyhedron(double half_length);
/// [-half, half] in each direction. Vertex i has the signs of the bits of i (x: 1, y: 2, z: 4).
Polyhedron box_polyhedron(const Vector3& half);

/// The convex hull. Points closer than 1e-12 of the extent to a plane of three others lie on it, so that faces are
/// plane polygons and not triangles. Fewer than four points, or all in a plane (to 1e-9 of the extent): InputError.
/// Method: incremental insertion, O(points · faces); meant for up to some thousand points.
Polyhedron convex_hull(const std::vector<Vector3>& points);

/// Volume [m³], centre [m], and inertia about the centre for density 1 [m⁵].
struct MassProperties {
  double volume = 0.0;
  Vector3 center = Vector3::Zero();
  Matrix3 inertia = Matrix3::Zero();
};
/// Sum over tetrahedra of a face triangle and an inner point: exact.
MassProperties mass_properties(const Polyhedron& polyhedron);

/// Corner indices of the triangles of all faces, counter-clockwise seen from outside: for drawing.
std::vector<std::array<int, 3>> triangles(const Polyhedron& polyhedron);

}  // namespace stickslip
