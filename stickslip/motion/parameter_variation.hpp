// SPDX-License-Identifier: Apache-2.0
// Derivatives of a case by one of its numbers p, at any state.
//
//   ∂h/∂p          forces                                        [N, N m per unit of p]
//   ∂(M a)/∂p      inertia at a given acceleration               [N, N m per unit of p]
//   ∂c/∂p          limits of the friction laws, in their order   [N, N m per unit of p]
//   ∂g/∂p          gaps of contacts given by functions           [m per unit of p]
//   dq_0/dp, ..    the start, on the constraints where a model file moves it there
//
// p may stand anywhere: in a matrix, an expression, a table of rows, the start, what a builder does with it. So the
// system is built at p ± δ and p ± 2δ, once, and every derivative is the difference
//
//   f' ≈ [8 (f(p + δ) - f(p - δ)) - (f(p + 2δ) - f(p - 2δ))] / 12δ,      δ ≈ ε^(1/5) s/16,  s = |p|, or `scale` at p =
//   0
//
// with ε = 2.2e-16. It is exact but for round-off for polynomials in p up to the fourth degree; else its error is
// δ⁴ f⁽⁵⁾/30 = 1.5e-19 s⁴ f⁽⁵⁾, with round-off 24 ε^(4/5) |f|/s = 7e-12 |f|/s. A model that bends within less than
// about |p|/100 is too much for it: sin(p t) is off by 1.5e-19 (p t)⁴, 1.5e-7 at p t = 1000, 1.5e-3 at 10⁴. Where the
// model does not take p - 2δ (p = 0 for a limit) or p + 2δ, the one-sided formula of the same order over five points
// stands in, with about ten times the error. A kink of the model at p (|p|, max) is no derivative, and is not seen.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stickslip/motion/case.hpp"

namespace stickslip {

class ParameterVariation {
 public:
  /// Throws InputError where the case does not know the name, or takes values on neither side. `scale` > 0: the size of
  /// p where it is 0.
  ParameterVariation(const Case& center, const std::string& name, double scale = 1.0);

  const std::string& name() const { return name_; }
  double value() const { return value_; }
  double step() const { return step_; }  ///< δ

  /// d/dp of any numbers f(const CaseParts&, SystemWorkspace&, Vector& out) of a case.
  template <class F>
  Vector derivative(F&& f) const;

  Vector force(double t, const Vector& q, const Vector& v) const;
  Vector inertia(const Vector& q, const Vector& a) const;
  Vector limit(double t, const Vector& q, const Vector& v) const;
  Vector gap(double t, const Vector& q) const;
  Vector initial_position() const;
  Vector initial_velocity() const;

  /// A case at p + k δ; df/dp = Σ weight · f(neighbour).
  struct Neighbour {
    CaseParts parts;
    double weight;  ///< [1 / unit of p]
    std::unique_ptr<SystemWorkspace> workspace;
  };
  std::span<const Neighbour> neighbours() const { return neighbours_; }

 private:
  bool build(const Case& center, std::span<const int> places, std::span<const double> weights);

  std::string name_;
  double value_, step_;
  std::vector<Neighbour> neighbours_;
};

template <class F>
Vector ParameterVariation::derivative(F&& f) const {
  Vector sum, value;
  for (const Neighbour& neighbour : neighbours_) {
    f(neighbour.parts, *neighbour.workspace, value);
    if (sum.size() == 0) sum.setZero(value.size());
    sum += neighbour.weight * value;
  }
  return sum;
}

}  // namespace stickslip
