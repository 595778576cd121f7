// SPDX-License-Identifier: Apache-2.0
#include "stickslip/laws/disk.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numbers>

namespace stickslip {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

/// G = Q diag(l1, l2) Qᵀ, Q = [cosine sine; -sine cosine] (one Jacobi rotation: exact for diagonal G, and accurate
/// for the small eigenvalue of a graded one).
struct Eigen2 {
  double cosine = 1.0;
  double sine = 0.0;
  double l1;
  double l2;
};

Eigen2 decompose(const Metric& g) {
  Eigen2 e{.l1 = g.g11, .l2 = g.g22};
  if (g.g12 != 0.0) {
    const double theta = (g.g22 - g.g11) / (2.0 * g.g12);
    const double t = std::copysign(1.0, theta) / (std::abs(theta) + std::hypot(1.0, theta));
    e.cosine = 1.0 / std::hypot(1.0, t);
    e.sine = t * e.cosine;
    e.l1 -= t * g.g12;
    e.l2 += t * g.g12;
  }
  return e;
}

/// Smallest ν >= 0 with Σ (a_i Y_i / (a_i + ν))² <= 1, for Y outside the unit disk and 0 < a_i <= 1.
double secular_root(double a1, double a2, double y1, double y2) {
  double lower = std::max({0.0, a1 * (y1 - 1.0), a2 * (y2 - 1.0)});
  double upper = std::max({0.0, a1 * (std::numbers::sqrt2 * y1 - 1.0), a2 * (std::numbers::sqrt2 * y2 - 1.0)});
  if (!std::isfinite(upper)) return upper;
  double nu = lower;
  // Measured over 2e6 random problems with condition up to 1e16: 1.6 evaluations on average, at most 17. The bound is
  // that of bisection.
  for (int iteration = 0; iteration < 128; ++iteration) {
    const double x1 = a1 * y1 / (a1 + nu);
    const double x2 = a2 * y2 / (a2 + nu);
    const double norm = std::hypot(x1, x2);
    if (std::abs(norm - 1.0) <= 2.0 * epsilon) break;
    (norm > 1.0 ? lower : upper) = nu;
    const double slope = x1 * x1 / (a1 + nu) + x2 * x2 / (a2 + nu);  // = norm³ · d(1/norm)/dν
    double next = nu + (norm - 1.0) * norm * norm / slope;
    if (!(next > lower && next < upper)) next = 0.5 * (lower + upper);
    if (next == nu || upper - lower <= epsilon * upper) break;
    nu = next;
  }
  return nu;
}

}  // namespace

void project_on_disk(double c, std::span<const double, 2> z, std::span<double, 2> p) {
  const double z1 = z[0], z2 = z[1];
  const double norm = std::hypot(z1, z2);
  const double factor = norm <= c ? 1.0 : c / norm;
  p[0] = factor * z1;
  p[1] = factor * z2;
}

void disk_jacobian(double c, std::span<const double, 2> z, std::span<double, 4> jacobian) {
  const double norm = std::hypot(z[0], z[1]);
  if (c == 0.0) {
    std::fill(jacobian.begin(), jacobian.end(), 0.0);
  } else if (norm <= c) {
    jacobian[0] = jacobian[3] = 1.0;
    jacobian[1] = jacobian[2] = 0.0;
  } else {
    const double e1 = z[0] / norm, e2 = z[1] / norm, factor = c / norm;
    jacobian[0] = factor * e2 * e2;
    jacobian[1] = jacobian[2] = -factor * e1 * e2;
    jacobian[3] = factor * e1 * e1;
  }
}

double project_on_disk_in_metric(double c, const Metric& g, std::span<const double, 2> z, std::span<double, 2> p) {
  assert(!(g.g11 <= 0.0) && !(g.g22 <= 0.0));
  const double z1 = z[0], z2 = z[1];
  if (std::hypot(z1, z2) <= c) {
    p[0] = z1;
    p[1] = z2;
    return 0.0;
  }
  if (c == 0.0 && !std::isnan(z1) && !std::isnan(z2)) {
    p[0] = p[1] = 0.0;
    return std::numeric_limits<double>::infinity();
  }
  const Eigen2 e = decompose(g);
  const double largest = std::max(e.l1, e.l2);
  // Rounding may push the small eigenvalue of an ill-conditioned G below zero; ε·λ_max is as good a value.
  const double a1 = std::max(e.l1 / largest, epsilon), a2 = std::max(e.l2 / largest, epsilon);
  const double y1 = e.cosine * z1 - e.sine * z2;
  const double y2 = e.sine * z1 + e.cosine * z2;
  const double nu = secular_root(a1, a2, std::abs(y1) / c, std::abs(y2) / c);
  // A limit so small that |z|/c overflows: p has the direction of its limit for ν → ∞, that of G z.
  const double x1 = std::isinf(nu) ? a1 * y1 : a1 * y1 / (a1 + nu);
  const double x2 = std::isinf(nu) ? a2 * y2 : a2 * y2 / (a2 + nu);
  const double factor = c / std::hypot(x1, x2);
  p[0] = factor * (e.cosine * x1 + e.sine * x2);
  p[1] = factor * (-e.sine * x1 + e.cosine * x2);
  return nu * largest;
}

}  // namespace stickslip
