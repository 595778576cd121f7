// SPDX-License-Identifier: Apache-2.0
// Surfaces and files of a [[shape]]: triangles, heights, hulls of meshes.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/io/model_reader.hpp"
#include "stickslip/model/collision/surface_mesh.hpp"

namespace stickslip::model_detail {

/// kind = "mesh": `vertices` and `faces`, or `file` and `scale`.
std::shared_ptr<const SurfaceMesh> read_mesh_surface(const TableReader& table);
/// kind = "heightfield": `size`, and `heights` as a list of rows or as a function of x and y over `cells`.
std::shared_ptr<const SurfaceMesh> read_height_field(const TableReader& table);
/// kind = "hull" with `file`, `scale` and `split`: corners of the hull, or of one hull for each part of the mesh.
std::vector<std::vector<Eigen::Vector3d>> read_hull_file(const TableReader& table);

}  // namespace stickslip::model_detail
