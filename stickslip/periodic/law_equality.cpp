// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/law_equality.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {

constexpr Words<LawForm, 3> kForms{"law", {"projection", "min", "max"}};

/// P(z) on a plane or line, its Jacobian and slope by the limit.
struct Projection {
  std::array<double, 2> value{};
  std::array<double, 4> by_z{};
  std::array<double, 2> by_c{};
};

Projection exact_projection(const Set& set, const double* z) {
  Projection p;
  const auto n = static_cast<std::size_t>(set.size);
  project(set, {z, n}, {p.value.data(), n});
  projection_jacobian(set, {z, n}, {p.by_z.data(), n * n});
  if (set.limit > 0) {  // P_c(z) = c P_1(z/c)
    for (std::size_t a = 0; a < n; ++a) {
      double Jz = 0;
      for (std::size_t b = 0; b < n; ++b) Jz += p.by_z[a * n + b] * z[b];
      p.by_c[a] = (p.value[a] - Jz) / set.limit;
    }
  } else {
    const double length = n == 1 ? std::abs(z[0]) : std::hypot(z[0], z[1]);
    for (std::size_t a = 0; a < n && length > 0; ++a) p.by_c[a] = z[a] / length;
  }
  return p;
}

/// c s(|z|/c) z/|z| over n components.
Projection smooth_ball(double c, int n, const double* z, double smoothing) {
  Projection p;
  if (!(c > 0)) return p;
  const double length = n == 1 ? std::abs(z[0]) : std::hypot(z[0], z[1]);
  const double y = length / c, up = std::hypot(y + 1, smoothing), low = std::hypot(y - 1, smoothing);
  const double s = 0.5 * (up - low), slope = 0.5 * ((y + 1) / up - (y - 1) / low);
  const double ratio = y > 0 ? s / y : slope;  // P = ratio z
  for (int a = 0; a < n; ++a) {
    p.value[a] = ratio * z[a];
    p.by_c[a] = length > 0 ? (s - slope * y) * z[a] / length : 0.0;
    for (int b = 0; b < n; ++b) {
      const double e = length > 0 ? z[a] * z[b] / (length * length) : 0.0;
      p.by_z[a * n + b] = slope * e + ratio * ((a == b ? 1.0 : 0.0) - e);
    }
  }
  return p;
}

Projection smooth_box(double c, const double* z, double smoothing) {
  Projection p;
  for (int a = 0; a < 2; ++a) {
    const Projection one = smooth_ball(c, 1, z + a, smoothing);
    p.value[a] = one.value[0];
    p.by_c[a] = one.by_c[0];
    p.by_z[a * 2 + a] = one.by_z[0];
  }
  return p;
}

Projection projection_on(const Set& set, const double* z, double smoothing) {
  if (smoothing == 0) return exact_projection(set, z);
  if (set.kind == SetKind::box) return smooth_box(set.limit, z, smoothing);
  return smooth_ball(set.limit, set.size, z, smoothing);
}

/// The paper's equality without direction.
LawEquality undirected(LawForm form, double c, double r, double u, double rho) {
  LawEquality e;
  const double a = rho * std::abs(u), b = c - std::abs(r);
  const bool slips = form == LawForm::min ? b <= a : a - b > 0;
  e.value[0] = slips ? b : a;
  if (slips) {
    e.by_r[0] = r < 0 ? 1 : -1;
    e.by_c[0] = 1;
  } else {
    e.by_u[0] = u < 0 ? -rho : rho;
  }
  return e;
}

}  // namespace

std::string_view to_string(LawForm form) { return kForms.of(form); }
LawForm law_form_from(std::string_view name) { return kForms.from(name); }

LawEquality friction_equality(LawForm form, const Set& set, const double* r, const double* u, double rho,
                              double smoothing) {
  if (form != LawForm::projection) return undirected(form, set.limit, r[0], u[0], rho);
  const int n = set.size;
  const double z[2] = {r[0] - rho * u[0], n > 1 ? r[1] - rho * u[1] : 0.0};
  const Projection p = projection_on(set, z, smoothing);
  LawEquality e;
  for (int a = 0; a < n; ++a) {
    e.value[a] = r[a] - p.value[a];
    e.by_c[a] = -p.by_c[a];
    for (int b = 0; b < n; ++b) {
      e.by_r[a * n + b] = (a == b ? 1.0 : 0.0) - p.by_z[a * n + b];
      e.by_u[a * n + b] = rho * p.by_z[a * n + b];
    }
  }
  return e;
}

LawEquality contact_equality(LawForm form, const Set& set, const double* r, const double* u, double gap, double rho_n,
                             double rho, double smoothing, double force) {
  LawEquality e;
  const int n = set.size;
  const double z = r[0] - rho_n * gap, corner = smoothing * force, root = std::hypot(z, corner);
  const double slope = smoothing > 0 ? 0.5 * (1 + z / root) : (z > 0 ? 1.0 : 0.0);
  e.value[0] = r[0] - (smoothing > 0 ? 0.5 * (z + root) : std::max(z, 0.0));
  e.by_r[0] = 1 - slope;
  e.by_gap[0] = rho_n * slope;
  if (n == 1) return e;
  const SetKind section = set.kind == SetKind::friction_cone ? (n == 2 ? SetKind::interval : SetKind::disk)
                          : set.kind == SetKind::box_cone    ? SetKind::box
                                                             : SetKind::polygon;
  const Set disk{section, n - 1, set.limit * std::max(r[0], 0.0), set.facets};
  const LawEquality t = friction_equality(form, disk, r + 1, u + 1, rho, smoothing);
  for (int a = 1; a < n; ++a) {
    e.value[a] = t.value[a - 1];
    e.by_r[a * n] = r[0] > 0 ? set.limit * t.by_c[a - 1] : 0.0;
    for (int b = 1; b < n; ++b) {
      e.by_r[a * n + b] = t.by_r[(a - 1) * (n - 1) + b - 1];
      e.by_u[a * n + b] = t.by_u[(a - 1) * (n - 1) + b - 1];
    }
  }
  return e;
}

}  // namespace stickslip
