// SPDX-License-Identifier: Apache-2.0
// Bracketed root finding: f(a) and f(b) of opposite sign (or zero), f evaluated as rarely as possible.
//
// Method: the secant/inverse-quadratic/bisection combination of Brent (Algorithms for Minimization without
// Derivatives, 1973, chapter 4). The bracket never widens, so the root is found for any continuous f.
#pragma once

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace stickslip {

struct Root {
  double x = 0;
  double value = 0;     ///< f(x)
  int evaluations = 0;  ///< calls of f, without the two at the ends
};

/// fa = f(a), fb = f(b) with fa*fb <= 0. Stops when the bracket is below tolerance + 4 ε |x| or f(x) = 0.
template <class F>
Root find_root(F&& f, double a, double fa, double b, double fb, double tolerance, int max_evaluations = 200) {
  assert(!(fa > 0 && fb > 0) && !(fa < 0 && fb < 0));
  if (std::abs(fa) < std::abs(fb)) {
    std::swap(a, b);
    std::swap(fa, fb);
  }
  double c = a, fc = fa, step = b - a, previous_step = step;
  int evaluations = 0;
  while (evaluations < max_evaluations && fb != 0.0) {
    if ((fb > 0) == (fc > 0)) {
      c = a;
      fc = fa;
      step = previous_step = b - a;
    }
    if (std::abs(fc) < std::abs(fb)) {
      a = b;
      b = c;
      c = a;
      fa = fb;
      fb = fc;
      fc = fa;
    }
    const double smallest = 2 * std::numeric_limits<double>::epsilon() * std::abs(b) + 0.5 * tolerance;
    const double half = 0.5 * (c - b);
    if (std::abs(half) <= smallest) break;
    if (std::abs(previous_step) >= smallest && std::abs(fa) > std::abs(fb)) {
      const double s = fb / fa;
      double p, q;
      if (a == c) {
        p = 2 * half * s;
        q = 1 - s;
      } else {
        const double r = fb / fc, w = fa / fc;
        p = s * (2 * half * w * (w - r) - (b - a) * (r - 1));
        q = (w - 1) * (r - 1) * (s - 1);
      }
      if (p > 0) q = -q;
      p = std::abs(p);
      if (2 * p < std::min(3 * half * q - std::abs(smallest * q), std::abs(previous_step * q))) {
        previous_step = step;
        step = p / q;
      } else {
        step = previous_step = half;
      }
    } else {
      step = previous_step = half;
    }
    a = b;
    fa = fb;
    b += std::abs(step) > smallest ? step : std::copysign(smallest, half);
    fb = f(b);
    ++evaluations;
  }
  return {b, fb, evaluations};
}

}  // namespace stickslip
