// SPDX-License-Identifier: Apache-2.0
// Periodic B-splines on n equal elements: displacements of degree p_x, reactions of degree p_r.
//
// The pair must be stable: with P1/P0 on one mesh (which includes the span of Haar's functions) and P2/P0 a reaction
// that changes its sign from element to element is not seen by any displacement, and the solution does not converge.
// P2/P1 and P3/P1 are stable.
//
// Integrals are mid-point sums over kSamples points per element.
#pragma once

#include <array>
#include <vector>

#include "stickslip/periodic/basis.hpp"

namespace stickslip {

/// Throws InputError with the reason unless (p_x, p_r) is (2, 1) or (3, 1).
void require_stable_pair(int displacement_degree, int reaction_degree);

class SplineBasis final : public PeriodicBasis {
 public:
  static constexpr int kSamples = 8;
  SplineBasis(int elements, int displacement_degree, int reaction_degree);
  Index size(BasisField) const override { return n_; }
  Index samples() const override { return n_ * kSamples; }
  double offset() const override { return 0.5; }
  void evaluate(BasisField field, Eigen::Ref<const Vector> coefficients, int p,
                Eigen::Ref<Vector> samples) const override;
  /// The p-th derivative of a displacement at one angle.
  double value(Eigen::Ref<const Vector> coefficients, int p, double angle) const;
  void test(BasisField field, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> tested) const override;
  void product(BasisField test, BasisField trial, int p, Eigen::Ref<const Vector> d,
               DenseMatrix& matrix) const override;
  void fit(BasisField field, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> coefficients) const override;

 private:
  /// Values of the functions that are not 0 in an element, at its samples: [derivative](function, sample).
  struct Local {
    int degree = 0;
    std::array<DenseMatrix, 3> value;
  };
  const Local& local(BasisField field) const { return field == BasisField::displacement ? displacement_ : reaction_; }
  /// Of the k-th function that is not 0 in the element.
  Index function(Index element, int k, int degree) const { return (element - degree + k + n_) % n_; }
  static Local make_local(int degree, double width);

  Index n_;
  Local displacement_, reaction_;
};

}  // namespace stickslip
