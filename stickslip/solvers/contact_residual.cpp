// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_residual.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/plane_norm.hpp"

namespace stickslip {

namespace {

constexpr double kDifference = 1e-7;  // of |u_T|

/// Gradient of the shift s(u) with respect to u: only its normal component is not zero.
template <int N>
void shift_gradient(const Set& set, const double* u, double* gradient) {
  std::fill_n(gradient, N, 0.0);
  if (!is_cone(set.kind)) return;
  const double speed = set.size == 3 ? plane_norm(u[1], u[N - 1]) : std::abs(u[1]);
  if (!(speed > 0)) return;
  if (set.kind == SetKind::friction_cone) {
    for (int c = 1; c < set.size; ++c) gradient[c] = set.limit * u[c] / speed;
    return;
  }
  // Piecewise linear: differences are exact inside a piece.
  const std::size_t k = static_cast<std::size_t>(set.size);
  std::array<double, N> ahead, s, s_ahead;
  shift(set, {u, k}, {s.data(), k});
  for (int j = 1; j < set.size; ++j) {
    std::copy_n(u, N, ahead.begin());
    const double delta = kDifference * speed;
    ahead[j] += delta;
    shift(set, {ahead.data(), k}, {s_ahead.data(), k});
    gradient[j] = (s_ahead[0] - s[0]) / delta;
  }
}

}  // namespace

template <int N>
void alart_curnier(const Set& set, double rho, const double* r, const double* u, const LawResidual<N>& out) {
  double* F = out.F;
  double z[N];
  for (int c = 0; c < N; ++c) z[c] = r[c] - rho * u[c];
  double J[N * N] = {};
  if (out.slopes) *out.active = z[0] > 0;
  if (z[0] <= 0) {
    for (int c = 0; c < N; ++c) F[c] = r[c];
  } else {
    const double radius = set.limit * z[0];
    const double t = N == 3 ? std::sqrt(z[1] * z[1] + z[N - 1] * z[N - 1]) : std::abs(z[1]);
    if (t <= radius) {
      for (int c = 0; c < N; ++c) {
        F[c] = rho * u[c];
        J[(N + 1) * c] = 1;
      }
    } else {
      F[0] = rho * u[0];
      J[0] = 1;
      for (int a = 1; a < N; ++a) {
        F[a] = r[a] - radius * z[a] / t;
        J[N * a] = set.limit * z[a] / t;
        for (int c = 1; c < N; ++c) J[N * a + c] = radius / t * ((a == c) - z[a] / t * (z[c] / t));
      }
    }
  }
  if (!out.slopes) return;
  for (int a = 0; a < N; ++a)
    for (int c = 0; c < N; ++c) {
      out.rest[N * a + c] = (a == c) - J[N * a + c];
      out.slope[N * a + c] = rho * J[N * a + c];
    }
}

template <int N>
void natural_map(const Set& set, double rho, const double* r, const double* u, const LawResidual<N>& out) {
  const std::size_t k = static_cast<std::size_t>(set.size);
  std::array<double, N> s{}, z{}, p{};
  shift(set, {u, k}, {s.data(), k});
  for (std::size_t c = 0; c < k; ++c) z[c] = r[c] - rho * (u[c] + s[c]);
  project(set, {z.data(), k}, {p.data(), k});
  for (int c = 0; c < N; ++c) out.F[c] = r[c] - p[c];
  if (!out.slopes) return;
  std::array<double, N * N> J{};
  projection_jacobian(set, {z.data(), k}, {J.data(), k * k});
  double gradient[N];
  shift_gradient<N>(set, u, gradient);
  bool any = false;
  for (int a = 0; a < N; ++a)
    for (int c = 0; c < N; ++c) {
      const bool inside = a < set.size && c < set.size;
      const double j = inside ? J[k * a + c] : 0.0;
      any |= j != 0;
      out.rest[N * a + c] = (a == c) - j;
      out.slope[N * a + c] = rho * (j + (inside ? J[k * a] * gradient[c] : 0.0));
    }
  *out.active = any;
}

template <int N>
void smoothed(const Set& set, double rho, double d, const Smoothing& smoothing, const double* r, const double* u,
              const LawResidual<N>& out, double* by_epsilon) {
  const double mu = set.limit, eps = smoothing.epsilon, tiny = smoothing.slip * eps * d;
  double* F = out.F;
  double speed = 0, t = 0, z[N];
  for (int c = 1; c < N; ++c) speed += u[c] * u[c];
  speed = std::sqrt(speed + tiny * tiny);
  z[0] = mu * r[0] - rho * (u[0] + mu * (speed - tiny)) / mu;
  for (int c = 1; c < N; ++c) {
    z[c] = r[c] - rho * u[c];
    t += z[c] * z[c];
  }
  t = std::sqrt(t);
  // Spectral values of z, of Φ and of its derivative; without cancellation for negative ones.
  const double l[2] = {z[0] - t, z[0] + t};
  double f[2], g[2], by[2];
  for (int k = 0; k < 2; ++k) {
    const double root = std::sqrt(l[k] * l[k] + 4 * eps * eps);
    f[k] = l[k] > 0 ? 0.5 * (l[k] + root) : 2 * eps * eps / (root - l[k]);
    g[k] = f[k] / root;
    by[k] = 2 * eps / root;
  }
  double w[N] = {};
  for (int c = 1; c < N; ++c) w[c] = t > 0 ? z[c] / t : c == 1;
  F[0] = mu * r[0] - 0.5 * (f[0] + f[1]);
  for (int c = 1; c < N; ++c) F[c] = r[c] - 0.5 * (f[1] - f[0]) * w[c];
  if (!out.slopes) return;
  *out.active = 1;
  const double along = 0.5 * (g[0] + g[1]), mixed = 0.5 * (g[1] - g[0]),
               across = t > 0 ? (f[1] - f[0]) / (2 * t) : along;
  double J[N * N];
  J[0] = along;
  for (int a = 1; a < N; ++a) {
    J[a] = J[N * a] = mixed * w[a];
    for (int c = 1; c < N; ++c) J[N * a + c] = (a == c ? across : 0.0) + (along - across) * w[a] * w[c];
  }
  const double z_by_eps = speed > 0 ? rho * (1 - tiny / speed) * smoothing.slip * d : 0.0;
  by_epsilon[0] = -0.5 * (by[0] + by[1]) - J[0] * z_by_eps;
  for (int c = 1; c < N; ++c) by_epsilon[c] = -0.5 * (by[1] - by[0]) * w[c] - J[N * c] * z_by_eps;
  for (int a = 0; a < N; ++a)
    for (int c = 0; c < N; ++c) {
      const double by_shift = c > 0 && speed > 0 ? J[N * a] * u[c] / speed : 0.0;
      out.rest[N * a + c] = ((a == c) - J[N * a + c]) * (c == 0 ? mu : 1.0);
      out.slope[N * a + c] = rho * (c == 0 ? J[N * a] / mu : J[N * a + c] + by_shift);
    }
}

template void natural_map(const Set&, double, const double*, const double*, const LawResidual<2>&);
template void alart_curnier(const Set&, double, const double*, const double*, const LawResidual<2>&);
template void smoothed(const Set&, double, double, const Smoothing&, const double*, const double*,
                       const LawResidual<2>&, double*);
template void natural_map(const Set&, double, const double*, const double*, const LawResidual<3>&);
template void alart_curnier(const Set&, double, const double*, const double*, const LawResidual<3>&);
template void smoothed(const Set&, double, double, const Smoothing&, const double*, const double*,
                       const LawResidual<3>&, double*);

}  // namespace stickslip
