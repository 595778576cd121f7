// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/robot/mesh_file.hpp"

#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <fmt/format.h>

#include <algorithm>
#include <assimp/Importer.hpp>
#include <cmath>
#include <exception>
#include <filesystem>
#include <numbers>
#include <tuple>

#include "stickslip/common/error.hpp"
#include "stickslip/io/text_file.hpp"
#include "stickslip/model/collision/polyhedron.hpp"

namespace stickslip::robot {

namespace {

using Eigen::Vector3d;

constexpr std::string_view kPointsHeading = "corners of a convex hull\n";
constexpr std::string_view kPartsHeading = "parts of a mesh\n";

bool before(const Vector3d& a, const Vector3d& b) {
  return std::tuple(a.x(), a.y(), a.z()) < std::tuple(b.x(), b.y(), b.z());
}

void add_parts(const aiScene& scene, const aiNode& node, const aiMatrix4x4& above, std::vector<MeshPart>& parts) {
  const aiMatrix4x4 here = above * node.mTransformation;
  for (unsigned m = 0; m < node.mNumMeshes; ++m) {
    const aiMesh& mesh = *scene.mMeshes[node.mMeshes[m]];
    MeshPart& part = parts.emplace_back();
    for (unsigned k = 0; k < mesh.mNumVertices; ++k) {
      const aiVector3D x = here * mesh.mVertices[k];
      part.corners.emplace_back(x.x, x.y, x.z);
    }
    for (unsigned k = 0; k < mesh.mNumFaces; ++k) {
      const aiFace& face = mesh.mFaces[k];
      for (unsigned i = 2; i < face.mNumIndices; ++i)
        part.faces.push_back({static_cast<int>(face.mIndices[0]), static_cast<int>(face.mIndices[i - 1]),
                              static_cast<int>(face.mIndices[i])});
    }
  }
  for (unsigned k = 0; k < node.mNumChildren; ++k) add_parts(scene, *node.mChildren[k], here, parts);
}

}  // namespace

std::vector<Vector3d> different(const std::vector<Vector3d>& points) {
  std::vector<std::size_t> order(points.size());
  for (std::size_t k = 0; k < order.size(); ++k) order[k] = k;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return before(points[a], points[b]); });
  std::vector<char> first(points.size(), 1);
  for (std::size_t k = 1; k < order.size(); ++k) first[order[k]] = points[order[k]] != points[order[k - 1]];
  std::vector<Vector3d> result;
  for (std::size_t k = 0; k < points.size(); ++k)
    if (first[k]) result.push_back(points[k]);
  return result;
}

std::vector<MeshPart> mesh_parts(std::string_view bytes, const std::string& path) {
  std::string ending = std::filesystem::path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  if (ending.starts_with('.')) ending.erase(0, 1);
  const auto refuse = [&](const std::string& why) {
    throw InputError(fmt::format("{}: the mesh cannot be read: {}", path, why));
  };
  Assimp::Importer importer;
  if (ending.empty() || !importer.IsExtensionSupported("." + ending))
    refuse("its kind is unknown; give an STL or OBJ file");
  std::vector<MeshPart> parts;
  try {
    const aiScene* scene = importer.ReadFileFromMemory(bytes.data(), bytes.size(), 0, ending.c_str());
    if (!scene || !scene->mRootNode) refuse(importer.GetErrorString());
    add_parts(*scene, *scene->mRootNode, aiMatrix4x4(), parts);
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    refuse(error.what());
  }
  std::erase_if(parts, [](const MeshPart& part) { return part.corners.empty(); });
  if (parts.empty()) refuse("it has no corners");
  for (const MeshPart& part : parts)
    if (!std::all_of(part.corners.begin(), part.corners.end(), [](const Vector3d& x) { return x.allFinite(); }))
      refuse("a corner is not a finite number");
  return parts;
}

std::vector<Vector3d> mesh_points(std::string_view bytes, const std::string& path) {
  std::vector<Vector3d> points;
  for (const MeshPart& part : mesh_parts(bytes, path))
    points.insert(points.end(), part.corners.begin(), part.corners.end());
  return different(points);
}

HullPoints hull_points(const std::vector<Vector3d>& points, std::size_t most) {
  if (points.size() <= most) return {points, 0};
  std::vector<char> chosen(points.size(), 0);
  const double turn = std::numbers::pi * (3 - std::sqrt(5.0));  // golden angle
  for (std::size_t k = 0; k < most; ++k) {
    const double z = 1 - (2 * static_cast<double>(k) + 1) / static_cast<double>(most), r = std::sqrt(1 - z * z);
    const Vector3d direction(r * std::cos(turn * static_cast<double>(k)), r * std::sin(turn * static_cast<double>(k)),
                             z);
    std::size_t farthest = 0;
    for (std::size_t j = 1; j < points.size(); ++j)
      if (direction.dot(points[j]) > direction.dot(points[farthest])) farthest = j;
    chosen[farthest] = 1;
  }
  HullPoints result;
  for (std::size_t k = 0; k < points.size(); ++k)
    if (chosen[k]) result.points.push_back(points[k]);
  const Polyhedron hull = convex_hull(result.points);
  for (const Vector3d& x : points)
    for (int f = 0; f < hull.faces(); ++f)
      result.inside = std::max(
          result.inside,
          hull.normals[static_cast<std::size_t>(f)].dot(
              x - hull.vertices[static_cast<std::size_t>(
                      hull.face_vertices[static_cast<std::size_t>(hull.face_start[static_cast<std::size_t>(f)])])]));
  return result;
}

std::string parts_text(const std::vector<MeshPart>& parts) {
  std::string text(kPartsHeading);
  for (const MeshPart& part : parts) {
    text += "part\n";
    for (const Vector3d& x : part.corners) text += fmt::format("v {:.17g} {:.17g} {:.17g}\n", x.x(), x.y(), x.z());
    for (const auto& [a, b, c] : part.faces) text += fmt::format("f {} {} {}\n", a, b, c);
  }
  return text;
}

std::vector<MeshPart> parts_of_text(std::string_view text) {
  std::vector<MeshPart> parts;
  if (!text.starts_with(kPartsHeading)) return parts;
  LineReader lines(text.substr(kPartsHeading.size()));
  std::vector<std::string_view> words;
  for (std::string_view line; lines.next(line);) {
    split_words(line, words);
    if (words.size() == 1) parts.emplace_back();
    if (words.size() != 4 || parts.empty()) continue;
    double x[3];
    for (std::size_t k = 0; k < 3; ++k) x[k] = parse_finite_number(words[k + 1]).value_or(0);
    if (words[0] == "v") parts.back().corners.emplace_back(x[0], x[1], x[2]);
    if (words[0] == "f")
      parts.back().faces.push_back({static_cast<int>(x[0]), static_cast<int>(x[1]), static_cast<int>(x[2])});
  }
  return parts;
}

std::string points_text(const std::vector<Vector3d>& points) {
  std::string text(kPointsHeading);
  for (const Vector3d& x : points) text += fmt::format("{:.17g} {:.17g} {:.17g}\n", x.x(), x.y(), x.z());
  return text;
}

std::vector<Vector3d> points_of_text(std::string_view text) {
  std::vector<Vector3d> points;
  if (!text.starts_with(kPointsHeading)) return points;
  LineReader lines(text.substr(kPointsHeading.size()));
  std::vector<std::string_view> words;
  for (std::string_view line; lines.next(line);) {
    split_words(line, words);
    if (words.size() != 3) continue;
    points.emplace_back(parse_finite_number(words[0]).value_or(0), parse_finite_number(words[1]).value_or(0),
                        parse_finite_number(words[2]).value_or(0));
  }
  return points;
}

}  // namespace stickslip::robot
