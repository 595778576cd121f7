// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/set.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <sstream>

#include "stickslip/common/error.hpp"
#include "stickslip/common/plane_norm.hpp"
#include "stickslip/common/words.hpp"
#include "stickslip/laws/cone.hpp"
#include "stickslip/laws/disk.hpp"
#include "stickslip/laws/polygon.hpp"

namespace stickslip {
namespace {

constexpr Words<SetKind, 9> kSetKinds{
    "set", {"line", "interval", "half_line", "disk", "polygon", "box", "friction_cone", "polygonal_cone", "box_cone"}};

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::size_t max_size = 3;

double checked_limit(std::string_view set, std::string_view symbol, double value) {
  if (value >= 0.0 && value < infinity) return value;
  std::ostringstream message;
  message << set << ": " << symbol << " = " << value << " must be a finite number >= 0";
  throw InputError(message.str());
}

int checked_facets(std::string_view set, int facets) {
  if (facets >= 4 && facets % 2 == 0) return facets;
  std::ostringstream message;
  message << set << ": facets = " << facets << " must be an even number >= 4";
  throw InputError(message.str());
}

[[maybe_unused]] bool has_sizes(const Set& set, std::size_t a, std::size_t b) {
  const auto size = static_cast<std::size_t>(set.size);
  return a == size && b == size;
}

/// Section of the set at unit normal force, for the kinds that have polygonal ones.
Polygon polygon_of(const Set& set) {
  const bool box = set.kind == SetKind::box || set.kind == SetKind::box_cone;
  return box ? box_polygon(set.limit) : inscribed_polygon(set.limit, set.facets);
}

/// sup of r_T·u_T over the section of a cone at r_N = 1: μ σ_S(u_T).
double section_support(const Set& set, std::span<const double> u) {
  if (set.kind != SetKind::friction_cone) return polygon_support(polygon_of(set), u[1], u[2]);
  return set.limit * (set.size == 2 ? std::abs(u[1]) : plane_norm(u[1], u[2]));
}

double difference_norm(std::span<const double> a, std::span<const double> b) {
  double norm = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) norm = plane_norm(norm, a[i] - b[i]);
  return norm;
}

}  // namespace

Set line_set() { return {SetKind::line, 1, 0.0, 0}; }
Set interval_set(double c) { return {SetKind::interval, 1, checked_limit("interval", "limit", c), 0}; }
Set half_line_set() { return {SetKind::half_line, 1, 0.0, 0}; }
Set disk_set(double c) { return {SetKind::disk, 2, checked_limit("disk", "limit", c), 0}; }
Set polygon_set(double c, int facets) {
  return {SetKind::polygon, 2, checked_limit("polygon", "limit", c), checked_facets("polygon", facets)};
}
Set box_set(double c) { return {SetKind::box, 2, checked_limit("box", "limit", c), 0}; }
Set friction_cone_set(double mu, int size) {
  if (size != 2 && size != 3) {
    throw InputError("friction_cone: size = " + std::to_string(size) + " must be 2 or 3");
  }
  return {SetKind::friction_cone, size, checked_limit("friction_cone", "mu", mu), 0};
}
Set polygonal_cone_set(double mu, int facets) {
  return {SetKind::polygonal_cone, 3, checked_limit("polygonal_cone", "mu", mu),
          checked_facets("polygonal_cone", facets)};
}
Set box_cone_set(double mu) { return {SetKind::box_cone, 3, checked_limit("box_cone", "mu", mu), 0}; }

std::string_view to_string(SetKind kind) { return kSetKinds.of(kind); }

bool is_cone(SetKind kind) {
  return kind == SetKind::friction_cone || kind == SetKind::polygonal_cone || kind == SetKind::box_cone;
}

void project(const Set& set, std::span<const double> z, std::span<double> p) {
  assert(has_sizes(set, z.size(), p.size()));
  switch (set.kind) {
    case SetKind::line:
      p[0] = z[0];
      return;
    case SetKind::interval:
      p[0] = std::clamp(z[0], -set.limit, set.limit);
      return;
    // Not std::max: it would turn NaN into an admissible 0.
    case SetKind::half_line:
      p[0] = z[0] < 0.0 ? 0.0 : z[0];
      return;
    case SetKind::disk:
      return project_on_disk(set.limit, z.first<2>(), p.first<2>());
    case SetKind::polygon:
    case SetKind::box:
      return project_on_polygon(polygon_of(set), z.first<2>(), p.first<2>());
    case SetKind::friction_cone:
      return project_on_friction_cone(set.limit, z, p);
    case SetKind::polygonal_cone:
    case SetKind::box_cone:
      return project_on_polygonal_cone(polygon_of(set), z.first<3>(), p.first<3>());
  }
}

void projection_jacobian(const Set& set, std::span<const double> z, std::span<double> jacobian) {
  assert(has_sizes(set, z.size(), z.size()) && jacobian.size() == z.size() * z.size());
  switch (set.kind) {
    case SetKind::line:
      jacobian[0] = 1.0;
      return;
    case SetKind::interval:
      jacobian[0] = set.limit > 0.0 && std::abs(z[0]) <= set.limit ? 1.0 : 0.0;
      return;
    case SetKind::half_line:
      jacobian[0] = z[0] >= 0.0 ? 1.0 : 0.0;
      return;
    case SetKind::disk:
      return disk_jacobian(set.limit, z.first<2>(), jacobian.first<4>());
    case SetKind::polygon:
    case SetKind::box:
      return polygon_jacobian(polygon_of(set), z.first<2>(), jacobian.first<4>());
    case SetKind::friction_cone:
      return friction_cone_jacobian(set.limit, z, jacobian);
    case SetKind::polygonal_cone:
    case SetKind::box_cone:
      return polygonal_cone_jacobian(polygon_of(set), z.first<3>(), jacobian.first<9>());
  }
}

double support(const Set& set, std::span<const double> u) {
  assert(has_sizes(set, u.size(), u.size()));
  switch (set.kind) {
    case SetKind::line:
      return u[0] == 0.0 ? 0.0 : infinity;
    case SetKind::interval:
      return set.limit * std::abs(u[0]);
    case SetKind::half_line:
      return u[0] <= 0.0 ? 0.0 : infinity;
    case SetKind::disk:
      return set.limit * plane_norm(u[0], u[1]);
    case SetKind::polygon:
    case SetKind::box:
      return polygon_support(polygon_of(set), u[0], u[1]);
    case SetKind::friction_cone:
    case SetKind::polygonal_cone:
    case SetKind::box_cone:
      return u[0] + section_support(set, u) <= 0.0 ? 0.0 : infinity;
  }
  assert(false);
  return infinity;
}

double distance(const Set& set, std::span<const double> r) {
  std::array<double, max_size> memory{};
  const std::span<double> p = std::span<double>(memory).first(r.size());
  project(set, r, p);
  return difference_norm(r, p);
}

bool contains(const Set& set, std::span<const double> r, double tolerance) { return distance(set, r) <= tolerance; }

void shift(const Set& set, std::span<const double> u, std::span<double> s) {
  assert(has_sizes(set, u.size(), s.size()));
  const double normal = is_cone(set.kind) ? section_support(set, u) : 0.0;
  std::fill(s.begin(), s.end(), 0.0);
  s[0] = normal;
}

double normal_cone_residual(const Set& set, std::span<const double> r, std::span<const double> w) {
  assert(has_sizes(set, r.size(), w.size()));
  std::array<double, max_size> memory{};
  const std::span<double> p = std::span<double>(memory).first(r.size());
  for (std::size_t i = 0; i < r.size(); ++i) p[i] = r[i] + w[i];
  project(set, p, p);
  return difference_norm(r, p);
}

double inclusion_residual(const Set& set, std::span<const double> r, std::span<const double> u, double rho) {
  std::array<double, max_size> memory{};
  const std::span<double> w = std::span<double>(memory).first(u.size());
  shift(set, u, w);
  for (std::size_t i = 0; i < u.size(); ++i) w[i] = -rho * (u[i] + w[i]);
  return normal_cone_residual(set, r, w);
}

void project_in_metric(const Set& set, std::span<const double> metric, std::span<const double> z, std::span<double> p) {
  assert(has_sizes(set, z.size(), p.size()) && metric.size() == z.size() * z.size());
  assert(!is_cone(set.kind));
  if (set.size == 1) return project(set, z, p);
  const Metric g{metric[0], 0.5 * (metric[1] + metric[2]), metric[3]};
  if (set.kind == SetKind::disk) {
    project_on_disk_in_metric(set.limit, g, z.first<2>(), p.first<2>());
  } else {
    project_on_polygon_in_metric(polygon_of(set), g, z.first<2>(), p.first<2>());
  }
}

}  // namespace stickslip
