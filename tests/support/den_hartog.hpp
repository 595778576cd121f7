// SPDX-License-Identifier: Apache-2.0
// Den Hartog's closed form of the forced oscillator with dry friction, x'' + x + f sgn x' = cos bt (J.P. Den Hartog,
// Transactions of the ASME 53, 1931): motion without stops, and with two stops per period.
//
//   V = 1/(1 - b²), U = tan(π/2b)/b
//   no stop     X = √(V² - f² U²), valid iff X > f max over 0 < t < π/b of [sin t + b U (cos bt - cos t)]/(b sin bt)
//   two stops   c = X - f, φ = arccos c, C = -V b² c, S = V b sin φ; unknowns (X, t1), t1 <= π/b:
//               f + V cos(b t1 + φ) + C cos t1 + S sin t1 = -X,   -V b sin(b t1 + φ) - C sin t1 + S cos t1 = 0
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

namespace stickslip {

struct DenHartog {
  double X = 0;  ///< amplitude over P/k
  double stick_fraction = 0;
};

/// Nothing where the motion has more than two stops per period.
inline std::optional<DenHartog> den_hartog(double b, double f) {
  const double V = 1 / (1 - b * b), U = std::tan(M_PI / (2 * b)) / b;
  const double square = V * V - f * f * U * U;
  if (square > 0) {
    const double X = std::sqrt(square);
    double bound = 1 / (b * b);
    for (int k = 1; k < 1000; ++k) {
      const double t = M_PI / b * k / 1000;
      bound = std::max(bound, (std::sin(t) + b * U * (std::cos(b * t) - std::cos(t))) / (b * std::sin(b * t)));
    }
    if (X > f * bound) return DenHartog{X, 0};
  }
  // Two stops: for each X the first stop t1 after the start, and whether the motion has come to -X there.
  const auto motion = [&](double X, double t, int p) {
    const double c = X - f, phi = std::acos(c), C = -V * b * b * c, S = V * b * std::sin(phi);
    return p == 0 ? f + V * std::cos(b * t + phi) + C * std::cos(t) + S * std::sin(t)
                  : -V * b * std::sin(b * t + phi) - C * std::sin(t) + S * std::cos(t);
  };
  const auto stop = [&](double X) -> double {
    constexpr int kSteps = 300;
    const double h = M_PI / b / kSteps;
    if (!(motion(X, h, 1) < 0)) return -1;  // it must leave +X downwards
    for (int k = 1; k < kSteps; ++k) {
      if (!(motion(X, k * h, 1) < 0 && motion(X, (k + 1) * h, 1) >= 0)) continue;
      double low = k * h, high = (k + 1) * h;
      for (int i = 0; i < 100; ++i) (motion(X, 0.5 * (low + high), 1) < 0 ? low : high) = 0.5 * (low + high);
      return 0.5 * (low + high);
    }
    return -1;
  };
  const auto miss = [&](double X) {
    const double t1 = stop(X);
    return t1 < 0 ? NAN : motion(X, t1, 0) + X;
  };
  constexpr int kSteps = 150;
  double last_X = 0, last = NAN;
  for (int k = 1; k < kSteps; ++k) {
    const double X = std::max(f - 1, 0.0) + (1 + f - std::max(f - 1, 0.0)) * k / kSteps, value = miss(X);
    if (std::isfinite(last) && std::isfinite(value) && (last > 0) != (value > 0)) {
      double low = last_X, high = X;
      for (int i = 0; i < 100; ++i) ((miss(0.5 * (low + high)) > 0) == (last > 0) ? low : high) = 0.5 * (low + high);
      const double X_found = 0.5 * (low + high), phi = std::acos(X_found - f), t1 = stop(X_found);
      // The first stop may jump with X: a change of sign there is no solution. After it friction holds the mass at -X
      // until the next half period.
      bool held = t1 > 0 && std::abs(miss(X_found)) < 1e-9;
      for (int i = 0; held && i < 100; ++i) {
        const double t = t1 + (M_PI / b - t1) * i / 100;
        held = std::abs(std::cos(b * t + phi) + X_found) <= f * (1 + 1e-9);
      }
      if (held) return DenHartog{X_found, 1 - t1 * b / M_PI};
    }
    last = value, last_X = X;
  }
  return std::nullopt;
}

}  // namespace stickslip
