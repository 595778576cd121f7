// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/smooth_force.hpp"

#include <cmath>

#include "stickslip/laws/weakening.hpp"

namespace stickslip {

SmoothForce smooth_force(const FrictionElement& law, double c, const Vector& u) {
  SmoothForce s;
  const auto n = static_cast<std::size_t>(law.size());
  const double length = n == 1 ? std::abs(u[0]) : std::hypot(u[0], u[1]);
  const double gamma = weakening(law.weakening, length), slope = weakening_slope(law.weakening, length);
  const double ratio = length > 0 ? gamma / length : slope;
  for (std::size_t a = 0; a < n; ++a) {
    const double u_a = u[static_cast<Index>(a)];
    s.value[a] = c * ratio * u_a - law.viscous * u_a;
    s.by_c[a] = ratio * u_a;
    for (std::size_t b = 0; b < n; ++b) {
      const double e = length > 0 ? u_a * u[static_cast<Index>(b)] / (length * length) : (n == 1 ? 1.0 : 0.0);
      const double one = a == b ? 1.0 : 0.0;
      s.by_u[a * n + b] = c * (slope * e + ratio * (one - e)) - law.viscous * one;
    }
  }
  return s;
}

}  // namespace stickslip
