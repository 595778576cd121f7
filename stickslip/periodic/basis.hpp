// SPDX-License-Identifier: Apache-2.0
// Periodic functions of the angle θ = 2π t/T as sums of basis functions, sampled at N equally spaced angles.
//
//   displacement   x(θ) = Σ_k x_k φ_k(θ),  k = 0..size(displacement)-1;   likewise reactions with ψ_k
//   test           <φ_k, s> from the samples s of any function: what a weighted residual is made of
//   product        <φ_k, d φ_l^(p)>: the derivative of <φ_k, f(x^(p))> by x_l, d the samples of f'
#pragma once

#include <numbers>

#include "stickslip/common/vector.hpp"

namespace stickslip {

enum class BasisField { displacement, reaction };

class PeriodicBasis {
 public:
  virtual ~PeriodicBasis() = default;
  virtual Index size(BasisField field) const = 0;
  virtual Index samples() const = 0;
  /// Of sample j, in [0, 2π).
  double angle(Index j) const {
    return 2 * std::numbers::pi * (static_cast<double>(j) + offset()) / static_cast<double>(samples());
  }
  /// Of the first sample, over the distance of two.
  virtual double offset() const { return 0; }

  /// The p-th derivative by θ of the function with these coefficients, p <= 2 for displacements and 0 for reactions.
  virtual void evaluate(BasisField field, Eigen::Ref<const Vector> coefficients, int p,
                        Eigen::Ref<Vector> samples) const = 0;
  virtual void test(BasisField field, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> tested) const = 0;
  virtual void product(BasisField test, BasisField trial, int p, Eigen::Ref<const Vector> d,
                       DenseMatrix& matrix) const = 0;
  /// Coefficients of the function nearest to the samples in the mean square.
  virtual void fit(BasisField field, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> coefficients) const = 0;
};

}  // namespace stickslip
