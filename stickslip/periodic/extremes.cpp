// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace stickslip {

namespace {

void widen(Orbit& orbit, Index i, double q) {
  orbit.minimum[i] = std::min(orbit.minimum[i], q);
  orbit.maximum[i] = std::max(orbit.maximum[i], q);
}

/// The angle between a and b at which the rate of the function, va and vb there, is 0: regula falsi (Illinois).
double turning_angle(const AngleFunction& value, const Vector& x, double a, double va, double b, double vb) {
  constexpr int kMost = 40;
  constexpr double kTurned = 1e-10;  // of the rates at the ends: the value then changes by less than round-off
  const double small = kTurned * std::abs(va - vb);
  double angle = b;
  for (int k = 0; k < kMost; ++k) {
    angle = a - va * (b - a) / (vb - va);
    if (!(angle > a && angle < b)) angle = 0.5 * (a + b);
    const double v = value(x, 1, angle);
    if (std::abs(v) <= small) break;
    if ((v > 0) == (va > 0)) {
      a = angle, va = v, vb *= 0.5;
    } else {
      b = angle, vb = v, va *= 0.5;
    }
  }
  return angle;
}

bool has_rates(const Orbit& orbit) { return !orbit.q.empty() && orbit.q[0].size() == orbit.v[0].size(); }

}  // namespace

void locate_extremes(const AngleFunction& value, const DenseMatrix& coefficients, double first, Orbit& orbit) {
  if (!has_rates(orbit)) return;
  const std::size_t rows = orbit.t.size();
  const double step = 2 * std::numbers::pi / static_cast<double>(rows), rate = orbit.period / (2 * std::numbers::pi);
  for (Index i = 0; i < coefficients.rows(); ++i) {
    const Vector x = coefficients.row(i).transpose();
    for (std::size_t j = 0; j < rows; ++j) {
      const double va = rate * orbit.v[j][i], vb = rate * orbit.v[(j + 1) % rows][i];
      if (!(va * vb < 0)) continue;
      const double a = first + step * static_cast<double>(j);
      widen(orbit, i, value(x, 0, turning_angle(value, x, a, va, a + step, vb)));
    }
  }
}

void refine_extremes(Orbit& orbit) {
  if (!has_rates(orbit)) return;
  const std::size_t rows = orbit.t.size();
  for (std::size_t j = 0; j < rows; ++j) {
    const std::size_t k = (j + 1) % rows;
    const double h = (k == 0 ? orbit.t[0] + orbit.period : orbit.t[k]) - orbit.t[j];
    for (Index i = 0; i < orbit.q[0].size() && h > 0; ++i) {
      const double q0 = orbit.q[j][i], q1 = orbit.q[k][i], v0 = h * orbit.v[j][i], v1 = h * orbit.v[k][i];
      if (!(v0 * v1 < 0)) continue;
      // q = q0 + v0 s + b s² + a s³, q' = 0: the root between the rows.
      const double a = v0 + v1 - 2 * (q1 - q0), b = 3 * (q1 - q0) - 2 * v0 - v1;
      const double root = std::sqrt(std::max(b * b - 3 * a * v0, 0.0)), w = -b - (b >= 0 ? root : -root);
      for (const double s : {w / (3 * a), v0 / w}) {
        if (!(s >= 0 && s <= 1)) continue;
        widen(orbit, i, q0 + s * (v0 + s * (b + s * a)));
      }
    }
  }
}

}  // namespace stickslip
