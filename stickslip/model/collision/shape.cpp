// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/shape.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"
#include "stickslip/model/collision/surface_mesh.hpp"

namespace stickslip {
namespace {

constexpr Words<ShapeKind, 8> kKinds{"shape kind",
                                     {"sphere", "capsule", "box", "hull", "cylinder", "plane", "mesh", "heightfield"}};

std::string label(const Shape& shape, int index) {
  std::string text = index < 0 ? std::string("shape") : fmt::format("shape {}", index + 1);
  if (!shape.name.empty()) text += fmt::format(" ({})", shape.name);
  return text + fmt::format(", {}: ", name_of(shape.kind));
}

void need_positive(const Shape& shape, int index, std::string_view key, double value) {
  if (!(value > 0.0) || !std::isfinite(value)) {
    throw InputError(label(shape, index) + fmt::format("{} = {} must be positive and finite", key, value));
  }
  if (value < kSmallestSize || value > kLargestLength) {
    throw InputError(label(shape, index) +
                     fmt::format("{} = {} m is out of range; sizes from {:g} to {:g} m are possible", key, value,
                                 kSmallestSize, kLargestLength));
  }
}

void bound(Geometry& g, const Vector3& low, const Vector3& high) {
  g.box_center = 0.5 * (low + high);
  g.box_half = 0.5 * (high - low);
  g.bounding_radius = g.box_half.norm();
  g.scale = g.box_half.minCoeff();
}

}  // namespace

std::string_view name_of(ShapeKind kind) { return kKinds.of(kind); }

ShapeKind shape_kind(std::string_view word) { return kKinds.from(word); }

Geometry make_geometry(const Shape& shape, int index) {
  const Eigen::Quaterniond& q = shape.pose.orientation;
  if (!within_range(shape.pose.position)) {
    throw InputError(label(shape, index) + fmt::format("position must be finite, and below {:g} m", kLargestLength));
  }
  if (!(std::abs(q.norm() - 1.0) <= 1e-9)) {
    throw InputError(label(shape, index) +
                     fmt::format("orientation must be a unit quaternion, its norm is {}", q.norm()));
  }
  Geometry g;
  g.kind = shape.kind;
  switch (shape.kind) {
    case ShapeKind::sphere:
      need_positive(shape, index, "radius", shape.radius);
      g.core = point_polyhedron();
      g.radius = g.rounding = shape.radius;
      bound(g, Vector3::Constant(-g.radius), Vector3::Constant(g.radius));
      g.bounding_radius = g.radius;
      break;
    case ShapeKind::capsule:
      need_positive(shape, index, "radius", shape.radius);
      need_positive(shape, index, "length", shape.length);
      g.radius = g.rounding = shape.radius;
      g.half_length = 0.5 * shape.length;
      g.core = segment_polyhedron(g.half_length);
      bound(g, -Vector3(g.radius, g.radius, g.half_length + g.radius),
            Vector3(g.radius, g.radius, g.half_length + g.radius));
      g.bounding_radius = g.half_length + g.radius;
      break;
    case ShapeKind::box:
      for (int i = 0; i < 3; ++i) need_positive(shape, index, "size", shape.size[i]);
      g.half = 0.5 * shape.size;
      g.core = box_polyhedron(g.half);
      bound(g, -g.half, g.half);
      break;
    case ShapeKind::cylinder:
      need_positive(shape, index, "radius", shape.radius);
      need_positive(shape, index, "length", shape.length);
      g.radius = shape.radius;
      g.half_length = 0.5 * shape.length;
      bound(g, -Vector3(g.radius, g.radius, g.half_length), Vector3(g.radius, g.radius, g.half_length));
      g.bounding_radius = std::hypot(g.radius, g.half_length);
      break;
    case ShapeKind::hull: {
      for (const Vector3& x : shape.points) {
        if (!within_range(x)) {
          throw InputError(label(shape, index) +
                           fmt::format("a corner must have finite coordinates below {:g} m", kLargestLength));
        }
      }
      try {
        g.core = convex_hull(shape.points);
      } catch (const InputError& error) {
        throw InputError(label(shape, index) + error.what());
      }
      Vector3 low = g.core.vertices[0], high = low;
      for (const Vector3& x : g.core.vertices) {
        low = low.cwiseMin(x);
        high = high.cwiseMax(x);
      }
      bound(g, low, high);
      g.center = mass_properties(g.core).center;
      break;
    }
    case ShapeKind::plane:
      g.box_half.setConstant(std::numeric_limits<double>::infinity());
      g.bounding_radius = std::numeric_limits<double>::infinity();
      break;
    case ShapeKind::mesh:
    case ShapeKind::heightfield:
      if (!shape.surface) throw InputError(label(shape, index) + "it has no triangles; give it a surface");
      if (shape.body != ground_body && shape.touches)
        throw InputError(label(shape, index) +
                         "a surface of triangles has no inside and belongs to the ground; give a body that moves "
                         "several hulls, or touches = false to draw it only");
      g.surface = shape.surface;
      bound(g, g.surface->tree.bounds().low, g.surface->tree.bounds().high);
      break;
  }
  return g;
}

MassProperties mass_properties(const Geometry& g) {
  constexpr double pi = std::numbers::pi;
  const double r = g.radius, h = 2.0 * g.half_length;
  MassProperties m;
  switch (g.kind) {
    case ShapeKind::sphere:
      m.volume = 4.0 / 3.0 * pi * r * r * r;
      m.inertia = 0.4 * m.volume * r * r * Matrix3::Identity();
      return m;
    case ShapeKind::cylinder:
      m.volume = pi * r * r * h;
      m.inertia.diagonal() << r * r / 4.0 + h * h / 12.0, r * r / 4.0 + h * h / 12.0, r * r / 2.0;
      m.inertia *= m.volume;
      return m;
    case ShapeKind::capsule: {
      // Cylinder and two half spheres with centres of mass 3r/8 beyond the segment's ends.
      const double vc = pi * r * r * h, vs = 4.0 / 3.0 * pi * r * r * r;
      const double across = vc * (r * r / 4.0 + h * h / 12.0) + vs * (0.4 * r * r + 0.25 * h * h + 0.375 * h * r);
      m.volume = vc + vs;
      m.inertia.diagonal() << across, across, vc * r * r / 2.0 + 0.4 * vs * r * r;
      return m;
    }
    case ShapeKind::box: {
      const Vector3 s = g.half.cwiseAbs2();
      m.volume = 8.0 * g.half.prod();
      m.inertia.diagonal() << s.y() + s.z(), s.x() + s.z(), s.x() + s.y();
      m.inertia *= m.volume / 3.0;
      return m;
    }
    case ShapeKind::hull:
      return mass_properties(g.core);
    case ShapeKind::plane:
    case ShapeKind::mesh:
    case ShapeKind::heightfield:
      break;
  }
  throw InputError(fmt::format("a {} has no volume: give mass and inertia of its body", name_of(g.kind)));
}

MassProperties moved(const MassProperties& m, const Pose& pose) {
  const Matrix3 R = pose.orientation.toRotationMatrix();
  return {m.volume, pose.position + R * m.center, R * m.inertia * R.transpose()};
}

MassProperties joined(const MassProperties& a, const MassProperties& b) {
  MassProperties m;
  m.volume = a.volume + b.volume;
  m.center = (a.volume * a.center + b.volume * b.center) / m.volume;
  const auto about = [&](const MassProperties& part) {
    const Vector3 d = part.center - m.center;
    return Matrix3(part.inertia + part.volume * (d.squaredNorm() * Matrix3::Identity() - d * d.transpose()));
  };
  m.inertia = about(a) + about(b);
  return m;
}

}  // namespace stickslip
