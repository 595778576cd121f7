// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/polyhedron.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "stickslip/common/error.hpp"

namespace stickslip {
namespace {

void invert(const std::vector<std::vector<int>>& lists, std::vector<int>& start, std::vector<int>& items) {
  start.assign(1, 0);
  items.clear();
  for (const auto& list : lists) {
    items.insert(items.end(), list.begin(), list.end());
    start.push_back(static_cast<int>(items.size()));
  }
}

/// Fills edges and adjacency from vertices, face_start and face_vertices.
void connect(Polyhedron& p) {
  std::map<std::pair<int, int>, int> index;
  std::vector<std::vector<int>> faces_at(p.vertices.size()), edges_at(p.vertices.size());
  p.face_edges.resize(p.face_vertices.size());
  for (int f = 0; f < p.faces(); ++f) {
    const int n = p.corners(f), first = p.face_start[f];
    for (int k = 0; k < n; ++k) {
      const int a = p.face_vertices[first + k], b = p.face_vertices[first + (k + 1) % n];
      const auto [at, is_new] = index.try_emplace(std::minmax(a, b), static_cast<int>(p.edges.size()));
      if (is_new) p.edges.push_back({std::min(a, b), std::max(a, b)});
      p.face_edges[first + k] = at->second;
      faces_at[a].push_back(f);
    }
  }
  for (int e = 0; e < static_cast<int>(p.edges.size()); ++e) {
    for (const int v : p.edges[e]) edges_at[v].push_back(e);
  }
  invert(faces_at, p.vertex_face_start, p.vertex_faces);
  invert(edges_at, p.vertex_edge_start, p.vertex_edges);
}

struct Triangle {
  std::array<int, 3> v;
  Vector3 normal;
};

double height(const std::vector<Vector3>& points, const Triangle& t, const Vector3& x) {
  return t.normal.dot(x - points[t.v[0]]);
}

Triangle triangle(const std::vector<Vector3>& points, int a, int b, int c) {
  return {{a, b, c}, (points[b] - points[a]).cross(points[c] - points[a]).normalized()};
}

/// Four points that span a volume, ordered so that the first three are counter-clockwise seen from outside.
std::array<int, 4> first_tetrahedron(const std::vector<Vector3>& points, double flat) {
  const auto farthest = [&](const auto& distance) {
    int best = 0;
    for (int i = 1; i < static_cast<int>(points.size()); ++i) {
      if (distance(points[i]) > distance(points[best])) best = i;
    }
    return best;
  };
  const int a = farthest([&](const Vector3& x) { return -x.x(); });
  const int b = farthest([&](const Vector3& x) { return (x - points[a]).norm(); });
  const Vector3 along = (points[b] - points[a]).normalized();
  const int c = farthest([&](const Vector3& x) { return (x - points[a]).cross(along).norm(); });
  if ((points[c] - points[a]).cross(along).norm() <= flat) throw InputError("hull: all points lie on one line");
  const Vector3 normal = (points[b] - points[a]).cross(points[c] - points[a]).normalized();
  const int d = farthest([&](const Vector3& x) { return std::abs(normal.dot(x - points[a])); });
  const double h = normal.dot(points[d] - points[a]);
  if (std::abs(h) <= flat) throw InputError("hull: all points lie in one plane");
  return h < 0.0 ? std::array{a, b, c, d} : std::array{a, c, b, d};
}

std::vector<Triangle> hull_triangles(const std::vector<Vector3>& points, double on, double flat) {
  const auto [a, b, c, d] = first_tetrahedron(points, flat);
  std::vector<Triangle> hull = {triangle(points, a, b, c), triangle(points, a, d, b), triangle(points, b, d, c),
                                triangle(points, c, d, a)};
  for (int i = 0; i < static_cast<int>(points.size()); ++i) {
    std::map<std::pair<int, int>, int> open;  // directed edges of what the point sees
    std::vector<Triangle> kept;
    for (const Triangle& t : hull) {
      if (height(points, t, points[i]) <= on) {
        kept.push_back(t);
        continue;
      }
      for (int k = 0; k < 3; ++k) open[{t.v[k], t.v[(k + 1) % 3]}] = 1;
    }
    if (open.empty()) continue;
    for (const auto& [edge, one] : open) {
      if (!open.contains({edge.second, edge.first})) kept.push_back(triangle(points, edge.first, edge.second, i));
    }
    hull = std::move(kept);
  }
  return hull;
}

/// Corners of the face with this plane, counter-clockwise, without those inside the polygon or on one of its sides.
std::vector<int> face_corners(const std::vector<Vector3>& points, std::vector<int> on_plane, const Vector3& normal,
                              double on) {
  Vector3 middle = Vector3::Zero();
  for (const int i : on_plane) middle += points[i] / static_cast<double>(on_plane.size());
  const Vector3 t1 = normal.unitOrthogonal(), t2 = normal.cross(t1);
  const auto angle = [&](int i) { return std::atan2(t2.dot(points[i] - middle), t1.dot(points[i] - middle)); };
  std::sort(on_plane.begin(), on_plane.end(), [&](int i, int j) { return angle(i) < angle(j); });
  const auto turn = [&](int i, int j, int k) {
    const Vector3 side = points[k] - points[i];
    return normal.dot((points[j] - points[i]).cross(side)) / side.norm();
  };
  for (bool changed = true; changed && on_plane.size() > 3;) {
    changed = false;
    const std::size_t n = on_plane.size();
    for (std::size_t k = 0; k < n; ++k) {
      if (turn(on_plane[(k + n - 1) % n], on_plane[k], on_plane[(k + 1) % n]) <= on) {
        on_plane.erase(on_plane.begin() + static_cast<std::ptrdiff_t>(k));
        changed = true;
        break;
      }
    }
  }
  return on_plane;
}

}  // namespace

Polyhedron point_polyhedron() {
  Polyhedron p;
  p.vertices = {Vector3::Zero()};
  p.face_start = {0};
  connect(p);
  return p;
}

Polyhedron segment_polyhedron(double half_length) {
  Polyhedron p;
  p.vertices = {{0.0, 0.0, -half_length}, {0.0, 0.0, half_length}};
  p.face_start = {0};
  p.edges = {{0, 1}};
  connect(p);
  return p;
}

Polyhedron box_polyhedron(const Vector3& half) {
  Polyhedron p;
  for (int i = 0; i < 8; ++i) {
    p.vertices.emplace_back((i & 1) != 0 ? half.x() : -half.x(), (i & 2) != 0 ? half.y() : -half.y(),
                            (i & 4) != 0 ? half.z() : -half.z());
  }
  p.normals = {-Vector3::UnitX(), Vector3::UnitX(),  -Vector3::UnitY(),
               Vector3::UnitY(),  -Vector3::UnitZ(), Vector3::UnitZ()};
  p.face_vertices = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
  p.face_start = {0, 4, 8, 12, 16, 20, 24};
  connect(p);
  return p;
}

Polyhedron convex_hull(const std::vector<Vector3>& points) {
  if (points.size() < 4) throw InputError("hull: needs at least 4 points, has " + std::to_string(points.size()));
  Vector3 low = points[0], high = points[0];
  for (const Vector3& x : points) {
    if (!x.allFinite()) throw InputError("hull: a point is not finite");
    low = low.cwiseMin(x);
    high = high.cwiseMax(x);
  }
  const double extent = (high - low).norm(), on = 1e-12 * extent;
  const std::vector<Triangle> hull = hull_triangles(points, on, 1e-9 * extent);

  std::vector<int> used;
  for (const Triangle& t : hull) used.insert(used.end(), t.v.begin(), t.v.end());
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());

  Polyhedron p;
  p.face_start = {0};
  std::vector<Triangle> planes;
  std::vector<int> new_index(points.size(), -1);
  for (const Triangle& t : hull) {
    const bool known = std::any_of(planes.begin(), planes.end(), [&](const Triangle& o) {
      return o.normal.dot(t.normal) > 0.0 && std::all_of(t.v.begin(), t.v.end(), [&](int i) {
               return std::abs(height(points, o, points[i])) <= 10.0 * on;
             });
    });
    if (known || !t.normal.allFinite()) continue;
    planes.push_back(t);
    std::vector<int> on_plane;
    for (const int i : used) {
      if (std::abs(height(points, t, points[i])) <= 10.0 * on) on_plane.push_back(i);
    }
    const std::vector<int> corners = face_corners(points, std::move(on_plane), t.normal, 10.0 * on);
    // Newell's sum: the least-squares normal of the polygon, better than that of one thin triangle.
    Vector3 normal = Vector3::Zero();
    for (std::size_t k = 0; k < corners.size(); ++k) {
      normal += (points[corners[k]] - points[corners[0]])
                    .cross(points[corners[(k + 1) % corners.size()]] - points[corners[0]]);
    }
    p.normals.push_back(normal.normalized());
    for (const int i : corners) {
      if (new_index[i] < 0) {
        new_index[i] = static_cast<int>(p.vertices.size());
        p.vertices.push_back(points[i]);
      }
      p.face_vertices.push_back(new_index[i]);
    }
    p.face_start.push_back(static_cast<int>(p.face_vertices.size()));
  }
  connect(p);
  return p;
}

MassProperties mass_properties(const Polyhedron& p) {
  const Vector3 inner = p.vertices[0];
  double volume = 0.0;
  Vector3 first = Vector3::Zero();
  Matrix3 second = Matrix3::Zero();  // ∫ x xᵀ dV about `inner`
  for (const auto& [i, j, k] : triangles(p)) {
    const Vector3 a = p.vertices[i] - inner, b = p.vertices[j] - inner, c = p.vertices[k] - inner, s = a + b + c;
    const double v = a.dot(b.cross(c)) / 6.0;
    volume += v;
    first += v / 4.0 * s;
    second += v / 20.0 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  MassProperties m;
  m.volume = volume;
  const Vector3 center = first / volume;
  second -= volume * center * center.transpose();
  m.center = inner + center;
  m.inertia = second.trace() * Matrix3::Identity() - second;
  return m;
}

std::vector<std::array<int, 3>> triangles(const Polyhedron& p) {
  std::vector<std::array<int, 3>> result;
  for (int f = 0; f < p.faces(); ++f) {
    const int* corner = &p.face_vertices[p.face_start[f]];
    for (int k = 1; k + 1 < p.corners(f); ++k) result.push_back({corner[0], corner[k], corner[k + 1]});
  }
  return result;
}

}  // namespace stickslip
