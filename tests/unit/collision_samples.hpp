// SPDX-License-Identifier: Apache-2.0
// Shapes, random poses and an independent membership test for the collision tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "stickslip/model/collision/collision_scene.hpp"

namespace stickslip::collision_samples {

inline Shape sphere(double radius, int body = 0) {
  Shape s;
  s.kind = ShapeKind::sphere;
  s.radius = radius;
  s.body = body;
  return s;
}
inline Shape capsule(double radius, double length, int body = 0) {
  Shape s = sphere(radius, body);
  s.kind = ShapeKind::capsule;
  s.length = length;
  return s;
}
inline Shape cylinder(double radius, double length, int body = 0) {
  Shape s = capsule(radius, length, body);
  s.kind = ShapeKind::cylinder;
  return s;
}
inline Shape box(const Vector3& size, int body = 0) {
  Shape s;
  s.kind = ShapeKind::box;
  s.size = size;
  s.body = body;
  return s;
}
inline Shape plane(int body = ground_body) {
  Shape s;
  s.kind = ShapeKind::plane;
  s.body = body;
  return s;
}
inline Shape hull(std::vector<Vector3> points, int body = 0) {
  Shape s;
  s.kind = ShapeKind::hull;
  s.points = std::move(points);
  s.body = body;
  return s;
}
inline std::vector<Vector3> box_points(const Vector3& size) {
  std::vector<Vector3> points;
  for (int i = 0; i < 8; ++i) {
    points.emplace_back(((i & 1) != 0 ? 0.5 : -0.5) * size.x(), ((i & 2) != 0 ? 0.5 : -0.5) * size.y(),
                        ((i & 4) != 0 ? 0.5 : -0.5) * size.z());
  }
  return points;
}

using Random = std::mt19937_64;
inline double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
inline Vector3 direction(Random& random) {
  std::normal_distribution<double> normal;
  Vector3 d;
  do {
    d = {normal(random), normal(random), normal(random)};
  } while (d.norm() < 1e-3);
  return d.normalized();
}
inline Eigen::Quaterniond orientation(Random& random) {
  std::normal_distribution<double> normal;
  return Eigen::Quaterniond(normal(random), normal(random), normal(random), normal(random)).normalized();
}
inline Eigen::Quaterniond turn(double angle, const Vector3& axis) {
  return Eigen::Quaterniond(Eigen::AngleAxisd(angle, axis));
}
inline std::vector<Vector3> cloud(Random& random, int count) {
  std::vector<Vector3> points;
  for (int i = 0; i < count; ++i) points.push_back(uniform(random, 0.5, 0.7) * direction(random));
  return points;
}

/// One of each kind but the plane, two of some.
inline std::vector<Shape> solids(Random& random) {
  return {sphere(0.4),
          capsule(0.3, 0.8),
          box({1.0, 0.7, 0.5}),
          box({0.4, 0.4, 1.2}),
          cylinder(0.45, 0.6),
          cylinder(0.2, 1.1),
          hull(cloud(random, 12)),
          hull(box_points({0.6, 0.8, 0.5})),
          hull({{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}})};
}

/// How far x (in the shape's frame) is outside, at least: max over the inequalities that describe the solid.
inline double outside(const Geometry& g, const Vector3& x) {
  switch (g.kind) {
    case ShapeKind::sphere:
      return x.norm() - g.radius;
    case ShapeKind::capsule:
      return (x - Vector3(0, 0, std::clamp(x.z(), -g.half_length, g.half_length))).norm() - g.radius;
    case ShapeKind::box:
      return (x.cwiseAbs() - g.half).maxCoeff();
    case ShapeKind::cylinder:
      return std::max(std::hypot(x.x(), x.y()) - g.radius, std::abs(x.z()) - g.half_length);
    case ShapeKind::plane:
      return x.z();
    default:
      break;
  }
  double worst = -1e300;
  for (int f = 0; f < g.core.faces(); ++f) {
    worst = std::max(worst, g.core.normals[f].dot(x - g.core.vertices[g.core.face_vertices[g.core.face_start[f]]]));
  }
  return worst;
}
inline double outside(const PlacedShape& s, const Vector3& x) {
  return outside(*s.geometry, s.R.transpose() * (x - s.x));
}

/// min over the solid of n·x, by its own formula for each kind.
inline double lowest(const PlacedShape& s, const Vector3& n) {
  const Geometry& g = *s.geometry;
  const Vector3 d = s.R.transpose() * n;
  double reach = 0.0;
  switch (g.kind) {
    case ShapeKind::sphere:
      reach = g.radius;
      break;
    case ShapeKind::capsule:
      reach = g.radius + g.half_length * std::abs(d.z());
      break;
    case ShapeKind::box:
      reach = g.half.dot(d.cwiseAbs());
      break;
    case ShapeKind::cylinder:
      reach = g.radius * std::hypot(d.x(), d.y()) + g.half_length * std::abs(d.z());
      break;
    default:
      reach = -1e300;
      for (const Vector3& v : g.core.vertices) reach = std::max(reach, -d.dot(v));
  }
  return n.dot(s.x) - reach;
}
inline double sigma(const PlacedShape& a, const PlacedShape& b, const Vector3& n) {
  return lowest(a, n) + lowest(b, -n);
}

inline std::vector<ContactPoint> contacts(const PlacedShape& a, const PlacedShape& b, double margin) {
  ManifoldWorkspace workspace;
  std::vector<ContactPoint> out;
  find_contacts(a, b, margin, workspace, out);
  return out;
}

/// Two shapes with their geometries, placed.
struct Pair {
  Geometry ga, gb;
  PlacedShape a, b;
  Pair(const Shape& sa, const Shape& sb) : ga(make_geometry(sa)), gb(make_geometry(sb)) {
    a.geometry = &ga;
    b.geometry = &gb;
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;
  Pair& at(const Vector3& xa, const Eigen::Quaterniond& qa, const Vector3& xb = Vector3::Zero(),
           const Eigen::Quaterniond& qb = Eigen::Quaterniond::Identity()) {
    a.x = xa;
    a.R = qa.toRotationMatrix();
    b.x = xb;
    b.R = qb.toRotationMatrix();
    return *this;
  }
  std::vector<ContactPoint> find(double margin = 1e-3) const { return contacts(a, b, margin); }
};

inline double deepest(const std::vector<ContactPoint>& points) {
  double least = 1e300;
  for (const ContactPoint& p : points) least = std::min(least, p.gap);
  return least;
}

}  // namespace stickslip::collision_samples
