// SPDX-License-Identifier: Apache-2.0
// One contact with Coulomb friction alone, solved exactly: given D (3x3 or 2x2, normal first) and q, find r with
//
//   u = D r + q,      r ∈ K = { r_N >= 0, |r_T| <= μ r_N },      -(u + s(u)) ∈ N_K(r)
//
// which says one of three things (μ > 0):
//   open    r = 0,                            u_N = q_N >= 0
//   stick   D r = -q,                         |r_T| <= μ r_N
//   slide   (D + l diag(0,1,1)) r = -q,       |r_T| = μ r_N,   l = |u_T|/(μ r_N) > 0,   u_N = 0
//
// Slide. Eliminating r_N = a/μ + g·r_T/μ with a = -μ q_N/D_NN, g = -μ D_NT/D_NN leaves the Schur complement
// S = D_TT - D_TN D_NT/D_NN and s = q_T - D_TN q_N/D_NN:
//
//   (S + l I) x = -s,      ψ(l) = (a + g·x)/|x| - 1 = 0,      r_T = x                                        (secular)
//
// ψ is linear in l where S is a multiple of I and g = 0, and almost so elsewhere (compare the secular equation of trust
// regions, Moré and Sorensen 1983), so that Newton inside a bracket takes two or three steps. If the symmetric part of
// D is positive definite so is that of S; q_N < 0 then gives ψ(∞) = ∞, no stick gives ψ(0) < 0: a root exists, and
// open, stick and slide are tried in this order. That is the fast path. Where μ |D_NT| >= D_NN more than one of them
// may hold (D = [1 .5; .5 1], μ = 3, q = (1, 10): r = 0 and r = (2, -6)); the first is taken.
//
// Every other block (singular, indefinite, zero) goes through an enumeration: r(l) = -adj(D + l E) q / det(D + l E) by
// Cramer's rule, |r_T|² = μ² r_N² is a quartic in l whose positive roots are isolated between those of its derivatives,
// null spaces of D + l E are searched for their points on the cone, and the candidate with the least natural map is
// taken. It says `none` if that is not round-off.
#pragma once

#include <cmath>

namespace stickslip {

enum class ContactState : unsigned char { open, stick, slide, none };

/// (S + l I) x = -s, |x| = a + g·x: the sliding root of a planar problem whose symmetric part is positive definite.
struct SecularBlock {
  double s11, s12, s21, s22;  ///< S
  double g1, g2;              ///< slope of the radius
  double trace, det;          ///< of S
};

/// The root l > 0 of (secular), x at it. ψ(0) < 0 must hold; `l` is the guess (any number).
inline double solve_secular(const SecularBlock& S, double s1, double s2, double a, double l, double& x1, double& x2) {
  double lo = 0, hi = HUGE_VAL;
  if (!(l > 0)) l = std::fmax(std::sqrt(s1 * s1 + s2 * s2) / a - 0.5 * S.trace, 0.0);
  if (!(l < HUGE_VAL)) l = S.trace;
  constexpr int kMostSteps = 200;  // two or three are taken; bisection alone would end below
  constexpr double kRoundOff = 2e-16;
  for (int iteration = 0; iteration < kMostSteps; ++iteration) {
    const double inverse = 1 / (l * l + S.trace * l + S.det);
    x1 = -((S.s22 + l) * s1 - S.s12 * s2) * inverse;
    x2 = -((S.s11 + l) * s2 - S.s21 * s1) * inverse;
    const double square = x1 * x1 + x2 * x2, length = std::sqrt(square);
    const double radius = a + S.g1 * x1 + S.g2 * x2;
    const double excess = radius - length;  // ψ |x|
    if (std::abs(excess) <= 2 * kRoundOff * length) break;
    (excess < 0 ? lo : hi) = l;
    const double y1 = -((S.s22 + l) * x1 - S.s12 * x2) * inverse;  // dx/dl
    const double y2 = -((S.s11 + l) * x2 - S.s21 * x1) * inverse;
    const double slope = S.g1 * y1 + S.g2 * y2 - radius * (x1 * y1 + x2 * y2) / square;  // ψ' |x|
    double next = l - excess / slope;
    if (!(next > lo && next < hi)) next = hi < HUGE_VAL ? 0.5 * (lo + hi) : 2 * l + S.trace;
    if (std::abs(next - l) <= kRoundOff * l) break;
    l = next;
  }
  return l;
}

/// What the fast path needs of one diagonal block; constant while D and μ are.
struct ContactBlock {
  double D[9];  ///< row-major
  double mu, inverse_nn;
  double tn1, tn2;  ///< D_TN / D_NN
  SecularBlock planar;
  bool regular;  ///< D_NN > 0, symmetric part of S positive definite by a margin
};
/// D: 3x3, row-major.
ContactBlock contact_block(double mu, const double* D);

/// The enumeration, any block. r is the result (0 if none).
ContactState enumerate_contact(double mu, const double* D, const double* q, double* r);

/// 3D contact; l holds the guess and the result of the sliding multiplier.
inline ContactState solve_contact(const ContactBlock& c, const double* q, double* r, double& l) {
  if (q[0] >= 0) {
    r[0] = r[1] = r[2] = 0;
    return ContactState::open;
  }
  if (!c.regular) return enumerate_contact(c.mu, c.D, q, r);
  const SecularBlock& S = c.planar;
  const double level = -q[0] * c.inverse_nn;  // r_N at r_T = 0
  const double s1 = q[1] - c.tn1 * q[0], s2 = q[2] - c.tn2 * q[0];
  const double inverse = 1 / S.det;
  double x1 = -(S.s22 * s1 - S.s12 * s2) * inverse, x2 = -(S.s11 * s2 - S.s21 * s1) * inverse;
  double radius = c.mu * level + S.g1 * x1 + S.g2 * x2;
  if (radius >= 0 && x1 * x1 + x2 * x2 <= radius * radius) {
    r[0] = level - (c.D[1] * x1 + c.D[2] * x2) * c.inverse_nn;
    r[1] = x1;
    r[2] = x2;
    return ContactState::stick;
  }
  l = solve_secular(S, s1, s2, c.mu * level, l, x1, x2);
  const double turn = c.mu / std::sqrt(x1 * x1 + x2 * x2);
  r[0] = -q[0] / (c.D[0] + turn * (c.D[1] * x1 + c.D[2] * x2));
  r[1] = r[0] * turn * x1;
  r[2] = r[0] * turn * x2;
  return ContactState::slide;
}

/// 2D contact, D row-major 2x2: at most four candidates, each in closed form.
ContactState solve_planar_contact(double mu, const double* D, const double* q, double* r);

/// Planar friction |r| <= c without normal force: D 2x2 row-major, any block. Always has a solution.
ContactState solve_disk_friction(double c, const double* D, const double* q, double* r);

}  // namespace stickslip
