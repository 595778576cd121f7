// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/convex_contacts.hpp"

#include <algorithm>
#include <limits>

namespace stickslip {
namespace {

constexpr double round_off = 1e-12;   // of the size: two separations that differ by less are equal
constexpr double same_corner = 1e-8;  // of the size: tolerance of clipping

struct Axis {
  Vector3 normal = Vector3::UnitZ();
  double value = -std::numeric_limits<double>::infinity();
};

/// Edge directions that every edge of the body has one of: box, cylinder (its axis), capsule.
int directions(const Convex& body) {
  switch (body.geometry->kind) {
    case ShapeKind::box:
      return 3;
    case ShapeKind::cylinder:
    case ShapeKind::capsule:
      return 1;
    default:
      return 0;
  }
}

Vector3 direction(const Convex& body, int k) { return body.R.col(body.geometry->kind == ShapeKind::box ? k : 2); }

Axis best_candidate(const Convex& a, const Convex& b, double tolerance) {
  Axis best;
  const auto consider = [&](const Vector3& n, double handicap) {
    const double value = separation(a, b, n);
    if (value > best.value + handicap) best = {n, value};
  };
  for (const Vector3& normal : b.geometry->core.normals) consider(b.R * normal, 0.0);
  // Of parallel faces B's stays: a tie may not depend on the last bit.
  for (const Vector3& normal : a.geometry->core.normals) consider(-(a.R * normal), tolerance);
  for (const Convex* body : {&b, &a}) {
    if (body->geometry->kind != ShapeKind::cylinder) continue;
    consider(body->R.col(2), tolerance);
    consider(-body->R.col(2), tolerance);
  }
  for (int i = 0; i < directions(a); ++i) {
    for (int j = 0; j < directions(b); ++j) {
      const Vector3 across = direction(a, i).cross(direction(b, j));
      const double sine = across.norm();
      if (sine < 1e-6) continue;
      consider(across / sine, tolerance);
      consider(-across / sine, tolerance);
    }
  }
  if (best.value == -std::numeric_limits<double>::infinity()) {
    const Vector3 d = a.x + a.R * a.geometry->center - b.x - b.R * b.geometry->center;
    consider(d.norm() > 0.0 ? Vector3(d.normalized()) : Vector3::UnitZ(), 0.0);
  }
  return best;
}

double least_gap(const ManifoldWorkspace& ws) {
  double least = std::numeric_limits<double>::infinity();
  for (const ManifoldPoint& p : ws.points) least = std::min(least, p.gap);
  return least;
}

/// What the points of a flat cap may be off the lowest point of its rim, which is none of them.
double cap_error(const Convex& body, const Vector3& n) {
  if (body.geometry->kind != ShapeKind::cylinder) return 0.0;
  const double sine = body.R.col(2).cross(n).norm();
  return sine <= flat_cap ? 2.0 * body.geometry->radius * sine : 0.0;
}

/// The better of the ascents from `start` and, for overlapping bodies, from the direction between their inner halves.
Separation best_separation(const Convex& a, const Convex& b, const Axis& start) {
  Separation best = maximise_separation(a, b, start.normal);
  if (best.value >= 0.0) return best;
  Convex inner_a = a, inner_b = b;
  inner_a.shrink = inner_b.shrink = 0.5;
  const Distance inner = distance(inner_a, inner_b, start.normal);
  if (!(inner.distance > 0.0)) return best;
  const Separation other = maximise_separation(a, b, inner.normal);
  const double size = std::max(a.geometry->bounding_radius, b.geometry->bounding_radius);
  return other.value > best.value + round_off * size ? other : best;
}

/// The deepest point where the manifold has no such corner, or where a rim makes its corners uncertain. A corner that
/// is nearly there (off by the error of a rim's normal) is replaced, so that round-off does not make it two.
void add_deepest(const ManifoldPoint& deepest, double near, ManifoldWorkspace& ws) {
  for (ManifoldPoint& p : ws.points) {
    if ((p.middle - deepest.middle).norm() > near || p.gap - deepest.gap > 0.1 * near) continue;
    p = deepest;
    return;
  }
  ws.points.push_back(deepest);
}

}  // namespace

void convex_contacts(const Convex& a, const Convex& b, double margin, ManifoldWorkspace& ws,
                     std::vector<ContactPoint>& out) {
  const double size = std::max(a.geometry->bounding_radius, b.geometry->bounding_radius);
  const double equal = round_off * size;
  const double corner = same_corner * std::min(a.geometry->bounding_radius, b.geometry->bounding_radius);
  const double ra = a.geometry->rounding, rb = b.geometry->rounding;

  Axis axis = best_candidate(a, b, equal);
  if (axis.value - ra - rb > margin) return;
  clip_manifold(a, b, axis.normal, corner, ws);
  const ShapeKind ka = a.geometry->kind, kb = b.geometry->kind;
  const bool boxes = ka == ShapeKind::box && kb == ShapeKind::box;
  const bool rims = ka == ShapeKind::cylinder || kb == ShapeKind::cylinder;
  const double touching = equal + cap_error(a, axis.normal) + cap_error(b, axis.normal);
  if (least_gap(ws) > axis.value + touching || (axis.value < 0.0 && !boxes)) {
    const Separation best = best_separation(a, b, axis);
    const bool better = best.value > axis.value + touching;
    if (better) {
      axis = {best.normal, best.value};
      if (axis.value - ra - rb > margin) return;
      clip_manifold(a, b, axis.normal, corner, ws);
    }
    if ((better && rims) || least_gap(ws) > axis.value + touching) {
      const double near = 1e-3 * std::min(a.geometry->bounding_radius, b.geometry->bounding_radius);
      add_deepest({axis.value, 0.5 * (best.on_a + best.on_b), {deepest_tag, deepest_tag}}, near, ws);
    }
  }
  for (const ManifoldPoint& p : ws.points) {
    const double gap = p.gap - ra - rb;
    if (!(gap <= margin)) continue;
    ContactPoint& c = out.emplace_back();
    c.gap = gap;
    c.normal = axis.normal;
    c.position = p.middle + 0.5 * (rb - ra) * axis.normal;
    c.feature = feature_id(p.tag[0], p.tag[1]);
  }
}

}  // namespace stickslip
