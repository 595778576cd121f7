// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/friction_section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/laws/disk.hpp"

namespace stickslip {

namespace {

constexpr double kTurn = 1e-12;  // sine of the angle between neighbouring facets: below it they are parallel

double cross(const PlaneForce& a, const PlaneForce& b) { return a[0] * b[1] - a[1] * b[0]; }
double dot(const PlaneForce& a, const PlaneForce& b) { return a[0] * b[0] + a[1] * b[1]; }
PlaneForce minus(const PlaneForce& a, const PlaneForce& b) { return {a[0] - b[0], a[1] - b[1]}; }

/// Corners of the convex hull, counter-clockwise (monotone chain): {l : a_k·l <= 1} is the polar of the hull of the
/// a_k, so its facets are the corners of that hull.
std::vector<PlaneForce> hull_of(std::vector<PlaneForce> points) {
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  std::vector<PlaneForce> hull;
  const auto add_chain = [&](auto first, auto last) {
    const std::size_t base = hull.size();
    for (auto p = first; p != last; ++p) {
      while (hull.size() >= base + 2 && cross(minus(hull.back(), hull[hull.size() - 2]), minus(*p, hull.back())) <= 0)
        hull.pop_back();
      hull.push_back(*p);
    }
    hull.pop_back();
  };
  add_chain(points.begin(), points.end());
  add_chain(points.rbegin(), points.rend());
  return hull;
}

}  // namespace

FrictionSection FrictionSection::from_rows(std::span<const PlaneForce> rows) {
  for (const PlaneForce& a : rows)
    if (!std::isfinite(a[0]) || !std::isfinite(a[1]) || (a[0] == 0 && a[1] == 0))
      throw InputError(fmt::format("the facet row [{:g}, {:g}] is no direction", a[0], a[1]));
  if (rows.size() < 3) throw InputError(fmt::format("a polygon needs at least 3 facets, not {}", rows.size()));
  auto polygon = std::make_shared<Polygon>();
  polygon->rows = hull_of({rows.begin(), rows.end()});
  const std::size_t n = polygon->rows.size();
  for (std::size_t k = 0; k < n; ++k) {
    const PlaneForce &a = polygon->rows[k], &b = polygon->rows[(k + 1) % n];
    // The origin must lie strictly inside the hull: to the left of every edge, beyond round-off.
    const double turn = cross(a, b);
    if (n < 3 || !(turn > kTurn * std::sqrt(dot(a, a) * dot(b, b))))
      throw InputError(
          "the facets leave some direction without a bound (the polygon a f_1 + b f_2 <= 1 is not bounded around the "
          "origin); add rows that face the other way");
    polygon->vertices.push_back({(b[1] - a[1]) / turn, (a[0] - b[0]) / turn});
  }
  FrictionSection section;
  section.polygon_ = std::move(polygon);
  return section;
}

FrictionSection FrictionSection::regular(int facets, bool circumscribed, double angle) {
  if (facets < 3) throw InputError(fmt::format("a polygon needs at least 3 facets, not {}", facets));
  if (!std::isfinite(angle)) throw InputError(fmt::format("the angle {} of the first facet must be finite", angle));
  const double length = circumscribed ? 1.0 : 1.0 / std::cos(std::numbers::pi / facets);
  std::vector<PlaneForce> rows;
  for (int k = 0; k < facets; ++k) {
    const double at = std::remainder(angle, 2 * std::numbers::pi) + 2 * std::numbers::pi * k / facets;
    rows.push_back({length * std::cos(at), length * std::sin(at)});
  }
  return from_rows(rows);
}

SectionPiece FrictionSection::project(double rho, const Metric& G, const PlaneForce& z, PlaneForce& l) const {
  if (polygon_) return project_on_polygon(rho, G, z, l);
  const double norm = std::hypot(z[0], z[1]);
  if (norm <= rho) {
    l = z;
    return {};
  }
  const double nu = project_on_disk_in_metric(rho, G, z, l);
  return {SectionPiece::Kind::rim, -1, nu};
}

/// Walks the chain of facets that z sees, counter-clockwise: along it the distance from z falls and then rises. Slopes
/// are compared, not distances, which would lose half of the digits.
SectionPiece FrictionSection::project_on_polygon(double rho, const Metric& G, const PlaneForce& z,
                                                 PlaneForce& l) const {
  const int n = facets();
  const auto seen = [&](int k) { return dot(row(k), z) > rho; };
  int k = 0;
  while (k < n && !(seen(k) && !seen(k == 0 ? n - 1 : k - 1))) ++k;
  if (k == n) {
    l = z;
    return {};
  }
  const auto at_vertex = [&](int index) {
    l = {rho * vertex(index)[0], rho * vertex(index)[1]};
    return SectionPiece{SectionPiece::Kind::vertex, index, 0};
  };
  for (;; k = (k + 1) % n) {
    const int before = k == 0 ? n - 1 : k - 1;
    const PlaneForce &from = vertex(before), &to = vertex(k);
    const PlaneForce d = minus(to, from);
    const PlaneForce Gd = {G.g11 * d[0] + G.g12 * d[1], G.g12 * d[0] + G.g22 * d[1]};
    const PlaneForce away = {z[0] - rho * from[0], z[1] - rho * from[1]};
    const double along = dot(Gd, away), length = rho * dot(Gd, d);  // t = along/length over the facet
    if (along < 0) return at_vertex(before);
    if (along <= length && length > 0) {
      const double t = rho * along / length;
      l = {rho * from[0] + t * d[0], rho * from[1] + t * d[1]};
      return {SectionPiece::Kind::facet, k, 0};
    }
    if (!seen((k + 1) % n)) return at_vertex(k);
  }
}

double FrictionSection::excess(double rho, const PlaneForce& l) const {
  if (round()) return std::max(0.0, std::hypot(l[0], l[1]) - rho);
  double largest = 0;
  for (const PlaneForce& a : polygon_->rows) largest = std::max(largest, (dot(a, l) - rho) / std::hypot(a[0], a[1]));
  return largest;
}

SectionPiece project_on_interval(double rho, double z, double& l) {
  l = std::clamp(z, -rho, rho);
  if (std::abs(z) <= rho) return {};
  return {SectionPiece::Kind::vertex, z > 0 ? 0 : 1, 0};
}

}  // namespace stickslip
