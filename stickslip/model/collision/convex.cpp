// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/convex.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stickslip {
namespace {

constexpr double round_off = 1e-15;

/// Points w = a - b of the Minkowski difference with the pairs they come from.
struct Simplex {
  Vector3 w[4], a[4], b[4];
  double weight[4];
  int size = 0;
};

/// Weights of the point of the affine hull of w[of[0..count)] nearest to 0; false if it is not inside the sub-simplex.
bool nearest_weights(const Simplex& s, const int* of, int count, double* weight) {
  const Vector3& p = s.w[of[0]];
  if (count == 1) {
    weight[0] = 1.0;
    return true;
  }
  const Vector3& q = s.w[of[1]];
  if (count == 2) {
    const Vector3 d = q - p;
    const double t = -p.dot(d) / d.squaredNorm();
    weight[0] = 1.0 - t;
    weight[1] = t;
    return t > 0.0 && t < 1.0;
  }
  const Vector3& r = s.w[of[2]];
  if (count == 3) {
    const Vector3 normal = (q - p).cross(r - p);
    const double area = normal.squaredNorm();
    if (!(area > 0.0)) return false;
    weight[0] = normal.dot(q.cross(r)) / area;
    weight[1] = normal.dot(r.cross(p)) / area;
    weight[2] = 1.0 - weight[0] - weight[1];
    return weight[0] > 0.0 && weight[1] > 0.0 && weight[2] > 0.0;
  }
  const Vector3& u = s.w[of[3]];
  const double volume = (q - p).dot((r - p).cross(u - p));
  weight[0] = q.dot(r.cross(u)) / volume;
  weight[1] = -p.dot(r.cross(u)) / volume;
  weight[2] = p.dot(q.cross(u)) / volume;
  weight[3] = -p.dot(q.cross(r)) / volume;
  return weight[0] > 0.0 && weight[1] > 0.0 && weight[2] > 0.0 && weight[3] > 0.0;
}

Vector3 nearest_point(const Simplex& s, const int* of, int count, const double* weight) {
  if (count == 3) {  // along the normal: no cancellation between large terms
    const Vector3 normal = (s.w[of[1]] - s.w[of[0]]).cross(s.w[of[2]] - s.w[of[0]]);
    return normal * (normal.dot(s.w[of[0]]) / normal.squaredNorm());
  }
  if (count == 4) return Vector3::Zero();
  Vector3 v = weight[0] * s.w[of[0]];
  for (int i = 1; i < count; ++i) v += weight[i] * s.w[of[i]];
  return v;
}

/// Reduces the simplex to the smallest face that holds its point nearest to 0, and returns that point.
Vector3 reduce(Simplex& s) {
  double best = std::numeric_limits<double>::infinity();
  Vector3 v = s.w[0];
  int best_of[4] = {0, 0, 0, 0}, best_count = 1;
  double best_weight[4] = {1.0, 0.0, 0.0, 0.0};
  for (unsigned mask = 1; mask < (1U << s.size); ++mask) {
    int of[4], count = 0;
    for (int i = 0; i < s.size; ++i) {
      if ((mask >> i & 1U) != 0) of[count++] = i;
    }
    double weight[4];
    if (!nearest_weights(s, of, count, weight)) continue;
    const Vector3 candidate = nearest_point(s, of, count, weight);
    if (!(candidate.squaredNorm() < best)) continue;
    best = candidate.squaredNorm();
    v = candidate;
    best_count = count;
    std::copy(of, of + count, best_of);
    std::copy(weight, weight + count, best_weight);
  }
  for (int i = 0; i < best_count; ++i) {  // best_of ascends, so nothing is overwritten before it is read
    s.w[i] = s.w[best_of[i]];
    s.a[i] = s.a[best_of[i]];
    s.b[i] = s.b[best_of[i]];
    s.weight[i] = best_weight[i];
  }
  s.size = best_count;
  return v;
}

double size_of(const Convex& a, const Convex& b) {
  return std::max(a.geometry->bounding_radius, b.geometry->bounding_radius);
}

}  // namespace

int support_vertex(const Convex& body, const Vector3& d) {
  const Vector3 local = body.R.transpose() * d;
  if (body.geometry->kind == ShapeKind::box) {
    return (local.x() > 0.0 ? 1 : 0) | (local.y() > 0.0 ? 2 : 0) | (local.z() > 0.0 ? 4 : 0);
  }
  const auto& vertices = body.geometry->core.vertices;
  int best = 0;
  double highest = local.dot(vertices[0]);
  for (int i = 1; i < static_cast<int>(vertices.size()); ++i) {
    const double h = local.dot(vertices[i]);
    if (h > highest) {
      highest = h;
      best = i;
    }
  }
  return best;
}

Vector3 support(const Convex& body, const Vector3& d) {
  const Geometry& g = *body.geometry;
  Vector3 local;
  if (g.kind == ShapeKind::cylinder) {
    const Vector3 dl = body.R.transpose() * d;
    const double across = std::hypot(dl.x(), dl.y());
    const double k = across > 0.0 ? g.radius / across : 0.0;
    local = {k * dl.x(), k * dl.y(), dl.z() > 0.0 ? g.half_length : -g.half_length};
  } else {
    local = g.core.vertices[support_vertex(body, d)];
  }
  if (body.shrink != 1.0) local = g.center + body.shrink * (local - g.center);
  return body.x + body.R * local;
}

double separation(const Convex& a, const Convex& b, const Vector3& n) { return n.dot(support(a, -n) - support(b, n)); }

Distance distance(const Convex& a, const Convex& b, const Vector3& guess) {
  const double small = round_off * size_of(a, b);
  Simplex s;
  const auto add = [&](const Vector3& d) {
    s.a[s.size] = support(a, -d);
    s.b[s.size] = support(b, d);
    s.w[s.size] = s.a[s.size] - s.b[s.size];
    return s.w[s.size++];
  };
  Vector3 v = add(guess);
  s.weight[0] = 1.0;
  Distance result;
  double lower = -std::numeric_limits<double>::infinity();
  for (int iteration = 0; iteration < 100; ++iteration) {
    const double length = v.norm();
    if (length <= small) return result;
    const Simplex before = s;
    const Vector3 w = add(v);
    const double bound = v.dot(w) / length;
    if (bound > lower) {
      lower = bound;
      result.normal = v / length;
    }
    result.distance = length;
    const bool known = std::any_of(before.w, before.w + before.size, [&](const Vector3& old) { return old == w; });
    if (known || length - lower <= small) {
      s = before;
      break;
    }
    const Vector3 next = reduce(s);
    if (!(next.squaredNorm() < v.squaredNorm())) {
      s = before;
      break;
    }
    v = next;
  }
  for (int i = 0; i < s.size; ++i) {
    result.on_a += s.weight[i] * s.a[i];
    result.on_b += s.weight[i] * s.b[i];
  }
  result.error = std::abs(result.distance - lower);
  return result;
}

Separation maximise_separation(const Convex& a, const Convex& b, const Vector3& start) {
  const double size = size_of(a, b), delta = 1e-3 * size;
  Separation best;
  best.normal = start;
  best.value = separation(a, b, start);
  best.on_a = support(a, -start);
  best.on_b = support(b, start);
  for (int iteration = 0; iteration < 40; ++iteration) {
    const double tau = std::max(0.0, delta - best.value);
    Convex moved = a;
    moved.x += tau * best.normal;
    const Distance apart = distance(moved, b, best.normal);
    if (!(apart.distance > 0.0)) break;
    const double value = separation(a, b, apart.normal);
    best.on_a = apart.on_a - tau * best.normal;
    best.on_b = apart.on_b;
    if (!(value > best.value + round_off * size)) break;
    best.value = value;
    best.normal = apart.normal;
    if (tau == 0.0) break;
  }
  return best;
}

}  // namespace stickslip
