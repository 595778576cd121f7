// SPDX-License-Identifier: Apache-2.0
// Members and membership of the convex sets, written from their definitions and independent of stickslip/laws.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "stickslip/laws/set.hpp"

namespace stickslip::samples {

using Point = std::vector<double>;
using Random = std::mt19937_64;

inline double uniform(Random& random, double a, double b) {
  return std::uniform_real_distribution<double>(a, b)(random);
}
inline int integer(Random& random, int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); }

/// Every kind, at ordinary, tiny, large and zero limits.
inline std::vector<Set> all_sets() {
  std::vector<Set> sets{line_set(), half_line_set()};
  for (const double limit : {0.0, 1e-6, 0.3, 1.0, 2.5, 40.0}) {
    sets.push_back(interval_set(limit));
    sets.push_back(disk_set(limit));
    sets.push_back(box_set(limit));
    sets.push_back(friction_cone_set(limit, 2));
    sets.push_back(friction_cone_set(limit, 3));
    sets.push_back(box_cone_set(limit));
    for (const int facets : {4, 6, 8, 16}) {
      sets.push_back(polygon_set(limit, facets));
      sets.push_back(polygonal_cone_set(limit, facets));
    }
  }
  return sets;
}

inline std::string label(const Set& set) {
  return std::string(to_string(set.kind)) + " size " + std::to_string(set.size) + " limit " +
         std::to_string(set.limit) + " facets " + std::to_string(set.facets);
}

inline bool is_bounded(const Set& set) {
  return set.kind == SetKind::interval || set.kind == SetKind::disk || set.kind == SetKind::polygon ||
         set.kind == SetKind::box;
}

inline double dot(const Point& a, const Point& b) {
  double sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
inline double norm(const Point& a) { return std::sqrt(dot(a, a)); }
/// a + t b
inline Point along(const Point& a, double t, const Point& b) {
  Point c = a;
  for (std::size_t i = 0; i < a.size(); ++i) c[i] += t * b[i];
  return c;
}
inline Point minus(const Point& a, const Point& b) { return along(a, -1.0, b); }

/// Vertices of the planar section of a polygonal set or cone.
inline std::vector<Point> section_vertices(const Set& set) {
  const double c = set.limit;
  if (set.kind == SetKind::box || set.kind == SetKind::box_cone) return {{c, c}, {-c, c}, {-c, -c}, {c, -c}};
  std::vector<Point> vertices;
  for (int k = 0; k < set.facets; ++k) {
    const double angle = 2.0 * std::numbers::pi * k / set.facets;
    vertices.push_back({c * std::cos(angle), c * std::sin(angle)});
  }
  return vertices;
}

inline bool has_disk_section(const Set& set) { return set.kind == SetKind::disk || set.kind == SetKind::friction_cone; }

/// A random point of the tangential section at unit normal force, often on its boundary or at a vertex.
inline Point section_member(const Set& set, Random& random) {
  const double inward = integer(random, 3) == 0 ? uniform(random, 0.0, 1.0) : 1.0;
  if (set.size == 1 || (set.kind == SetKind::friction_cone && set.size == 2)) {
    return {inward * (integer(random, 2) == 0 ? set.limit : -set.limit)};
  }
  if (has_disk_section(set)) {
    const double angle = uniform(random, 0.0, 2.0 * std::numbers::pi);
    return {inward * set.limit * std::cos(angle), inward * set.limit * std::sin(angle)};
  }
  const std::vector<Point> vertices = section_vertices(set);
  const int k = integer(random, static_cast<int>(vertices.size()));
  const double share = integer(random, 2) == 0 ? 0.0 : uniform(random, 0.0, 1.0);
  const Point& a = vertices[static_cast<std::size_t>(k)];
  const Point& b = vertices[(static_cast<std::size_t>(k) + 1) % vertices.size()];
  return {inward * ((1.0 - share) * a[0] + share * b[0]), inward * ((1.0 - share) * a[1] + share * b[1])};
}

/// A random member of the set; heights of cones, and points of unbounded sets, up to `reach`.
inline Point member(const Set& set, Random& random, double reach) {
  const double height = integer(random, 8) == 0 ? 0.0 : reach * uniform(random, 0.0, 1.0);
  if (set.kind == SetKind::line) return {integer(random, 2) == 0 ? height : -height};
  if (set.kind == SetKind::half_line) return {height};
  Point section = section_member(set, random);
  if (!is_cone(set.kind)) return section;
  Point r{height};
  for (const double t : section) r.push_back(height * t);
  return r;
}

/// Largest violated inequality of the definition (0 for members), normals being of unit length.
inline double violation(const Set& set, const Point& r) {
  if (set.kind == SetKind::line) return 0.0;
  if (set.kind == SetKind::half_line) return std::max(0.0, -r[0]);
  const bool cone = is_cone(set.kind);
  const double height = cone ? r[0] : 1.0;
  const Point t(r.begin() + (cone ? 1 : 0), r.end());
  double worst = cone ? std::max(0.0, -height) : 0.0;
  if (t.size() == 1 || has_disk_section(set)) {
    return std::max(worst, (norm(t) - set.limit * height) / (cone ? std::hypot(1.0, set.limit) : 1.0));
  }
  const std::vector<Point> vertices = section_vertices(set);
  for (std::size_t k = 0; k < vertices.size(); ++k) {
    // The facet between neighbouring vertices lies square to their sum; for limit 0 any direction serves.
    const Point& a = vertices[k];
    const Point& b = vertices[(k + 1) % vertices.size()];
    const double length = std::hypot(a[0] + b[0], a[1] + b[1]);
    if (length == 0.0) {
      worst = std::max({worst, std::abs(t[0]), std::abs(t[1])});
      continue;
    }
    const Point n{(a[0] + b[0]) / length, (a[1] + b[1]) / length};
    const double apothem = dot(n, a);
    worst = std::max(worst, (dot(n, t) - apothem * height) / (cone ? std::hypot(1.0, apothem) : 1.0));
  }
  return worst;
}

/// A random point to project, at the scale of the set and far from it, sometimes on an axis or at the origin.
inline Point target(const Set& set, Random& random) {
  const double unit = is_bounded(set) && set.limit > 0.0 ? set.limit : 1.0;
  const double size = unit * std::pow(10.0, uniform(random, -2.0, 3.0));
  Point z(static_cast<std::size_t>(set.size));
  for (double& component : z) component = integer(random, 8) == 0 ? 0.0 : uniform(random, -size, size);
  return z;
}

inline Point projection(const Set& set, const Point& z) {
  Point p(z.size());
  project(set, z, p);
  return p;
}

}  // namespace stickslip::samples
