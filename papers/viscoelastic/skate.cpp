// SPDX-License-Identifier: Apache-2.0
#include "papers/viscoelastic/skate.hpp"

#include <cmath>
#include <complex>
#include <utility>
#include <vector>

namespace stickslip::paper4 {

namespace {
// The two fast roots nearly coincide at critical damping: their coefficients cancel, which costs digits.
using Real = long double;
using Complex = std::complex<Real>;
}  // namespace

Skate skate_a() { return {}; }

Skate skate_b() {
  Skate skate;
  skate.phi0 = 0.5;
  skate.v0 = 1;
  return skate;
}

Skate skate_c() {
  Skate skate;
  skate.m = 2;
  skate.J = 0.3;
  skate.gs = 9.81 * std::sin(20 * std::acos(-1.0) / 180);
  skate.u1 = 0.1;
  skate.u2 = -0.2;
  skate.phi0 = 0.4;
  skate.v0 = 0.7;
  skate.w = 1.3;
  return skate;
}

SkateState ideal(const Skate& k, double t) {
  const double phi = k.phi0 + k.w * t, s = std::sin(phi), c = std::cos(phi), s0 = std::sin(k.phi0),
               c0 = std::cos(k.phi0);
  const double a = k.v0 - k.gs / k.w * s0, v = k.v0 + k.gs / k.w * (s - s0), r = k.gs / (2 * k.w * k.w);
  SkateState state;
  state.u1 = k.u1 + a / k.w * (s - s0) + r * (s * s - s0 * s0);
  state.u2 = k.u2 - a / k.w * (c - c0) + r * ((phi - k.phi0) - (std::sin(2 * phi) - std::sin(2 * k.phi0)) / 2);
  state.phi = phi;
  state.v1 = v * c;
  state.v2 = v * s;
  state.lambda = -k.m * (k.gs * s + k.w * v);
  return state;
}

SkateState viscoelastic(const Skate& k, const SpringDamper& law, double t) {
  const Real m = k.m, gs = k.gs, w = k.w, epsilon = law.epsilon, T = t;
  const Real D = law.d / (m * std::pow(epsilon, static_cast<Real>(law.kappa))), K = law.c / (m * epsilon);
  const Real a = k.v0 - gs / w * std::sin(static_cast<Real>(k.phi0));
  const Real lambda0 = -m * (gs * std::sin(static_cast<Real>(k.phi0)) + w * k.v0);
  const Real z0 = law.prepared ? epsilon * lambda0 / law.c : 0;
  const Complex i(0, 1), turn0 = std::exp(i * static_cast<Real>(k.phi0)), turn = turn0 * std::exp(i * (w * T));
  const Complex Z = -2 * gs / (K + i * (w * D));
  const Real zc = (-w * a + w * w * z0) / (K + w * w);
  const Complex s1 = -(D + std::sqrt(Complex(D * D - 4 * (K + w * w)))) / static_cast<Real>(2), s2 = (K + w * w) / s1;
  const Real rest = z0 - zc - std::imag(Z * turn0), slope = -std::imag(i * w * Z * turn0);
  const Complex A1 = (slope - s2 * rest) / (s1 - s2), A2 = (s1 * rest - slope) / (s1 - s2);

  const Complex e1 = std::exp(s1 * T), e2 = std::exp(s2 * T);
  const Real z = zc + std::imag(Z * turn) + std::real(A1 * e1 + A2 * e2);
  const Real xi = std::imag(i * w * Z * turn) + std::real(s1 * A1 * e1 + s2 * A2 * e2);
  const Real v = a - w * z0 + gs / w * std::imag(turn) + w * z;

  // v + i ξ as Σ coefficient e^{rate t}
  const Complex half = Complex(1) / (static_cast<Real>(2) * i), up = half * turn0, down = -half * std::conj(turn0);
  const std::vector<std::pair<Complex, Complex>> terms{
      {a - w * z0 + w * zc, 0},
      {up * (gs / w + w * Z + i * (i * w) * Z), i * w},
      {down * (gs / w + w * std::conj(Z) - i * (i * w) * std::conj(Z)), -i * w},
      {A1 * (w + i * s1), s1},
      {A2 * (w + i * s2), s2},
  };
  Complex u = 0;
  for (const auto& [coefficient, rate] : terms) {
    const Complex total = rate + i * w;
    u += coefficient * (std::abs(total) == 0 ? Complex(T) : (std::exp(total * T) - Complex(1)) / total);
  }
  u *= turn0;
  const Complex velocity = (v + i * xi) * turn;
  SkateState state;
  state.u1 = static_cast<double>(k.u1 + std::real(u));
  state.u2 = static_cast<double>(k.u2 + std::imag(u));
  state.phi = k.phi0 + k.w * t;
  state.v1 = static_cast<double>(std::real(velocity));
  state.v2 = static_cast<double>(std::imag(velocity));
  state.lambda = static_cast<double>(m * (K * z + D * xi));
  return state;
}

}  // namespace stickslip::paper4
