// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/surface_mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

constexpr double kThin = 1e-9;           // height of a triangle in its longest side: it has no direction
constexpr double kFlat = 2e-7;           // of the extent: what single precision cannot tell apart
constexpr double kParallel = 1e-3;       // sine between normals, or edges, that may be those of one plane, or line
constexpr int kMostTriangles = 1 << 27;  // FeatureTag numbers them

using Faces = std::vector<std::array<int, 3>>;

std::size_t at(int k) { return static_cast<std::size_t>(k); }

/// For each corner the first one at the same place.
std::vector<int> same_places(const std::vector<Vector3>& x) {
  std::vector<int> order(x.size()), first(x.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int k) { return std::tuple(x[at(k)].x(), x[at(k)].y(), x[at(k)].z(), k); };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  for (std::size_t k = 0; k < order.size(); ++k)
    first[at(order[k])] = k > 0 && x[at(order[k])] == x[at(order[k - 1])] ? first[at(order[k - 1])] : order[k];
  return first;
}

class SurfaceMaker {
 public:
  SurfaceMaker(const std::vector<Vector3>& corners, const Faces& faces) : given_(corners), faces_(faces) {}

  std::shared_ptr<const SurfaceMesh> make() {
    take_corners();
    for (std::size_t f = 0; f < faces_.size(); ++f) take_face(static_cast<int>(f));
    join_regions();
    finish_edges();
    find_features();
    std::vector<Bounds> boxes;
    for (const SurfaceTriangle& t : s_.triangles) {
      const Vector3 &a = corner(t, 0), &b = corner(t, 1), &c = corner(t, 2);
      boxes.push_back({a.cwiseMin(b).cwiseMin(c), a.cwiseMax(b).cwiseMax(c)});
    }
    s_.tree.build(boxes);
    return std::make_shared<const SurfaceMesh>(std::move(s_));
  }

 private:
  const Vector3& corner(const SurfaceTriangle& t, int k) const { return s_.corners[at(t.corner[at(k)])]; }

  void take_corners() {
    if (faces_.empty()) throw InputError("a surface needs at least one face");
    if (faces_.size() > at(kMostTriangles))
      throw InputError(fmt::format("{} faces; at most {} are possible", faces_.size(), kMostTriangles));
    for (std::size_t k = 0; k < given_.size(); ++k)
      if (!within_range(given_[k]))
        throw InputError(fmt::format("corner {} must have finite coordinates below {:g} m", k, kLargestLength));
    for (std::size_t f = 0; f < faces_.size(); ++f)
      for (const int k : faces_[f])
        if (k < 0 || at(k) >= given_.size())
          throw InputError(fmt::format("face {} names corner {}; there are corners 0 to {}", f, k,
                                       static_cast<long>(given_.size()) - 1));
    first_ = same_places(given_);
    // Only those that faces use: the rest would stretch the extent.
    std::vector<int> index(given_.size(), -1);
    for (const auto& face : faces_)
      for (const int k : face) {
        int& place = index[at(first_[at(k)])];
        if (place >= 0) continue;
        place = static_cast<int>(s_.corners.size());
        s_.corners.push_back(given_[at(k)]);
      }
    for (std::size_t k = 0; k < first_.size(); ++k) first_[k] = index[at(first_[k])];
    Vector3 low = s_.corners[0], high = low;
    for (const Vector3& x : s_.corners) {
      low = low.cwiseMin(x);
      high = high.cwiseMax(x);
    }
    s_.extent = (high - low).norm();
  }

  void take_face(int f) {
    SurfaceTriangle t;
    for (std::size_t k = 0; k < 3; ++k) t.corner[k] = first_[at(faces_[at(f)][k])];
    const Vector3 a = corner(t, 1) - corner(t, 0), b = corner(t, 2) - corner(t, 0);
    const double longest = std::max({a.norm(), b.norm(), (b - a).norm()});
    const Vector3 area = a.cross(b);
    if (!(longest >= kSmallestSize) || !(area.norm() > kThin * longest * longest))
      throw InputError(fmt::format("face {} (corners {}, {}, {}) has no area: its corners lie on a line; remove it", f,
                                   faces_[at(f)][0], faces_[at(f)][1], faces_[at(f)][2]));
    normals_.push_back(area.normalized());
    areas_.push_back(area.norm());
    for (std::size_t k = 0; k < 3; ++k) t.edge[k] = edge_of(f, t.corner[k], t.corner[(k + 1) % 3]);
    s_.triangles.push_back(t);
  }

  int edge_of(int f, int from, int to) {
    const auto [found, added] = by_corners_.try_emplace(std::minmax(from, to), static_cast<int>(s_.edges.size()));
    if (added) {
      SurfaceEdge e;
      e.corner = {from, to};
      e.triangle[0] = f;
      s_.edges.push_back(e);
      return found->second;
    }
    SurfaceEdge& e = s_.edges[at(found->second)];
    const auto where = [&] {
      return fmt::format("the edge from ({:g}, {:g}, {:g}) to ({:g}, {:g}, {:g})", s_.corners[at(from)].x(),
                         s_.corners[at(from)].y(), s_.corners[at(from)].z(), s_.corners[at(to)].x(),
                         s_.corners[at(to)].y(), s_.corners[at(to)].z());
    };
    if (e.triangle[1] >= 0)
      throw InputError(
          fmt::format("faces {}, {} and {} share {}; an edge has two faces at most: split the surface into "
                      "several shapes",
                      e.triangle[0], e.triangle[1], f, where()));
    if (e.corner[0] == from)
      throw InputError(
          fmt::format("faces {} and {} do not agree which side is outside: both go along {}; reverse the "
                      "order of the corners of one of them (counter-clockwise seen from outside)",
                      e.triangle[0], f, where()));
    e.triangle[1] = f;
    return found->second;
  }

  /// From the largest triangle on: its plane is the best known one.
  void join_regions() {
    std::vector<int> order(s_.triangles.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return areas_[at(a)] > areas_[at(b)]; });
    for (SurfaceTriangle& t : s_.triangles) t.region = -1;
    std::vector<int> open;
    for (const int seed : order) {
      if (s_.triangles[at(seed)].region >= 0) continue;
      const int number = static_cast<int>(s_.regions.size());
      const SurfaceRegion region{normals_[at(seed)], corner(s_.triangles[at(seed)], 0)};
      s_.regions.push_back(region);
      s_.triangles[at(seed)].region = number;
      for (open.assign(1, seed); !open.empty();) {
        const int t = open.back();
        open.pop_back();
        for (int k = 0; k < 3; ++k) {
          const int next = s_.across(t, k);
          if (next < 0 || s_.triangles[at(next)].region >= 0 || !in_plane(next, region)) continue;
          s_.triangles[at(next)].region = number;
          open.push_back(next);
        }
      }
    }
  }

  bool in_plane(int t, const SurfaceRegion& region) const {
    const Vector3& n = normals_[at(t)];
    if (!(n.dot(region.normal) > 0) || n.cross(region.normal).norm() > kParallel) return false;
    for (int k = 0; k < 3; ++k)
      if (std::abs(region.height(corner(s_.triangles[at(t)], k))) > kFlat * s_.extent) return false;
    return true;
  }

  const Vector3& normal(int t) const { return s_.regions[at(s_.triangles[at(t)].region)].normal; }

  void finish_edges() {
    for (SurfaceEdge& e : s_.edges) {
      const Vector3 d = s_.corners[at(e.corner[1])] - s_.corners[at(e.corner[0])];
      e.length = d.norm();
      e.along = d / e.length;
      // It runs as the first triangle goes round, against the second.
      e.into[0] = normal(e.triangle[0]).cross(e.along).normalized();
      e.limit[0] = normal(e.triangle[0]);
      if (e.triangle[1] < 0) {
        ++s_.rims;
        e.into[1] = -e.limit[0];
        e.limit[1] = -e.into[0];
        e.turn = SurfaceEdge::Turn::convex;
        continue;
      }
      e.into[1] = e.along.cross(normal(e.triangle[1])).normalized();
      e.limit[1] = normal(e.triangle[1]);
      const bool one = s_.triangles[at(e.triangle[0])].region == s_.triangles[at(e.triangle[1])].region;
      e.turn = one                               ? SurfaceEdge::Turn::flat
               : e.limit[0].dot(e.into[1]) < 0.0 ? SurfaceEdge::Turn::convex
                                                 : SurfaceEdge::Turn::concave;
    }
  }

  void find_features() {
    s_.edge_start.assign(s_.corners.size() + 1, 0);
    for (const SurfaceEdge& e : s_.edges)
      for (const int c : e.corner) ++s_.edge_start[at(c) + 1];
    std::partial_sum(s_.edge_start.begin(), s_.edge_start.end(), s_.edge_start.begin());
    s_.edges_at.resize(2 * s_.edges.size());
    std::vector<int> place = s_.edge_start;
    for (std::size_t k = 0; k < s_.edges.size(); ++k) {
      s_.edges[k].id = static_cast<int>(k);
      for (const int c : s_.edges[k].corner) s_.edges_at[at(place[at(c)]++)] = static_cast<int>(k);
    }
    s_.is_feature.assign(s_.corners.size(), 0);
    for (std::size_t c = 0; c < s_.corners.size(); ++c) find_feature(static_cast<int>(c));
    for (SurfaceEdge& e : s_.edges) e.id = chain(e.id);
  }

  int chain(int e) const {
    while (s_.edges[at(e)].id != e) e = s_.edges[at(e)].id;
    return e;
  }

  void find_feature(int c) {
    int sharp[2] = {0, 0}, count = 0;
    for (int k = s_.edge_start[at(c)]; k < s_.edge_start[at(c) + 1]; ++k) {
      const int e = s_.edges_at[at(k)];
      if (s_.edges[at(e)].turn == SurfaceEdge::Turn::flat) continue;
      if (count < 2) sharp[count] = e;
      ++count;
    }
    if (count == 0) return;
    const SurfaceEdge &a = s_.edges[at(sharp[0])], &b = s_.edges[at(sharp[1])];
    const auto away = [&](const SurfaceEdge& e) { return e.corner[0] == c ? e.along : Vector3(-e.along); };
    const double sine = a.along.cross(b.along).norm();
    const bool straight = count == 2 && a.turn == b.turn && away(a).dot(away(b)) < 0.0 && sine <= kParallel &&
                          sine * std::min(a.length, b.length) <= kFlat * s_.extent;
    if (!straight) {
      s_.is_feature[at(c)] = 1;
      return;
    }
    const int p = chain(sharp[0]), q = chain(sharp[1]);
    s_.edges[at(std::max(p, q))].id = std::min(p, q);
  }

  const std::vector<Vector3>& given_;
  const Faces& faces_;
  std::vector<int> first_;  // of each given corner: its number in the surface
  std::vector<Vector3> normals_;
  std::vector<double> areas_;
  std::map<std::pair<int, int>, int> by_corners_;
  SurfaceMesh s_;
};

}  // namespace

std::shared_ptr<const SurfaceMesh> make_surface(const std::vector<Vector3>& corners, const Faces& faces) {
  return SurfaceMaker(corners, faces).make();
}

std::shared_ptr<const SurfaceMesh> make_height_field(const std::vector<std::vector<double>>& heights, double size_x,
                                                     double size_y) {
  const std::size_t rows = heights.size(), columns = rows > 0 ? heights[0].size() : 0;
  if (rows < 2 || columns < 2)
    throw InputError(fmt::format("a height field needs at least 2 x 2 heights, it has {} x {}", columns, rows));
  if (rows * columns > at(kMostTriangles) / 2)
    throw InputError(fmt::format("{} x {} heights are too many", columns, rows));
  for (std::size_t j = 0; j < rows; ++j)
    if (heights[j].size() != columns)
      throw InputError(fmt::format("row {} has {} heights, row 0 has {}", j, heights[j].size(), columns));
  for (const double size : {size_x, size_y})
    if (!(size >= kSmallestSize && size <= kLargestLength))
      throw InputError(
          fmt::format("size = {} must be positive, from {:g} to {:g} m", size, kSmallestSize, kLargestLength));
  std::vector<Vector3> corners;
  const auto along = [](double size, std::size_t k, std::size_t count) {
    return size * (static_cast<double>(k) / static_cast<double>(count - 1) - 0.5);
  };
  for (std::size_t j = 0; j < rows; ++j)
    for (std::size_t i = 0; i < columns; ++i)
      corners.emplace_back(along(size_x, i, columns), along(size_y, j, rows), heights[j][i]);
  Faces faces;
  for (std::size_t j = 0; j + 1 < rows; ++j)
    for (std::size_t i = 0; i + 1 < columns; ++i) {
      const int a = static_cast<int>(j * columns + i), b = a + 1, d = a + static_cast<int>(columns), c = d + 1;
      faces.push_back({a, b, c});
      faces.push_back({a, c, d});
    }
  return make_surface(corners, faces);
}

std::string describe(const SurfaceMesh& surface) {
  const auto many = [](std::size_t count, const char* one, const char* several) {
    return fmt::format("{} {}", count, count == 1 ? one : several);
  };
  return fmt::format("{}, {}, {}, {}", many(surface.triangles.size(), "triangle", "triangles"),
                     many(surface.corners.size(), "corner", "corners"),
                     many(surface.regions.size(), "flat part", "flat parts"), surface.rims > 0 ? "open" : "closed");
}

}  // namespace stickslip
