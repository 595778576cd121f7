// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/narrow_phase.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/model/collision/convex_contacts.hpp"
#include "stickslip/model/collision/surface_contacts.hpp"

namespace stickslip {
namespace {

/// Where the closed forms write: positions are relative to B's frame origin until the end.
struct Output {
  double margin;
  std::vector<ContactPoint>& points;
  void add(double gap, const Vector3& position, const Vector3& normal, FeatureTag a, FeatureTag b) {
    if (!(gap <= margin)) return;
    ContactPoint& p = points.emplace_back();
    p.gap = gap;
    p.position = position;
    p.normal = normal;
    p.feature = feature_id(a, b);
  }
};

/// Balls of radius ra about p and rb about q. Concentric balls part along z.
void balls(const Vector3& p, double ra, const Vector3& q, double rb, FeatureTag a, FeatureTag b, Output& out) {
  const Vector3 d = p - q;
  const double distance = d.norm();
  const Vector3 n = distance > 0.0 ? Vector3(d / distance) : Vector3::UnitZ();
  out.add(distance - ra - rb, 0.5 * (p - ra * n + q + rb * n), n, a, b);
}

/// Parameter in [-h, h] of the point of the segment c + t·axis nearest to p.
double nearest_parameter(const Vector3& p, const Vector3& c, const Vector3& axis, double h) {
  return std::clamp(axis.dot(p - c), -h, h);
}

void sphere_capsule(const PlacedShape& s, const PlacedShape& c, Output& out) {
  const Vector3 axis = c.R.col(2);
  const double t = nearest_parameter(s.x, c.x, axis, c.geometry->half_length);
  balls(s.x, s.geometry->radius, c.x + t * axis, c.geometry->radius, no_feature, no_feature, out);
}

void capsule_capsule(const PlacedShape& a, const PlacedShape& b, Output& out) {
  const Vector3 u = a.R.col(2), v = b.R.col(2), d = a.x - b.x;
  const double ha = a.geometry->half_length, hb = b.geometry->half_length;
  const double ra = a.geometry->radius, rb = b.geometry->radius, near = 1e-8 * std::min(ha + ra, hb + rb);
  const std::size_t first = out.points.size();
  const auto add = [&](double s, double t, FeatureTag ta, FeatureTag tb) {
    const std::size_t before = out.points.size();
    balls(a.x + s * u, ra, b.x + t * v, rb, ta, tb, out);
    if (out.points.size() == before) return;
    const Vector3 x = out.points.back().position;
    const auto same = [&](const ContactPoint& o) { return (o.position - x).norm() <= near; };
    if (std::any_of(out.points.begin() + static_cast<std::ptrdiff_t>(first), out.points.end() - 1, same)) {
      out.points.pop_back();
    }
  };
  const double uv = u.dot(v), sine2 = u.cross(v).squaredNorm();
  constexpr double kParallel = 1e-16;  // sin² of the angle: the crossing is lost in round-off
  if (sine2 > kParallel) {
    const double s = (uv * v.dot(d) - u.dot(d)) / sine2, t = v.dot(d) + s * uv;
    if (std::abs(s) < ha && std::abs(t) < hb) add(s, t, no_feature, no_feature);
  }
  // The nearest pair is this crossing or has an end in it; ends over the inside of the other axis count always.
  struct End {
    double s, t;
    FeatureTag ta, tb;
    bool over;
  };
  const auto end_tag = [&](double x, double h) {
    return x <= near - h ? vertex_tag(0) : x >= h - near ? vertex_tag(1) : no_feature;
  };
  End ends[4];
  for (int k = 0; k < 4; ++k) {
    const bool of_a = k < 2;
    const double sign = k % 2 == 0 ? -1.0 : 1.0;
    const double fixed = sign * (of_a ? ha : hb), free = of_a ? v.dot(d + fixed * u) : u.dot(fixed * v - d);
    const double h = of_a ? hb : ha, clamped = std::clamp(free, -h, h);
    const double si = of_a ? fixed : clamped, ti = of_a ? clamped : fixed;
    ends[k] = {si, ti, end_tag(si, ha), end_tag(ti, hb), std::abs(free) <= h + near};
  }
  const auto length = [&](const End& e) { return (d + e.s * u - e.t * v).norm(); };
  const End& nearest =
      *std::min_element(ends, ends + 4, [&](const End& l, const End& r) { return length(l) < length(r); });
  if (out.points.size() == first) add(nearest.s, nearest.t, nearest.ta, nearest.tb);
  for (const End& e : ends) {
    if (e.over) add(e.s, e.t, e.ta, e.tb);
  }
}

/// A ball about p (local) against a solid: `nearest` the nearest point of the solid, or, inside, the way out.
void ball_outside(const PlacedShape& s, const PlacedShape& solid, const Vector3& p, const Vector3& nearest,
                  Output& out) {
  const Vector3 d = p - nearest;
  const double distance = d.norm(), r = s.geometry->radius;
  const Vector3 n = solid.R * (d / distance);
  out.add(distance - r, solid.x + solid.R * nearest + 0.5 * (distance - r) * n, n, no_feature, no_feature);
}

void ball_inside(const PlacedShape& s, const PlacedShape& solid, double depth, const Vector3& outward, Output& out) {
  const double gap = -depth - s.geometry->radius;
  const Vector3 n = solid.R * outward;
  out.add(gap, s.x + (depth + 0.5 * gap) * n, n, no_feature, no_feature);
}

void sphere_box(const PlacedShape& s, const PlacedShape& box, Output& out) {
  const Vector3 p = box.R.transpose() * (s.x - box.x), &h = box.geometry->half;
  const Vector3 nearest = p.cwiseMax(-h).cwiseMin(h);
  if (nearest != p) return ball_outside(s, box, p, nearest, out);
  int axis = 0;
  (h - p.cwiseAbs()).minCoeff(&axis);
  ball_inside(s, box, h[axis] - std::abs(p[axis]), p[axis] < 0.0 ? -Vector3::Unit(axis) : Vector3(Vector3::Unit(axis)),
              out);
}

void sphere_cylinder(const PlacedShape& s, const PlacedShape& c, Output& out) {
  const Vector3 p = c.R.transpose() * (s.x - c.x);
  const double rho = std::hypot(p.x(), p.y()), R = c.geometry->radius, h = c.geometry->half_length;
  const Vector3 u = rho > 0.0 ? Vector3(p.x() / rho, p.y() / rho, 0.0) : Vector3::UnitX();
  if (rho > R || std::abs(p.z()) > h) {
    Vector3 nearest = rho > R ? Vector3(R * u) : Vector3(p.x(), p.y(), 0.0);
    nearest.z() = std::clamp(p.z(), -h, h);
    return ball_outside(s, c, p, nearest, out);
  }
  if (R - rho < h - std::abs(p.z())) return ball_inside(s, c, R - rho, u, out);
  ball_inside(s, c, h - std::abs(p.z()), p.z() < 0.0 ? -Vector3::UnitZ() : Vector3(Vector3::UnitZ()), out);
}

/// A point of A at x, rounded by r, over the plane's surface.
void point_plane(const Vector3& x, double r, const PlacedShape& plane, FeatureTag tag, Output& out) {
  const Vector3 n = plane.R.col(2);
  const double gap = n.dot(x - plane.x) - r;
  out.add(gap, x - (r + 0.5 * gap) * n, n, tag, no_feature);
}

void body_plane(const PlacedShape& a, const PlacedShape& plane, Output& out) {
  const Geometry& g = *a.geometry;
  if (g.kind == ShapeKind::cylinder) {
    const Vector3 n = plane.R.col(2);
    const FacingPoints facing = facing_points_of_cylinder({&g, a.R, a.x}, -n);
    for (int i = 0; i < facing.count; ++i) point_plane(facing.x[i], 0.0, plane, facing.tag[i], out);
    return;
  }
  for (int i = 0; i < static_cast<int>(g.core.vertices.size()); ++i) {
    const FeatureTag tag = g.kind == ShapeKind::sphere ? no_feature : vertex_tag(i);
    point_plane(a.x + a.R * g.core.vertices[i], g.rounding, plane, tag, out);
  }
}

/// With a's kind not after b's in ShapeKind.
void ordered_contacts(const PlacedShape& a, const PlacedShape& b, ManifoldWorkspace& ws, Output& out) {
  const ShapeKind ka = a.geometry->kind, kb = b.geometry->kind;
  if (is_surface(kb)) {
    if (ka < ShapeKind::plane) surface_contacts(a, b, out.margin, ws, out.points);
  } else if (kb == ShapeKind::plane) {
    if (ka != ShapeKind::plane) body_plane(a, b, out);
  } else if (ka == ShapeKind::sphere && kb == ShapeKind::sphere) {
    balls(a.x, a.geometry->radius, b.x, b.geometry->radius, no_feature, no_feature, out);
  } else if (ka == ShapeKind::sphere && kb == ShapeKind::capsule) {
    sphere_capsule(a, b, out);
  } else if (ka == ShapeKind::sphere && kb == ShapeKind::box) {
    sphere_box(a, b, out);
  } else if (ka == ShapeKind::sphere && kb == ShapeKind::cylinder) {
    sphere_cylinder(a, b, out);
  } else if (ka == ShapeKind::capsule && kb == ShapeKind::capsule) {
    capsule_capsule(a, b, out);
  } else {
    convex_contacts({a.geometry, a.R, a.x}, {b.geometry, b.R, b.x}, out.margin, ws, out.points);
  }
}

}  // namespace

void find_contacts(const PlacedShape& a, const PlacedShape& b, double margin, ManifoldWorkspace& ws,
                   std::vector<ContactPoint>& out) {
  const std::size_t first = out.size();
  const bool swapped = b.geometry->kind < a.geometry->kind;
  // Coordinates relative to one of the bodies: far from the world's origin no digits are lost.
  PlacedShape p = swapped ? b : a, q = swapped ? a : b;
  const Vector3 origin = q.x;
  p.x -= origin;
  q.x.setZero();
  Output output{margin, out};
  ordered_contacts(p, q, ws, output);
  for (std::size_t i = first; i < out.size(); ++i) {
    ContactPoint& c = out[i];
    c.position += origin;
    if (!swapped) continue;
    c.normal = -c.normal;
    c.feature = (c.feature << 32) | (c.feature >> 32);
  }
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
            [](const ContactPoint& l, const ContactPoint& r) { return l.feature < r.feature; });
}

}  // namespace stickslip
