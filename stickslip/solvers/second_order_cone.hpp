// SPDX-License-Identifier: Apache-2.0
// The Jordan algebra of the second-order cone { x_0 >= |x_T| } as far as interior points need it.
//
//   a ∘ b = (a·b, a_0 b_T + b_0 a_T),   det x = x_0² - |x_T|²
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace stickslip::second_order_cone {

template <int N>
using Vec = Eigen::Matrix<double, N, 1>;

template <int N>
double det(const Vec<N>& x) {
  return x[0] * x[0] - x.template tail<N - 1>().squaredNorm();
}

template <int N>
Vec<N> product(const Vec<N>& a, const Vec<N>& b) {
  Vec<N> out = a[0] * b + b[0] * a;
  out[0] = a.dot(b);
  return out;
}

/// z with λ ∘ z = c
template <int N>
Vec<N> quotient(const Vec<N>& lambda, const Vec<N>& c) {
  const auto l = lambda.template tail<N - 1>();
  const double q = l.dot(c.template tail<N - 1>()), d = det<N>(lambda);
  Vec<N> out;
  out[0] = (lambda[0] * c[0] - q) / d;
  out.template tail<N - 1>() = c.template tail<N - 1>() / lambda[0] + l * ((q / lambda[0] - c[0]) / d);
  return out;
}

/// Largest t with x + t dx in the cone.
template <int N>
double way_out(const Vec<N>& x, const Vec<N>& dx) {
  const double a = det<N>(dx), c = det<N>(x),
               b = x[0] * dx[0] - x.template tail<N - 1>().dot(dx.template tail<N - 1>());
  double t = dx[0] < 0 ? -x[0] / dx[0] : HUGE_VAL;
  if (const double root = b * b - a * c; root >= 0) {
    const double q = b >= 0 ? -(b + std::sqrt(root)) : std::sqrt(root) - b;
    if (const double first = q / a; first > 0) t = std::min(t, first);
    if (const double second = c / q; second > 0) t = std::min(t, second);
  }
  return t;
}

}  // namespace stickslip::second_order_cone
