// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/polygon.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

namespace stickslip {
namespace {

/// The direction at the angle 2πj/m, m even, folded to the first quadrant so that the symmetries are exact.
Facet direction(int m, int j) {
  j %= m;
  if (j < 0) j += m;
  if (2 * j >= m) {
    const Facet opposite = direction(m, j - m / 2);
    return {-opposite.n1, -opposite.n2};
  }
  if (j == 0) return {1.0, 0.0};
  if (4 * j == m) return {0.0, 1.0};
  if (4 * j > m) {
    const Facet mirrored = direction(m, m / 2 - j);
    return {-mirrored.n1, mirrored.n2};
  }
  const double angle = 2.0 * std::numbers::pi * j / m;
  return {std::cos(angle), std::sin(angle)};
}

/// Where z stands with respect to its facet: along the normal, and along the tangent.
struct LocalPoint {
  double normal;
  double tangential;
};

LocalPoint local(const Facet& f, double z1, double z2) { return {f.n1 * z1 + f.n2 * z2, f.n1 * z2 - f.n2 * z1}; }

void place(const Polygon& polygon, const Facet& f, double t, std::span<double, 2> p) {
  p[0] = polygon.apothem * f.n1 - t * f.n2;
  p[1] = polygon.apothem * f.n2 + t * f.n1;
}

}  // namespace

Polygon inscribed_polygon(double c, int facets) {
  assert(facets >= 4 && facets % 2 == 0);
  const double half_angle = std::numbers::pi / facets;
  return {facets, c * std::cos(half_angle), c * std::sin(half_angle), 1};
}

Polygon box_polygon(double c) { return {4, c, c, 0}; }

Facet facet(const Polygon& polygon, int k) {
  return direction(2 * polygon.facets, 2 * (k % polygon.facets) + polygon.first_normal);
}

Facet facet_towards(const Polygon& polygon, double z1, double z2) {
  const double turns = std::atan2(z2, z1) / (2.0 * std::numbers::pi);
  const double k = std::round(turns * polygon.facets - 0.5 * polygon.first_normal);
  return facet(polygon, std::isfinite(k) ? static_cast<int>(k) : 0);
}

void project_on_polygon(const Polygon& polygon, std::span<const double, 2> z, std::span<double, 2> p) {
  const double z1 = z[0], z2 = z[1];
  const Facet f = facet_towards(polygon, z1, z2);
  const LocalPoint at = local(f, z1, z2);
  if (at.normal <= polygon.apothem) {
    p[0] = z1;
    p[1] = z2;
  } else {
    place(polygon, f, std::clamp(at.tangential, -polygon.half_edge, polygon.half_edge), p);
  }
}

void polygon_jacobian(const Polygon& polygon, std::span<const double, 2> z, std::span<double, 4> jacobian) {
  std::fill(jacobian.begin(), jacobian.end(), 0.0);
  if (polygon.apothem == 0.0) return;
  const Facet f = facet_towards(polygon, z[0], z[1]);
  const LocalPoint at = local(f, z[0], z[1]);
  if (at.normal <= polygon.apothem) {
    jacobian[0] = jacobian[3] = 1.0;
  } else if (std::abs(at.tangential) <= polygon.half_edge) {
    jacobian[0] = f.n2 * f.n2;
    jacobian[1] = jacobian[2] = -f.n1 * f.n2;
    jacobian[3] = f.n1 * f.n1;
  }
}

double polygon_support(const Polygon& polygon, double u1, double u2) {
  const LocalPoint at = local(facet_towards(polygon, u1, u2), u1, u2);
  return polygon.apothem * at.normal + polygon.half_edge * std::abs(at.tangential);
}

void project_on_polygon_in_metric(const Polygon& polygon, const Metric& g, std::span<const double, 2> z,
                                  std::span<double, 2> p) {
  assert(!(g.g11 <= 0.0) && !(g.g22 <= 0.0));
  const double z1 = z[0], z2 = z[1];
  const LocalPoint nearest = local(facet_towards(polygon, z1, z2), z1, z2);
  if (nearest.normal <= polygon.apothem) {
    p[0] = z1;
    p[1] = z2;
    return;
  }
  const auto seen = [&](int k) { return local(facet(polygon, k), z1, z2).normal > polygon.apothem; };
  // Opposite facets are never both seen, so the chain is shorter than the polygon and both loops end.
  int k = 0;
  while (k < polygon.facets && (!seen(k) || seen(k - 1))) ++k;
  double t = 0.0;
  Facet f = facet(polygon, k);
  for (;; ++k) {
    f = facet(polygon, k);
    const double d1 = z1 - polygon.apothem * f.n1, d2 = z2 - polygon.apothem * f.n2;
    // G τ with τ = (-n2, n1)
    const double h1 = g.g12 * f.n1 - g.g11 * f.n2, h2 = g.g22 * f.n1 - g.g12 * f.n2;
    const double curvature = std::max(f.n1 * h2 - f.n2 * h1, std::numeric_limits<double>::min());
    t = (h1 * d1 + h2 * d2) / curvature;
    if (!(t > polygon.half_edge) || !seen(k + 1)) break;
  }
  place(polygon, f, std::clamp(t, -polygon.half_edge, polygon.half_edge), p);
}

}  // namespace stickslip
