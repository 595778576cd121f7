// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/one_law.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/laws/polygon.hpp"
#include "stickslip/solvers/law_candidates.hpp"
#include "stickslip/solvers/one_contact.hpp"

namespace stickslip {

namespace {

// All relative: to products of entries, to the diagonal, to the natural map's own size.
constexpr double kSingular = 1e-14;   // determinant
constexpr double kSymmetric = 1e-12;  // difference of the off-diagonal entries
constexpr double kExact = 4e-16;      // natural map: nothing better can be found
constexpr double kSolved = 1e-9;      // natural map: an ill-conditioned block loses digits in the enumeration

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

/// A multiplier of the natural map that has the unit of r/u, whatever D is. (Where C = {0} any will do.)
template <int N>
double weight(const Set& set, const double* D, const double* q) {
  if (const double largest = largest_entry<N>(D); largest > 0) return 1 / largest;
  double load = 0;
  for (int i = 0; i < N; ++i) load = std::max(load, std::abs(q[i]));
  if (!(load > 0)) return 1;
  return (set.limit > 0 ? set.limit : 1) / load;
}

template <int N>
LawCandidates<N> candidates_for(const Set& set, const double* D, const double* q) {
  return {set, D, q, weight<N>(set, D, q)};
}

/// x solving a x = b in 2 unknowns: the shortest solution where a is singular.
std::array<double, 2> solve_two(double a11, double a12, double a21, double a22, double b1, double b2) {
  const double det = a11 * a22 - a12 * a21;
  if (std::abs(det) > kSingular * (std::abs(a11 * a22) + std::abs(a12 * a21)))
    return {(a22 * b1 - a12 * b2) / det, (a11 * b2 - a21 * b1) / det};
  const double first = a11 * a11 + a12 * a12, second = a21 * a21 + a22 * a22;
  if (first == 0 && second == 0) return {0, 0};
  return first >= second ? std::array{b1 * a11 / first, b1 * a12 / first}
                         : std::array{b2 * a21 / second, b2 * a22 / second};
}

bool solve_polygon(const Set& set, const double* D, const double* q, double* r) {
  LawCandidates<2> candidates = candidates_for<2>(set, D, q);
  const auto settles = [&](double r1, double r2) {
    candidates.consider({r1, r2});
    return candidates.residual <= kExact;
  };
  const auto finish = [&] {
    r[0] = candidates.r[0];
    r[1] = candidates.r[1];
    return true;  // C is bounded: there is always a solution
  };
  const std::array<double, 2> stick = solve_two(D[0], D[1], D[2], D[3], -q[0], -q[1]);
  if (settles(stick[0], stick[1]) || settles(r[0], r[1])) return finish();
  const Polygon section = section_of(set);
  for (int k = 0; k < section.facets; ++k) {
    const Facet f = facet(section, k);
    const double a1 = section.apothem * f.n1, a2 = section.apothem * f.n2;
    const double Dt1 = -D[0] * f.n2 + D[1] * f.n1, Dt2 = -D[2] * f.n2 + D[3] * f.n1;  // D τ
    const double curvature = -f.n2 * Dt1 + f.n1 * Dt2;
    const double slope = -f.n2 * (q[0] + D[0] * a1 + D[1] * a2) + f.n1 * (q[1] + D[2] * a1 + D[3] * a2);
    const double t = curvature != 0 ? std::clamp(-slope / curvature, -section.half_edge, section.half_edge) : 0.0;
    for (const double place : {t, section.half_edge, -section.half_edge})
      if (settles(a1 - place * f.n2, a2 + place * f.n1)) return finish();
  }
  return finish();
}

bool solve_polygonal_cone(const Set& set, const double* D, const double* q, double* r) {
  if (q[0] >= 0) {
    std::fill_n(r, 3, 0.0);
    return true;
  }
  LawCandidates<3> candidates = candidates_for<3>(set, D, q);
  const auto settles = [&](double n, double t1, double t2) {
    candidates.consider({n, t1, t2});
    return candidates.residual <= kExact;
  };
  const auto finish = [&] {
    if (!(candidates.residual <= kSolved)) {
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
    if (settles(-(q[0] + D[1] * x1 + D[2] * x2) / D[0], x1, x2)) return finish();
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
    if (n > 0 && std::abs(t) <= section.half_edge * n && settles(n, n * ray[1] + t * turn[1], n * ray[2] + t * turn[2]))
      return finish();
    for (const double edge : {section.half_edge, -section.half_edge}) {
      const double height = -q[0] / (Dr[0] + edge * Dt[0]);
      if (height > 0 && settles(height, height * (ray[1] + edge * turn[1]), height * (ray[2] + edge * turn[2])))
        return finish();
    }
  }
  return finish();
}

/// Symmetric and positive definite by a margin: the law is then a projection in the metric of D.
bool is_metric(const double* D) {
  return D[0] > 0 && D[0] * D[3] - D[1] * D[2] > kSingular * D[0] * D[3] && std::abs(D[1] - D[2]) <= kSymmetric * D[0];
}

bool solve_in_metric(const Set& set, const double* D, const double* q, double* r) {
  const double determinant = D[0] * D[3] - D[1] * D[2], off = 0.5 * (D[1] + D[2]);
  const std::array<double, 4> metric{D[0], off, off, D[3]};
  const std::array<double, 2> z{-(D[3] * q[0] - D[1] * q[1]) / determinant, -(D[0] * q[1] - D[2] * q[0]) / determinant};
  project_in_metric(set, metric, z, {r, 2});
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
      if (is_metric(D)) return solve_in_metric(set, D, q, r);
      solve_disk_friction(set.limit, D, q, r);
      return true;
    case SetKind::polygon:
    case SetKind::box:
      return is_metric(D) ? solve_in_metric(set, D, q, r) : solve_polygon(set, D, q, r);
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
