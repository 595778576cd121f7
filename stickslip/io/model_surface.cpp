// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/model_surface.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/io/robot/mesh_file.hpp"
#include "stickslip/io/text_file.hpp"

namespace stickslip::model_detail {

namespace {

using Eigen::Vector3d;
using robot::MeshPart;

/// Corners of a hull that contacts can be found for without much ado.
constexpr std::size_t kMostCorners = 400;
constexpr std::size_t kLargestMesh = 256 * kMebibyte;

/// In m. What a result keeps of the file are its parts.
std::vector<MeshPart> read_parts(const TableReader& table) {
  const Field file = *table.find("file");
  const ModelContext& context = *file.context;
  const std::string path = context.resolve(file.text("the name of an STL or OBJ file"));
  double scale = 1;
  table.number("scale", scale, kPositive);
  std::vector<MeshPart> parts;
  if (const std::string* kept = context.stored_file(path)) parts = robot::parts_of_text(*kept);
  if (parts.empty()) file.about([&] { parts = robot::mesh_parts(read_text_file(path, kLargestMesh), path); });
  context.keep_file(path, robot::parts_text(parts));
  for (MeshPart& part : parts)
    for (Vector3d& x : part.corners) x *= scale;
  return parts;
}

std::vector<std::array<int, 3>> read_faces(const Field& field) {
  const TomlArray& items = field.list("a list of faces, each a list of corners");
  std::vector<std::array<int, 3>> faces;
  for (std::size_t k = 0; k < items.size(); ++k) {
    const Field face = field.item(k);
    const TomlArray& corners = face.list("a list of the numbers of three or four corners, from 0");
    if (corners.size() != 3 && corners.size() != 4)
      face.fail(fmt::format("the face has {} corners; it needs three or four", corners.size()));
    std::vector<int> c;
    for (std::size_t i = 0; i < corners.size(); ++i) c.push_back(static_cast<int>(face.item(i).integer(0, 1 << 30)));
    faces.push_back({c[0], c[1], c[2]});
    if (c.size() == 4) faces.push_back({c[0], c[2], c[3]});
  }
  return faces;
}

std::vector<std::vector<double>> read_heights(const Field& field) {
  const TomlArray& rows = field.list("rows of heights");
  std::vector<std::vector<double>> heights(rows.size());
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const Field row = field.item(j);
    const std::size_t count = row.list("a list of heights").size();
    for (std::size_t i = 0; i < count; ++i) heights[j].push_back(row.item(i).number());
  }
  return heights;
}

/// At the corners of the cells.
std::vector<std::vector<double>> evaluate_heights(const Field& field, const Field& cells, const double (&size)[2]) {
  int count[2];
  const TomlArray& counts = cells.list("the numbers of cells along x and y");
  if (counts.size() != 2) cells.fail(fmt::format("the list has {} entries; give [along x, along y]", counts.size()));
  for (std::size_t k = 0; k < 2; ++k) count[k] = static_cast<int>(cells.item(k).integer(1, 10000));
  SymbolTable symbols;
  symbols.add_variable("x");
  symbols.add_variable("y");
  const SymbolTable& parameters = field.context->parameters;
  for (const std::string& name : parameters.names()) symbols.add_constant(name, parameters.find(name)->value);
  add_tables(*field.context, symbols);
  const Expression height = read_expression(field, symbols);
  std::vector<std::vector<double>> heights(static_cast<std::size_t>(count[1]) + 1);
  for (int j = 0; j <= count[1]; ++j)
    for (int i = 0; i <= count[0]; ++i) {
      const double at[2] = {size[0] * (static_cast<double>(i) / count[0] - 0.5),
                            size[1] * (static_cast<double>(j) / count[1] - 0.5)};
      const double z = height(std::span<const double>(at, 2));
      if (!std::isfinite(z)) field.fail(fmt::format("the height at x = {:g}, y = {:g} is {}", at[0], at[1], z));
      heights[static_cast<std::size_t>(j)].push_back(z);
    }
  return heights;
}

}  // namespace

std::shared_ptr<const SurfaceMesh> read_mesh_surface(const TableReader& table) {
  const auto file = table.find("file"), vertices = table.find("vertices"), faces = table.find("faces");
  if (file && (vertices || faces))
    (vertices ? *vertices : *faces).fail("'file' and this both give the triangles; give one of them");
  if (!file) {
    if (table.has("scale")) table.find("scale")->fail("only a file is scaled");
    const Field x =
        table.require("vertices", "a mesh needs file = \"ground.stl\", or vertices = [[x, y, z], ...] and faces");
    const Field f =
        table.require("faces", "the corners of each face, counter-clockwise seen from outside: [[0, 1, 2], ...]");
    std::vector<Vector3d> corners;
    for (std::size_t k = 0; k < x.list("a list of points").size(); ++k) corners.push_back(read_vector3(x.item(k)));
    return f.about([&] { return make_surface(corners, read_faces(f)); });
  }
  MeshPart all;
  for (const MeshPart& part : read_parts(table)) {
    const int first = static_cast<int>(all.corners.size());
    all.corners.insert(all.corners.end(), part.corners.begin(), part.corners.end());
    for (const auto& [a, b, c] : part.faces) {
      const auto x = [&](int k) { return part.corners.at(static_cast<std::size_t>(k)); };
      // Programs write such faces where they cut others; without an area they are nowhere.
      if (x(a) != x(b) && x(b) != x(c) && x(c) != x(a)) all.faces.push_back({first + a, first + b, first + c});
    }
  }
  if (all.faces.empty()) file->fail("the file has no triangles");
  return file->about([&] { return make_surface(all.corners, all.faces); });
}

std::shared_ptr<const SurfaceMesh> read_height_field(const TableReader& table) {
  const Field sides = table.require("size", "a heightfield needs its lengths along x and y in m, size = [lx, ly]");
  if (sides.list("two lengths").size() != 2)
    sides.fail(fmt::format("the list has {} entries; a heightfield has two lengths, along x and y",
                           sides.list("two lengths").size()));
  const double size[2] = {sides.item(0).number(kPositive), sides.item(1).number(kPositive)};
  const Field given = table.require(
      "heights", "rows of heights along y, [[z, z, ...], ...], or a function of x and y with cells = [nx, ny]");
  const auto cells = table.find("cells");
  if (given.node->text()) {
    const Field count = table.require("cells", "how many cells the function is taken on, cells = [nx, ny]");
    return given.about([&] { return make_height_field(evaluate_heights(given, count, size), size[0], size[1]); });
  }
  if (cells) cells->fail("the rows of heights say how many cells there are");
  return given.about([&] { return make_height_field(read_heights(given), size[0], size[1]); });
}

std::vector<std::vector<Vector3d>> read_hull_file(const TableReader& table) {
  bool split = false;
  table.boolean("split", split);
  std::vector<std::vector<Vector3d>> hulls;
  for (const MeshPart& part : read_parts(table)) {
    if (hulls.empty() || split) hulls.emplace_back();
    hulls.back().insert(hulls.back().end(), part.corners.begin(), part.corners.end());
  }
  for (std::vector<Vector3d>& hull : hulls)
    hull = table.find("file")->about([&] { return robot::hull_points(robot::different(hull), kMostCorners).points; });
  return hulls;
}

}  // namespace stickslip::model_detail
