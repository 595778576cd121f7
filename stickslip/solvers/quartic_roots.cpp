// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/quartic_roots.hpp"

#include <algorithm>

namespace stickslip {

namespace {

constexpr int kHalvings = 80;            // of an interval within [0, 1]: down to the last bit of a root above 2⁻²⁷
constexpr double kNearInfinity = 1e-12;  // of a root's inverse, over that of `scale`: leading coefficients of round-off

double value(const Quartic& p, double x) { return (((p[4] * x + p[3]) * x + p[2]) * x + p[1]) * x + p[0]; }

void roots_between_0_and_1(const Quartic& p, RootList& roots) {
  std::array<double, 8> knots{0.0, 1.0};
  int count = 2;
  for (int degree = 1; degree <= 4; ++degree) {
    Quartic d = p;  // derivative of order 4 - degree
    for (int order = degree; order < 4; ++order) {
      for (int i = 0; i < 4; ++i) d[i] = (i + 1) * d[i + 1];
      d[4] = 0;
    }
    std::array<double, 8> next{0.0};
    int found = 1;
    for (int k = 0; k + 1 < count; ++k) {
      double a = knots[k], b = knots[k + 1], fa = value(d, a);
      if ((fa > 0) == (value(d, b) > 0)) continue;
      for (int step = 0; step < kHalvings && b - a > 0; ++step) {
        const double middle = 0.5 * (a + b), fm = value(d, middle);
        if (middle == a || middle == b) break;
        ((fm > 0) == (fa > 0) ? a : b) = middle;
      }
      next[found++] = 0.5 * (a + b);
    }
    next[found++] = 1.0;
    knots = next;
    count = found;
    for (int k = 0; k < count; ++k) roots.add(knots[k]);
  }
}

}  // namespace

Quartic product(const Quartic& a, const Quartic& b) {
  Quartic c{};
  for (int i = 0; i <= 4; ++i)
    for (int j = 0; i + j <= 4; ++j) c[i + j] += a[i] * b[j];
  return c;
}

void positive_roots(Quartic p, double scale, RootList& roots) {
  double power = 1;
  for (double& c : p) {
    c *= power;
    power *= scale;
  }
  RootList low, high;
  roots_between_0_and_1(p, low);
  std::reverse(p.begin(), p.end());
  roots_between_0_and_1(p, high);
  for (int k = 0; k < low.count; ++k) roots.add(scale * low.at[k]);
  for (int k = 0; k < high.count; ++k)
    if (high.at[k] > kNearInfinity) roots.add(scale / high.at[k]);
}

}  // namespace stickslip
