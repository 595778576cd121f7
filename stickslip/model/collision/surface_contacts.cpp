// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/surface_contacts.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/model/collision/convex.hpp"
#include "stickslip/model/collision/surface_mesh.hpp"

namespace stickslip {

namespace {

constexpr double kTilted = 0.3;      // sine: features of A that face the surface, though not the nearest of them
constexpr double kOnCone = 1e-9;     // sine: on the border of a cone
constexpr double kOnEdge = 1e-9;     // of A's size: on the border of a triangle, the end of an edge
constexpr double kSamePlace = 1e-7;  // of A's size: two points of one normal are one
constexpr double kDeepest = 0.5;     // of A's smallest half width
constexpr double kCrossing = 1e-6;   // sine between edges that cross

std::size_t at(int k) { return static_cast<std::size_t>(k); }

/// All in the frame of the surface.
class SurfacePair {
 public:
  SurfacePair(const Convex& a, const SurfaceMesh& surface, double margin, ManifoldWorkspace& ws,
              std::vector<ContactPoint>& out)
      : a_(a), g_(*a.geometry), s_(surface), margin_(margin), ws_(ws), out_(out), first_(out.size()) {
    size_ = g_.bounding_radius;
    deepest_ = kDeepest * g_.scale;
  }

  void find() {
    collect();
    if (ws_.triangles.empty()) return;
    look();
    // Each was left out for another that was left out too: the least deep of them.
    const auto inside = [&](const ContactPoint& p) { return p.gap <= kOnEdge * size_; };
    if (spare_.gap < 0.0 && std::none_of(out_.begin() + static_cast<std::ptrdiff_t>(first_), out_.end(), inside))
      out_.push_back(spare_);
  }

 private:
  void look() {
    if (g_.kind == ShapeKind::cylinder) {
      find_cylinder();
      return;
    }
    ws_.placed.clear();
    for (const Vector3& v : g_.core.vertices) ws_.placed.push_back(a_.x + a_.R * v);
    for (const int t : ws_.triangles)
      for (int v = 0; v < vertex_count(); ++v) vertex_over_region(t, v);
    for (const int e : ws_.edges) {
      for (int k = 0; k < static_cast<int>(g_.core.edges.size()); ++k) edge_over_edge(e, k);
      for (int v = 0; v < vertex_count(); ++v) vertex_over_edge(e, v);
    }
    for (const int c : ws_.surface_corners) {
      for (int f = 0; f < g_.core.faces(); ++f) face_over_corner(c, f);
      for (int k = 0; k < static_cast<int>(g_.core.edges.size()); ++k) edge_over_corner(c, k);
      for (int v = 0; v < vertex_count(); ++v) vertex_over_corner(c, v);
    }
  }

  int vertex_count() const { return static_cast<int>(ws_.placed.size()); }
  FeatureTag tag_of_vertex(int v) const { return g_.kind == ShapeKind::sphere ? no_feature : vertex_tag(v); }
  const SurfaceRegion& region_of(int triangle) const { return s_.regions[at(s_.triangles[at(triangle)].region)]; }

  /// Triangles near A, and their edges and corners, each once.
  void collect() {
    const Vector3 half = (a_.R.cwiseAbs() * g_.box_half).array() + std::max(margin_, deepest_);
    const Vector3 centre = a_.x + a_.R * g_.box_center;
    ws_.triangles.clear();
    s_.tree.visit({centre - half, centre + half}, [&](int t) { ws_.triangles.push_back(t); });
    std::sort(ws_.triangles.begin(), ws_.triangles.end());
    ws_.edges.clear();
    ws_.surface_corners.clear();
    for (const int t : ws_.triangles) {
      for (const int e : s_.triangles[at(t)].edge)
        if (s_.edges[at(e)].turn == SurfaceEdge::Turn::convex) ws_.edges.push_back(e);
      for (const int c : s_.triangles[at(t)].corner)
        if (s_.is_feature[at(c)]) ws_.surface_corners.push_back(c);
    }
    for (std::vector<int>* list : {&ws_.edges, &ws_.surface_corners}) {
      std::sort(list->begin(), list->end());
      list->erase(std::unique(list->begin(), list->end()), list->end());
    }
  }

  void add(double gap, const Vector3& position, const Vector3& normal, FeatureTag of_a, FeatureTag of_b) {
    if (!(gap <= margin_)) return;
    for (std::size_t k = first_; k < out_.size(); ++k) {
      const ContactPoint& o = out_[k];
      if ((o.position - position).norm() <= kSamePlace * size_ && (o.normal - normal).norm() <= kSamePlace) return;
      if (o.feature == feature_id(of_a, of_b)) return;
    }
    ContactPoint& p = out_.emplace_back();
    p.gap = gap;
    p.position = position;
    p.normal = normal;
    p.feature = feature_id(of_a, of_b);
  }

  /// add(), where A's point there, if it is inside, has no shorter way out; in a groove none of its ways leads over a
  /// triangle.
  void add_least(double gap, const Vector3& position, const Vector3& normal, FeatureTag of_a, FeatureTag of_b) {
    const double height = gap + g_.rounding;
    const Vector3 p = position + (0.5 * gap + g_.rounding) * normal;
    for (const int t : ws_.triangles) {
      if (height >= 0.0) break;
      const double other = region_of(t).height(p);
      if (other >= -kOnEdge * size_ || other <= height + kOnEdge * size_) continue;
      const SurfaceTriangle& triangle = s_.triangles[at(t)];
      if (beyond(triangle, t, 0, p) <= 0.0 && beyond(triangle, t, 1, p) <= 0.0 && beyond(triangle, t, 2, p) <= 0.0)
        return keep_spare(gap, position, normal, of_a, of_b);
    }
    add(gap, position, normal, of_a, of_b);
  }

  void keep_spare(double gap, const Vector3& position, const Vector3& normal, FeatureTag of_a, FeatureTag of_b) {
    if (spare_.gap >= 0.0 || gap > spare_.gap) {
      spare_.gap = gap;
      spare_.position = position;
      spare_.normal = normal;
      spare_.feature = feature_id(of_a, of_b);
    }
  }

  /// How high the lowest point of A's core is over the plane of a triangle.
  double lowest(int triangle) const {
    const SurfaceRegion& region = region_of(triangle);
    return region.height(support(a_, -region.normal));
  }

  /// -n is in the cone of vertex v of A, wider by `tilt` (a sine).
  bool faces(int v, const Vector3& n, double tilt) const {
    const Polyhedron& core = g_.core;
    for (int k = core.vertex_edge_start[at(v)]; k < core.vertex_edge_start[at(v) + 1]; ++k) {
      const auto [i, j] = core.edges[at(core.vertex_edges[at(k)])];
      const Vector3 d = ws_.placed[at(i == v ? j : i)] - ws_.placed[at(v)];
      if (n.dot(d) < -tilt * d.norm()) return false;
    }
    return true;
  }

  double beyond(const SurfaceTriangle& triangle, int t, int k, const Vector3& x) const {
    const SurfaceEdge& e = s_.edges[at(triangle.edge[at(k)])];
    return -e.into[e.triangle[0] == t ? 0 : 1].dot(x - s_.corners[at(triangle.corner[at(k)])]);
  }

  /// x has sunk into the triangle, or where others rise from it.
  bool behind(int t, const Vector3& x) const {
    if (region_of(t).height(x) > 0.0) return false;
    const SurfaceTriangle& triangle = s_.triangles[at(t)];
    for (int k = 0; k < 3; ++k)
      if (s_.edges[at(triangle.edge[at(k)])].turn != SurfaceEdge::Turn::concave &&
          beyond(triangle, t, k, x) > kOnEdge * size_)
        return false;
    return true;
  }

  /// x is over the triangle: within its sides, or beyond a concave one but behind what rises there.
  bool over(int t, const Vector3& x) const {
    const SurfaceTriangle& triangle = s_.triangles[at(t)];
    for (int k = 0; k < 3; ++k) {
      const SurfaceEdge& e = s_.edges[at(triangle.edge[at(k)])];
      const int side = e.triangle[0] == t ? 0 : 1;
      const double out = beyond(triangle, t, k, x);
      const int next = e.triangle[at(1 - side)];
      if (out > kOnEdge * size_) {
        if (e.turn != SurfaceEdge::Turn::concave || out > deepest_ || !behind(next, x)) return false;
      }
    }
    return true;
  }

  /// Behind the triangle, but nearer to what falls away at a convex side.
  bool nearer_beside(int t, const Vector3& x, double height) const {
    for (const int edge : s_.triangles[at(t)].edge) {
      const SurfaceEdge& e = s_.edges[at(edge)];
      const int next = e.triangle[e.triangle[0] == t ? 1 : 0];
      if (e.turn == SurfaceEdge::Turn::convex && next >= 0 && region_of(next).height(x) > height) return true;
    }
    return false;
  }

  /// Another triangle is between x, behind triangle t, and its foot there: x is outside, beyond something thin.
  bool hidden(int t, const Vector3& x, double height) const {
    const Vector3 way = -height * region_of(t).normal;
    for (const int other : ws_.triangles) {
      const SurfaceTriangle& triangle = s_.triangles[at(other)];
      if (triangle.region == s_.triangles[at(t)].region) continue;
      const SurfaceRegion& region = region_of(other);
      const double along = region.normal.dot(way);
      if (!(along < 0.0)) continue;  // entered from its outside
      const double share = -region.height(x) / along;
      if (!(share > 0.0 && share < 1.0)) continue;
      const Vector3 p = x + share * way;
      bool inside = true;
      for (std::size_t k = 0; k < 3 && inside; ++k) {
        const Vector3 &from = s_.corners[at(triangle.corner[k])], &to = s_.corners[at(triangle.corner[(k + 1) % 3])];
        inside = region.normal.dot((to - from).cross(p - from)) >= 0.0;
      }
      if (inside) return true;
    }
    return false;
  }

  void point_over_region(int t, const Vector3& x, FeatureTag tag) {
    const SurfaceRegion& region = region_of(t);
    const double height = region.height(x), gap = height - g_.rounding;
    if (!(gap <= margin_) || height < -deepest_ || !over(t, x)) return;
    if (height < 0.0 && hidden(t, x, height)) return;
    const auto take = height < 0.0 && nearer_beside(t, x, height) ? &SurfacePair::keep_spare : &SurfacePair::add_least;
    (this->*take)(gap, x - (g_.rounding + 0.5 * gap) * region.normal, region.normal, tag,
                  face_tag(s_.triangles[at(t)].region));
  }

  void vertex_over_region(int t, int v) {
    const Vector3& x = ws_.placed[at(v)];
    const SurfaceRegion& region = region_of(t);
    if (region.height(x) - g_.rounding > margin_ || !faces(v, region.normal, kTilted)) return;
    point_over_region(t, x, tag_of_vertex(v));
  }

  /// n put into the cone of the edge, if it is not far from it.
  static bool into_cone(const SurfaceEdge& e, Vector3& n) {
    for (int k = 0; k < 2; ++k) {
      const double out = n.dot(e.into[at(k)]);
      if (out > kTilted) return false;
      if (out > kOnCone) {
        n = e.limit[at(k)];
        return n.dot(e.into[at(1 - k)]) <= kOnCone;
      }
    }
    return true;
  }
  static bool in_cone(const SurfaceEdge& e, const Vector3& n) {
    return n.dot(e.into[0]) <= kOnCone && n.dot(e.into[1]) <= kOnCone;
  }

  /// One of the planes at the edge parts the bodies sooner.
  bool better_beside(const SurfaceEdge& e, double height) const {
    if (height >= 0.0) return false;
    for (const int t : e.triangle)
      if (t >= 0 && lowest(t) > height + kOnEdge * size_) return true;
    return false;
  }

  void edge_over_edge(int number, int k) {
    const SurfaceEdge& e = s_.edges[at(number)];
    const auto [i, j] = g_.core.edges[at(k)];
    const Vector3 &p = ws_.placed[at(i)], &o = s_.corners[at(e.corner[0])];
    const Vector3 d = ws_.placed[at(j)] - p;
    const double length = d.norm();
    const Vector3 u = d / length, across = u.cross(e.along);
    const double sine = across.norm();
    if (sine < kCrossing) return;
    Vector3 n = across / sine;
    if (n.dot(e.limit[0] + e.limit[1]) < 0.0) n = -n;
    if (!into_cone(e, n)) return;
    const double volume = n.dot(across);
    if (std::abs(volume) < kCrossing) return;
    const double along_a = n.dot((o - p).cross(e.along)) / volume, along_b = n.dot((o - p).cross(u)) / volume;
    const double end = kOnEdge * size_;
    if (!(along_a > end && along_a < length - end && along_b >= -end && along_b <= e.length + end)) return;
    const Vector3 on_a = p + along_a * u, on_b = o + along_b * e.along;
    const double height = n.dot(on_a - on_b);
    if (height - g_.rounding > margin_ || height < -deepest_ || !faces(i, n, kTilted) || !faces(j, n, kTilted)) return;
    const double gap = height - g_.rounding;
    const auto take = better_beside(e, height) ? &SurfacePair::keep_spare : &SurfacePair::add_least;
    (this->*take)(gap, on_a - (g_.rounding + 0.5 * gap) * n, n, edge_tag(k), edge_tag(e.id));
  }

  /// Two points of the cores that are apart.
  bool apart(const Vector3& on_a, const Vector3& on_b, Vector3& n, double& distance) const {
    n = on_a - on_b;
    distance = n.norm();
    if (!(distance > kSamePlace * size_) || distance - g_.rounding > margin_) return false;
    n /= distance;
    return true;
  }
  void add_apart(const Vector3& on_a, const Vector3& n, double distance, FeatureTag of_a, FeatureTag of_b) {
    const double gap = distance - g_.rounding;
    add(gap, on_a - (g_.rounding + 0.5 * gap) * n, n, of_a, of_b);
  }
  /// A round body has two points where it lies along an edge, a sharp one is near with one.
  double tilt() const { return g_.rounding > 0.0 ? kTilted : kOnCone; }

  void vertex_over_edge(int number, int v) {
    const SurfaceEdge& e = s_.edges[at(number)];
    const Vector3 &x = ws_.placed[at(v)], &o = s_.corners[at(e.corner[0])];
    const double along = e.along.dot(x - o), end = kOnEdge * size_;
    Vector3 n;
    double distance = 0;
    if (along < -end || along > e.length + end || !apart(x, o + along * e.along, n, distance)) return;
    if (in_cone(e, n) && faces(v, n, tilt())) add_apart(x, n, distance, tag_of_vertex(v), edge_tag(e.id));
  }

  /// The largest sine by which n is outside the cone of a corner.
  double out_of_cone(int c, const Vector3& n) const {
    double out = 0.0;
    for (int k = s_.edge_start[at(c)]; k < s_.edge_start[at(c) + 1]; ++k) {
      const SurfaceEdge& e = s_.edges[at(s_.edges_at[at(k)])];
      out = std::max(out, n.dot(e.along) * (e.corner[0] == c ? 1.0 : -1.0));
      if (e.triangle[1] < 0) out = std::max(out, -n.dot(e.limit[0]));
    }
    return out;
  }

  void edge_over_corner(int c, int k) {
    const auto [i, j] = g_.core.edges[at(k)];
    const Vector3 &p = ws_.placed[at(i)], &x = s_.corners[at(c)];
    const Vector3 d = ws_.placed[at(j)] - p;
    const double length = d.norm(), along = d.dot(x - p) / length, end = kOnEdge * size_;
    Vector3 n;
    double distance = 0;
    if (!(along > end && along < length - end) || !apart(p + along / length * d, x, n, distance)) return;
    if (out_of_cone(c, n) <= kOnCone && faces(i, n, tilt()) && faces(j, n, tilt()))
      add_apart(p + along / length * d, n, distance, edge_tag(k), vertex_tag(c));
  }

  void vertex_over_corner(int c, int v) {
    Vector3 n;
    double distance = 0;
    if (!apart(ws_.placed[at(v)], s_.corners[at(c)], n, distance)) return;
    if (out_of_cone(c, n) <= kOnCone && faces(v, n, tilt()))
      add_apart(ws_.placed[at(v)], n, distance, tag_of_vertex(v), vertex_tag(c));
  }

  /// n put into the cone of a corner, if it is not far from it: the nearest normal beside it.
  bool into_cone(int c, Vector3& n) const {
    const double out = out_of_cone(c, n);
    if (out <= kOnCone) return true;
    if (out > kTilted) return false;
    double nearest = std::sqrt(1.0 - kTilted * kTilted);
    Vector3 best = Vector3::Zero();
    for (int k = s_.edge_start[at(c)]; k < s_.edge_start[at(c) + 1]; ++k)
      for (const int t : s_.edges[at(s_.edges_at[at(k)])].triangle) {
        if (t < 0) continue;
        const Vector3& m = region_of(t).normal;
        if (m.dot(n) <= nearest || out_of_cone(c, m) > kOnCone) continue;
        nearest = m.dot(n);
        best = m;
      }
    n = best;
    return !best.isZero(0.0);
  }

  bool better_at_corner(int c, double gap) const {
    for (int k = s_.edge_start[at(c)]; k < s_.edge_start[at(c) + 1]; ++k)
      if (better_beside(s_.edges[at(s_.edges_at[at(k)])], gap)) return true;
    return false;
  }

  void face_over_corner(int c, int f) {
    const Polyhedron& core = g_.core;
    const Vector3& x = s_.corners[at(c)];
    const Vector3 outward = a_.R * core.normals[at(f)];
    const int first = core.face_start[at(f)], count = core.corners(f);
    Vector3 n = -outward;
    const double above = outward.dot(ws_.placed[at(core.face_vertices[at(first)])] - x);  // > 0: behind the face
    if (-above > margin_ || above > deepest_ || !into_cone(c, n)) return;
    for (int k = 0; k < count; ++k) {  // seen along n
      const Vector3& p = ws_.placed[at(core.face_vertices[at(first + k)])];
      const Vector3 side = ws_.placed[at(core.face_vertices[at(first + (k + 1) % count)])] - p;
      if (n.dot(side.cross(x - p)) > kOnEdge * size_ * side.norm()) return;
    }
    const double gap = -above / -outward.dot(n);
    const auto take = better_at_corner(c, gap) ? &SurfacePair::keep_spare : &SurfacePair::add_least;
    (this->*take)(gap, x + 0.5 * gap * n, n, face_tag(f), vertex_tag(c));
  }

  void find_cylinder() {
    for (const int t : ws_.triangles) {
      const FacingPoints facing = facing_points_of_cylinder(a_, -region_of(t).normal);
      for (int k = 0; k < facing.count; ++k) point_over_region(t, facing.x[k], facing.tag[k]);
    }
    for (const int e : ws_.edges) cylinder_over_edge(s_.edges[at(e)]);
    for (const int c : ws_.surface_corners) cylinder_over_corner(c);
  }

  /// The direction of largest separation from the edge, then the common part seen along it.
  void cylinder_over_edge(const SurfaceEdge& e) {
    Geometry& segment = ws_.segment;
    if (segment.core.vertices.size() != 2) {
      segment.kind = ShapeKind::capsule;
      segment.core = segment_polyhedron(1.0);
    }
    segment.core.vertices[0] = -0.5 * e.length * e.along;
    segment.core.vertices[1] = 0.5 * e.length * e.along;
    segment.bounding_radius = 0.5 * e.length;
    const Vector3 middle = 0.5 * (s_.corners[at(e.corner[0])] + s_.corners[at(e.corner[1])]);
    const Convex b{&segment, Matrix3::Identity(), middle};
    const Separation best = maximise_separation(a_, b, (e.limit[0] + e.limit[1]).normalized());
    Vector3 n = best.normal;
    if (best.value > margin_ || best.value < -deepest_ || std::abs(n.dot(e.along)) > kTilted || !into_cone(e, n))
      return;
    n = (n - n.dot(e.along) * e.along).normalized();
    clip_manifold(a_, b, n, kSamePlace * size_, ws_);
    const auto add_or_keep = [&](double gap, const Vector3& where, FeatureTag tag) {
      const auto take = better_beside(e, gap) ? &SurfacePair::keep_spare : &SurfacePair::add_least;
      (this->*take)(gap, where, n, tag, edge_tag(e.id));
    };
    for (const ManifoldPoint& p : ws_.points)
      if (p.tag[0] != no_feature && p.gap >= -deepest_) add_or_keep(p.gap, p.middle, p.tag[0]);  // its ends are corners
    const double along = e.along.dot(best.on_b - middle);
    if (!ws_.points.empty() || std::abs(along) >= 0.5 * e.length - kOnEdge * size_) return;
    add_or_keep(best.value, 0.5 * (best.on_a + best.on_b), deepest_tag);
  }

  void cylinder_over_corner(int c) {
    const Vector3& x = s_.corners[at(c)];
    const Vector3 p = a_.R.transpose() * (x - a_.x);
    const double rho = std::hypot(p.x(), p.y()), R = g_.radius, h = g_.half_length;
    const Vector3 u = rho > 0.0 ? Vector3(p.x() / rho, p.y() / rho, 0.0) : Vector3::UnitX();
    const Vector3 cap = p.z() < 0.0 ? -Vector3::UnitZ() : Vector3(Vector3::UnitZ());
    const double to_side = R - rho, to_cap = h - std::abs(p.z());
    Vector3 n;
    double gap = 0;
    if (to_side < 0.0 || to_cap < 0.0) {  // outside
      const Vector3 away = p - std::min(rho, R) * u - Vector3(0.0, 0.0, std::clamp(p.z(), -h, h));
      gap = away.norm();
      n = -(a_.R * (away / gap));
      if (!into_cone(c, n)) return;
    } else {  // the way out that is open, of two the shorter
      const bool side_first = to_side < to_cap;
      gap = side_first ? -to_side : -to_cap;
      n = -(a_.R * (side_first ? u : cap));
      if (!into_cone(c, n)) {
        gap = side_first ? -to_cap : -to_side;
        n = -(a_.R * (side_first ? cap : u));
        if (!into_cone(c, n)) return;
      }
    }
    if (gap > margin_ || gap < -deepest_) return;
    const auto take = better_at_corner(c, gap) ? &SurfacePair::keep_spare : &SurfacePair::add_least;
    (this->*take)(gap, x + 0.5 * gap * n, n, no_feature, vertex_tag(c));
  }

  const Convex& a_;
  const Geometry& g_;
  const SurfaceMesh& s_;
  double margin_, size_, deepest_;
  ManifoldWorkspace& ws_;
  std::vector<ContactPoint>& out_;
  std::size_t first_;
  ContactPoint spare_;  // gap 0: none
};

}  // namespace

void surface_contacts(const PlacedShape& a, const PlacedShape& b, double margin, ManifoldWorkspace& ws,
                      std::vector<ContactPoint>& out) {
  const std::size_t first = out.size();
  const Convex local{a.geometry, b.R.transpose() * a.R, b.R.transpose() * (a.x - b.x)};
  SurfacePair(local, *b.geometry->surface, margin, ws, out).find();
  for (std::size_t k = first; k < out.size(); ++k) {
    out[k].normal = b.R * out[k].normal;
    out[k].position = b.x + b.R * out[k].position;
  }
}

}  // namespace stickslip
