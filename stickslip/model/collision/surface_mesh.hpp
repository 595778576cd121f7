// SPDX-License-Identifier: Apache-2.0
// A surface of triangles that stands still: terrain, hoppers, anything that is not convex.
//
//   A triangle's corners go round counter-clockwise seen from outside; the solid is behind it. The surface may be open.
//   Region: triangles that lie in one plane and hang together; it is the face that contact knows. Edges inside a region
//   are no edges, so that what slides over a flat ground does not notice how it was divided.
//
// Normal cones, the directions in which something outside can touch a feature:
//   region             its normal n
//   edge (a convex one, or a rim)   { d ⟂ edge : d·into_0 <= 0, d·into_1 <= 0 }, into_k in the plane of triangle k
//   corner             { d : d·e <= 0 for all edges e that leave it };  at a rim also d·n >= 0 for its triangles
// A concave edge is no feature: what is in a groove touches both its sides.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "stickslip/model/collision/box_tree.hpp"

namespace stickslip {

struct SurfaceRegion {
  Vector3 normal = Vector3::UnitZ();  ///< unit, outwards
  Vector3 point = Vector3::Zero();    ///< of its plane
  double height(const Vector3& x) const { return normal.dot(x - point); }
};

struct SurfaceEdge {
  enum class Turn { flat, convex, concave };
  std::array<int, 2> corner{};
  std::array<int, 2> triangle{-1, -1};  ///< the second is -1 at a rim
  std::array<Vector3, 2> into;          ///< unit, across the edge; at a rim the second is -normal
  std::array<Vector3, 2> limit;         ///< unit: where the cone ends
  Vector3 along = Vector3::UnitX();     ///< unit
  double length = 0;                    ///< [m]
  Turn turn = Turn::flat;
  int id = 0;  ///< shared by the pieces of a straight edge
};

struct SurfaceTriangle {
  std::array<int, 3> corner{};
  std::array<int, 3> edge{};  ///< from corner k to corner k + 1
  int region = 0;
};

/// Made ready by make_surface(); never changed afterwards.
struct SurfaceMesh {
  std::vector<Vector3> corners;
  std::vector<SurfaceTriangle> triangles;
  std::vector<SurfaceEdge> edges;
  std::vector<SurfaceRegion> regions;
  std::vector<int> edge_start, edges_at;  ///< edges at corner i: edges_at[edge_start[i] .. edge_start[i+1])
  std::vector<char> is_feature;           ///< of each corner: false within a region and on a straight edge
  BoxTree tree;                           ///< of the triangles
  double extent = 0;                      ///< diagonal of its box [m]
  int rims = 0;                           ///< edges with one triangle; 0: closed

  /// The neighbour of triangle t across its side k; -1: none.
  int across(int t, int k) const {
    const SurfaceEdge& e =
        edges[static_cast<std::size_t>(triangles[static_cast<std::size_t>(t)].edge[static_cast<std::size_t>(k)])];
    return e.triangle[0] == t ? e.triangle[1] : e.triangle[0];
  }
};

/// Corners at the same place are one. Throws InputError, faces numbered from 0: a corner that does not exist or is not
/// finite, a face without area (its height below 1e-9 of its longest side), an edge with more than two faces, two faces
/// that go round in opposite senses.
/// Triangles are in one plane where their corners are within 2e-7 of the extent of it (what single precision, in which
/// STL files come, cannot tell apart) and their normals within 1e-3.
std::shared_ptr<const SurfaceMesh> make_surface(const std::vector<Vector3>& corners,
                                                const std::vector<std::array<int, 3>>& faces);

/// z = height[j][i] over the rectangle of the given size about the origin, i along x from its left, j along y from
/// below; solid below. Each cell is two triangles, parted along the diagonal from its left lower corner. Throws
/// InputError: fewer than 2 x 2 heights, rows of different length, sizes that are not positive.
std::shared_ptr<const SurfaceMesh> make_height_field(const std::vector<std::vector<double>>& heights, double size_x,
                                                     double size_y);

/// "128 triangles, 81 corners, 12 flat parts, open": for people.
std::string describe(const SurfaceMesh& surface);

}  // namespace stickslip
