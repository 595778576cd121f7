// SPDX-License-Identifier: Apache-2.0
// Polynomials on [0, 1] and their first roots: how an event is found on the dense output of a step.
//
//   p(s) = c_0 + c_1 s + … + c_n sⁿ,   s in [0, 1],   n <= 40
//
// A root is searched for in the Bernstein basis, p(s) = Σ b_j C(n,j) sʲ (1-s)ⁿ⁻ʲ with b_j = Σ_{i<=j} C(j,i)/C(n,i) c_i:
// the graph lies in the convex hull of the b_j, and the number of roots in (0, 1) is at most the number of sign changes
// of the b_j and equal to it when that is 0 or 1. Intervals where neither decides are halved (de Casteljau), left one
// first. So no root is missed, however close two of them are, down to round-off
//
//   δ = ε (n + 2) Σ|c_i|,   ε = 2⁻⁵²:
//
// a dip below zero that is not deeper than δ is not distinguishable from touching and not reported.
//
// Sources: Lane, Riesenfeld, Bounds on a polynomial, BIT 21 (1981); Farouki, Rajan, On the numerical condition of
// polynomials in Bernstein form, CAGD 4 (1987); the compensated Horner scheme: Graillat, Langlois, Louvet, JJIAM 26
// (2009).
#pragma once

#include <array>
#include <optional>
#include <span>

namespace stickslip {

inline constexpr int kLargestDegree = 40;

double evaluate(std::span<const double> c, double s);
double evaluate_derivative(std::span<const double> c, double s);
/// As if computed with twice the digits and rounded once: near a root the plain scheme returns mostly round-off.
double evaluate_compensated(std::span<const double> c, double s);

/// The smallest s in (from, 1] at which p falls from positive values through 0, and goes on below -graze (and below -δ)
/// before it is positive again. Touching zero is not a root. None (or coefficients that are not finite): nullopt. At s
/// = 1 a zero with negative slope counts.
///
/// Coefficients c_0, c_1, … that are exactly 0 say that the value (and slope …) at 0 is known to be 0: p = sᵏ g,
/// and g decides. g(0) < 0: p falls at once, the result is 0. Likewise p(from) < 0 gives `from`: the caller
/// states that p was not negative there.
std::optional<double> first_root(std::span<const double> c, double from = 0, double graze = 0);

/// Interpolation at the Chebyshev points s_j = (1 - cos(π j/n))/2, j = 0..n, of a sampled function.
///
/// The values go to Chebyshev coefficients first and to monomials then: one matrix for both would multiply the
/// round-off of the values by 1e10 (n = 16), while an error of a Chebyshev coefficient changes p by no more than
/// itself.
class PolynomialFit {
 public:
  static constexpr int kLargestFitDegree = 16;

  /// 2 <= degree <= 16; 8 and 16 are the usual ones.
  explicit PolynomialFit(int degree);

  int degree() const { return degree_; }
  /// degree + 1 points, the first 0 and the last 1.
  std::span<const double> nodes() const { return {nodes_.data(), static_cast<std::size_t>(degree_) + 1}; }
  /// c = monomial coefficients (degree + 1 of them) of the interpolant. Returns an estimate of its largest error on [0,
  /// 1]: |a_n-1| + |a_n|, the last two Chebyshev coefficients, one of which may vanish by symmetry.
  double fit(std::span<const double> values, std::span<double> c) const;

 private:
  using Row = std::array<double, kLargestFitDegree + 1>;
  int degree_;
  Row nodes_{};
  std::array<Row, kLargestFitDegree + 1> chebyshev_{};  // [k][j]: a_k = Σ_j chebyshev_[k][j] f(s_j)
  std::array<Row, kLargestFitDegree + 1> monomial_{};   // [k][i]: T_k(2s - 1) = Σ_i monomial_[k][i] sⁱ
};

}  // namespace stickslip
