// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/one_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/laws/polygon.hpp"
#include "stickslip/solvers/one_contact.hpp"

namespace stickslip {

namespace {

bool solve_scalar_law(const Set& set, double D, double q, double& r) {
  const double lo = set.kind == SetKind::line ? -HUGE_VAL : set.kind == SetKind::half_line ? 0.0 : -set.limit;
  const double hi = set.kind == SetKind::interval ? set.limit : HUGE_VAL;
  if (D > 0) {
    r = std::min(std::max(-q / D, lo), hi);
    return true;
  }
  if (q == 0) {
    r = std::min(std::max(r, lo), hi);
    return true;
  }
  const double wanted = q > 0 ? lo : hi;
  if (!std::isfinite(wanted)) return false;
  r = wanted;
  return true;
}

Polygon section_of(const Set& set) {
  const bool box = set.kind == SetKind::box || set.kind == SetKind::box_cone;
  return box ? box_polygon(set.limit) : inscribed_polygon(set.limit, set.facets);
}

/// Candidates compared by their natural map.
template <int N>
struct Candidates {
  const Set& set;
  const double* D;
  const double* q;
  double rho, best = HUGE_VAL;
  std::array<double, N> r{};

  Candidates(const Set& law, const double* block, const double* load) : set(law), D(block), q(load) {
    double norm = 0, force = 0;
    for (int i = 0; i < N * N; ++i) norm = std::max(norm, std::abs(D[i]));
    for (int i = 0; i < N; ++i) force = std::max(force, std::abs(q[i]));
    rho = norm > 0 ? 1 / norm : force > 0 ? std::max(law.limit, 1e-300) / force : 1.0;
  }
  /// True as soon as nothing better can be found.
  bool consider(std::array<double, N> x) {
    project(set, x, x);
    std::array<double, N> u;
    double size = 0;
    for (int i = 0; i < N; ++i) {
      u[i] = q[i];
      for (int j = 0; j < N; ++j) u[i] += D[i * N + j] * x[j];
      if (!std::isfinite(u[i])) return false;
      size = std::max({size, std::abs(x[i]), rho * std::abs(q[i])});
    }
    const double e = inclusion_residual(set, x, u, rho);
    if (const double relative = size > 0 ? e / size : e; relative < best) {
      best = relative;
      r = x;
    }
    return best <= 4e-16;
  }
};

/// x solving a x = b in 2 unknowns: the shortest solution where a is singular.
std::array<double, 2> solve_two(double a11, double a12, double a21, double a22, double b1, double b2) {
  const double det = a11 * a22 - a12 * a21;
  if (std::abs(det) > 1e-14 * (std::abs(a11 * a22) + std::abs(a12 * a21)))
    return {(a22 * b1 - a12 * b2) / det, (a11 * b2 - a21 * b1) / det};
  const double first = a11 * a11 + a12 * a12, second = a21 * a21 + a22 * a22;
  if (first == 0 && second == 0) return {0, 0};
  return first >= second ? std::array{b1 * a11 / first, b1 * a12 / first}
                         : std::array{b2 * a21 / second, b2 * a22 / second};
}

bool solve_polygon(const Set& set, const double* D, const double* q, double* r) {
  Candidates<2> candidates(set, D, q);
  const auto finish = [&] {
    r[0] = candidates.r[0];
    r[1] = candidates.r[1];
    return true;  // C is bounded: there is always a solution
  };
  const std::array<double, 2> stick = solve_two(D[0], D[1], D[2], D[3], -q[0], -q[1]);
  if (candidates.consider(stick) || candidates.consider({r[0], r[1]})) return finish();
  const Polygon section = section_of(set);
  for (int k = 0; k < section.facets; ++k) {
    const Facet f = facet(section, k);
    const double a1 = section.apothem * f.n1, a2 = section.apothem * f.n2;
    const double Dt1 = -D[0] * f.n2 + D[1] * f.n1, Dt2 = -D[2] * f.n2 + D[3] * f.n1;  // D τ
    const double curvature = -f.n2 * Dt1 + f.n1 * Dt2;
    const double slope = -f.n2 * (q[0] + D[0] * a1 + D[1] * a2) + f.n1 * (q[1] + D[2] * a1 + D[3] * a2);
    const double t = curvature != 0 ? std::clamp(-slope / curvature, -section.half_edge, section.half_edge) : 0.0;
    for (const double place : {t, section.half_edge, -section.half_edge})
      if (candidates.consider({a1 - place * f.n2, a2 + place * f.n1})) return finish();
  }
  return finish();
}

bool solve_polygonal_cone(const Set& set, const double* D, const double* q, double* r) {
  if (q[0] >= 0) {
    std::fill_n(r, 3, 0.0);
    return true;
  }
  Candidates<3> candidates(set, D, q);
  const auto finish = [&] {
    if (!(candidates.best <= 1e-9)) {
      std::fill_n(r, 3, 0.0);
      return false;
    }
    std::copy(candidates.r.begin(), candidates.r.end(), r);
    return true;
  };
  if (D[0] > 0) {  // stick, by the Schur complement of the normal component
    const double tn1 = D[3] / D[0], tn2 = D[6] / D[0];
    const auto [x1, x2] = solve_two(D[4] - tn1 * D[1], D[5] - tn1 * D[2], D[7] - tn2 * D[1], D[8] - tn2 * D[2],
                                    -(q[1] - tn1 * q[0]), -(q[2] - tn2 * q[0]));
    if (candidates.consider({-(q[0] + D[1] * x1 + D[2] * x2) / D[0], x1, x2})) return finish();
  }
  const Polygon section = section_of(set);
  for (int k = 0; k < section.facets; ++k) {
    // r = n (1, α ν) + t (0, τ): u_N = 0 and u_τ = 0 on the facet, t = ±β n on its edges.
    const Facet f = facet(section, k);
    const double ray[3] = {1, section.apothem * f.n1, section.apothem * f.n2}, turn[3] = {0, -f.n2, f.n1};
    double Dr[3], Dt[3];
    for (int i = 0; i < 3; ++i) {
      Dr[i] = D[3 * i] * ray[0] + D[3 * i + 1] * ray[1] + D[3 * i + 2] * ray[2];
      Dt[i] = D[3 * i + 1] * turn[1] + D[3 * i + 2] * turn[2];
    }
    const auto [n, t] = solve_two(Dr[0], Dt[0], turn[1] * Dr[1] + turn[2] * Dr[2], turn[1] * Dt[1] + turn[2] * Dt[2],
                                  -q[0], -(turn[1] * q[1] + turn[2] * q[2]));
    if (n > 0 && std::abs(t) <= section.half_edge * n &&
        candidates.consider({n, n * ray[1] + t * turn[1], n * ray[2] + t * turn[2]}))
      return finish();
    for (const double edge : {section.half_edge, -section.half_edge}) {
      const double height = -q[0] / (Dr[0] + edge * Dt[0]);
      if (height > 0 &&
          candidates.consider({height, height * (ray[1] + edge * turn[1]), height * (ray[2] + edge * turn[2])}))
        return finish();
    }
  }
  return finish();
}

bool solve_in_metric_or_secular(const Set& set, const double* D, const double* q, double* r) {
  const double determinant = D[0] * D[3] - D[1] * D[2];
  if (D[0] > 0 && determinant > 1e-14 * D[0] * D[3] && std::abs(D[1] - D[2]) <= 1e-12 * D[0]) {
    const double off = 0.5 * (D[1] + D[2]);
    const std::array<double, 4> metric{D[0], off, off, D[3]};
    const std::array<double, 2> z{-(D[3] * q[0] - D[1] * q[1]) / determinant,
                                  -(D[0] * q[1] - D[2] * q[0]) / determinant};
    project_in_metric(set, metric, z, {r, 2});
  } else {
    solve_disk_friction(set.limit, D, q, r);
  }
  return true;
}

}  // namespace

bool solve_one_law(const Set& set, const double* D, const double* q, double* r) {
  switch (set.kind) {
    case SetKind::line:
    case SetKind::interval:
    case SetKind::half_line:
      return solve_scalar_law(set, D[0], q[0], r[0]);
    case SetKind::disk:
      return solve_in_metric_or_secular(set, D, q, r);
    case SetKind::polygon:
    case SetKind::box: {
      const double determinant = D[0] * D[3] - D[1] * D[2];
      if (D[0] > 0 && determinant > 1e-14 * D[0] * D[3] && std::abs(D[1] - D[2]) <= 1e-12 * D[0])
        return solve_in_metric_or_secular(set, D, q, r);  // the metric projection takes polygons as well
      return solve_polygon(set, D, q, r);
    }
    case SetKind::friction_cone:
      if (set.size == 2) return solve_planar_contact(set.limit, D, q, r) != ContactState::none;
      {
        double l = 0;
        return solve_contact(contact_block(set.limit, D), q, r, l) != ContactState::none;
      }
    case SetKind::polygonal_cone:
    case SetKind::box_cone:
      return solve_polygonal_cone(set, D, q, r);
  }
  return false;
}

}  // namespace stickslip
