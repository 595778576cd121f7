// SPDX-License-Identifier: Apache-2.0
// The skate on an incline in closed form, as an ideal constraint and as a spring-damper, for any ε, c, d, κ: what the
// schemes are measured against.
//
//   q = (u1, u2, φ), M = diag(m, m, J), force (m gs, 0, 0), G = (-sin φ, cos φ, 0);  φ = φ0 + w t in both
//
// Ideal, v along the blade:    v = v0 + (gs/w)(sin φ - sin φ0),   Λ = -m (gs sin φ + w v)
//
// Spring-damper, ξ = z' across the blade, D = d/(m ε^κ), K = c/(m ε), a = v0 - (gs/w) sin φ0:
//   v = a - w z0 + (gs/w) sin φ + w z,    z'' + D z' + (K + w²) z = -2 gs sin φ - w a + w² z0,    z(0) = z0, z'(0) = 0
//   z = zc + Im(Z e^{iφ}) + A1 e^{s1 t} + A2 e^{s2 t},     (u1 + i u2)' = (v + i ξ) e^{iφ},    Λ = m (K z + D ξ)
// All terms are exponentials, so u is integrated term by term.
#pragma once

namespace stickslip::paper4 {

struct Skate {
  double m = 1, J = 1;     ///< [kg, kg m²]
  double gs = 4.905;       ///< g sin(slope) [m/s²]
  double u1 = 0, u2 = 0;   ///< start [m]
  double phi0 = 0, w = 1;  ///< [rad, rad/s]; w != 0
  double v0 = 0;           ///< along the blade [m/s]
};
Skate skate_a();  ///< starts at rest along the slope: Λ(0) = 0
Skate skate_b();  ///< phi0 = 0.5, v0 = 1: Λ(0) ≠ 0
Skate skate_c();  ///< other numbers everywhere

struct SpringDamper {
  double c = 1, d = 2, epsilon = 1e-6, kappa = 0.5;
  bool prepared = true;  ///< z(0) = ε Λ0/c; false: z(0) = 0
};

struct SkateState {
  double u1 = 0, u2 = 0, phi = 0;  ///< [m, rad]
  double v1 = 0, v2 = 0;           ///< u1', u2' [m/s]
  double lambda = 0;               ///< Λ [N]; the blade pushes with -Λ
};
SkateState ideal(const Skate& skate, double t);
SkateState viscoelastic(const Skate& skate, const SpringDamper& law, double t);

}  // namespace stickslip::paper4
