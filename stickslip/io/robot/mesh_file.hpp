// SPDX-License-Identifier: Apache-2.0
// Meshes in files (STL in text and binary, OBJ, and what else the library reads): their corners, for a convex hull, and
// their triangles, for a surface.
//
// Reading is by Assimp, which is kept out of every other file.
#pragma once

#include <Eigen/Dense>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace stickslip::robot {

struct MeshPart {
  std::vector<Eigen::Vector3d> corners;
  std::vector<std::array<int, 3>> faces;  ///< polygons as triangles; points and lines are left out
};
/// The parts (objects, groups) of the mesh, in the order of the file. `path` tells the format by its ending and stands
/// in messages. Throws InputError.
std::vector<MeshPart> mesh_parts(std::string_view bytes, const std::string& path);

/// Without those that occurred before, in the order of the first ones.
std::vector<Eigen::Vector3d> different(const std::vector<Eigen::Vector3d>& points);

/// All different corners of all parts of the mesh, in the order of the file. `path` tells the format by its ending and
/// stands in messages. Throws InputError.
std::vector<Eigen::Vector3d> mesh_points(std::string_view bytes, const std::string& path);

/// Corners of a convex hull with at most about `most` corners. Where the points are more, those are taken that lie
/// farthest out in directions spread evenly over the sphere: the hull is then inside the true one, by `inside` at most.
struct HullPoints {
  std::vector<Eigen::Vector3d> points;
  double inside = 0;
};
HullPoints hull_points(const std::vector<Eigen::Vector3d>& points, std::size_t most);

/// Parts as a text that can be kept beside a result, and back. An empty list: the text is none of this kind.
std::string parts_text(const std::vector<MeshPart>& parts);
std::vector<MeshPart> parts_of_text(std::string_view text);
/// Points as a text that can be kept beside a result, and back. An empty list: the text is no such list.
std::string points_text(const std::vector<Eigen::Vector3d>& points);
std::vector<Eigen::Vector3d> points_of_text(std::string_view text);

}  // namespace stickslip::robot
