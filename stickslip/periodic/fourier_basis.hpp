// SPDX-License-Identifier: Apache-2.0
// Harmonics: 1, cos θ, sin θ, cos 2θ, sin 2θ, ..., cos Hθ, sin Hθ, for displacements and reactions alike.
//
//   <φ_k, s> = (w_k/N) Σ_j φ_k(θ_j) s_j,   w_0 = 1, else 2: the coefficients of s themselves
//
// All three operations are fast Fourier transforms: a product <φ_k, d φ_l> holds the coefficients of d up to 2H alone,
// cos k cos l = ½ (cos(k - l) + cos(k + l)) and so on. Transforms by Eigen's FFT module (kissfft inside, MPL-2).
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "stickslip/periodic/basis.hpp"

namespace stickslip {

class FourierBasis final : public PeriodicBasis {
 public:
  /// samples >= 2 harmonics + 1
  FourierBasis(int harmonics, int samples);
  ~FourierBasis() override;
  int harmonics() const { return H_; }
  Index size(BasisField) const override { return 2 * H_ + 1; }
  Index samples() const override { return N_; }
  void evaluate(BasisField field, Eigen::Ref<const Vector> coefficients, int p,
                Eigen::Ref<Vector> samples) const override;
  /// The p-th derivative at one angle.
  double value(Eigen::Ref<const Vector> coefficients, int p, double angle) const;
  void test(BasisField field, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> tested) const override;
  void product(BasisField test, BasisField trial, int p, Eigen::Ref<const Vector> d,
               DenseMatrix& matrix) const override;
  void fit(BasisField field, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> coefficients) const override {
    test(field, samples, coefficients);
  }
  /// The harmonic h of coefficients as a phasor: x = Re(X e^{ihθ}); h = 0: the mean.
  static std::complex<double> phasor(Eigen::Ref<const Vector> coefficients, int h) {
    return h == 0 ? std::complex<double>(coefficients[0])
                  : std::complex<double>(coefficients[2 * h - 1], -coefficients[2 * h]);
  }

 private:
  struct Transform;  // workspace of the library: calls from several threads need a basis each
  int H_;
  Index N_;
  std::unique_ptr<Transform> transform_;
};

}  // namespace stickslip
