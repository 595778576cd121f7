// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/fourier_basis.hpp"

#include <cassert>
#include <unsupported/Eigen/FFT>

namespace stickslip {

struct FourierBasis::Transform {
  Eigen::FFT<double> fft;
  std::vector<std::complex<double>> spectrum;
  std::vector<double> values;
};

FourierBasis::FourierBasis(int harmonics, int samples)
    : H_(harmonics), N_(samples), transform_(std::make_unique<Transform>()) {
  assert(samples > 2 * harmonics);
  transform_->spectrum.resize(static_cast<std::size_t>(N_));
  transform_->values.resize(static_cast<std::size_t>(N_));
}

FourierBasis::~FourierBasis() = default;

void FourierBasis::evaluate(BasisField, Eigen::Ref<const Vector> x, int p, Eigen::Ref<Vector> samples) const {
  auto& spectrum = transform_->spectrum;
  std::fill(spectrum.begin(), spectrum.end(), 0.0);
  const double n = static_cast<double>(N_);
  spectrum[0] = p == 0 ? n * x[0] : 0.0;
  for (int h = 1; h <= H_; ++h) {
    std::complex<double> X = 0.5 * n * phasor(x, h);
    for (int k = 0; k < p; ++k) X *= std::complex<double>(0, h);
    spectrum[static_cast<std::size_t>(h)] = X;
    spectrum[static_cast<std::size_t>(N_ - h)] = std::conj(X);
  }
  transform_->fft.inv(transform_->values, spectrum);
  for (Index j = 0; j < N_; ++j) samples[j] = transform_->values[static_cast<std::size_t>(j)];
}

double FourierBasis::value(Eigen::Ref<const Vector> x, int p, double angle) const {
  double sum = p == 0 ? x[0] : 0.0;
  for (int h = 1; h <= H_; ++h) {
    std::complex<double> X = phasor(x, h) * std::polar(1.0, h * angle);
    for (int k = 0; k < p; ++k) X *= std::complex<double>(0, h);
    sum += X.real();
  }
  return sum;
}

void FourierBasis::test(BasisField, Eigen::Ref<const Vector> samples, Eigen::Ref<Vector> tested) const {
  for (Index j = 0; j < N_; ++j) transform_->values[static_cast<std::size_t>(j)] = samples[j];
  transform_->fft.fwd(transform_->spectrum, transform_->values);
  const double n = static_cast<double>(N_);
  tested[0] = transform_->spectrum[0].real() / n;
  for (int h = 1; h <= H_; ++h) {
    const std::complex<double> S = transform_->spectrum[static_cast<std::size_t>(h)];
    tested[2 * h - 1] = 2 * S.real() / n;
    tested[2 * h] = -2 * S.imag() / n;
  }
}

void FourierBasis::product(BasisField, BasisField, int p, Eigen::Ref<const Vector> d, DenseMatrix& P) const {
  for (Index j = 0; j < N_; ++j) transform_->values[static_cast<std::size_t>(j)] = d[j];
  transform_->fft.fwd(transform_->spectrum, transform_->values);
  const double n = static_cast<double>(N_);
  const auto cosine = [&](int m) {
    return transform_->spectrum[static_cast<std::size_t>((m % N_ + N_) % N_)].real() / n;
  };
  const auto sine = [&](int m) {
    return -transform_->spectrum[static_cast<std::size_t>((m % N_ + N_) % N_)].imag() / n;
  };
  P.resize(2 * H_ + 1, 2 * H_ + 1);
  for (int l = 0; l <= H_; ++l) {
    // The p-th derivative of (cos lθ, sin lθ) is l^p times a quarter turn each.
    double factor = 1;
    for (int k = 0; k < p; ++k) factor *= l;
    for (int k = 0; k <= H_; ++k) {
      const double cc = 0.5 * (cosine(k - l) + cosine(k + l)), cs = 0.5 * (sine(k + l) + sine(l - k)),
                   sc = 0.5 * (sine(k + l) + sine(k - l)), ss = 0.5 * (cosine(k - l) - cosine(k + l));
      const double w = (k == 0 ? 1.0 : 2.0) * factor;
      const double sign = p == 2 ? -1.0 : 1.0;
      const auto entry = [&](bool test_sine, bool trial_sine) {
        return test_sine ? (trial_sine ? ss : sc) : (trial_sine ? cs : cc);
      };
      for (int a = 0; a < (k == 0 ? 1 : 2); ++a)
        for (int b = 0; b < (l == 0 ? 1 : 2); ++b) {
          const bool trial_sine = (b == 1) != (p == 1);  // cos' = -l sin, sin' = l cos
          const double turn = p == 1 ? (b == 0 ? -1.0 : 1.0) : sign;
          P(k == 0 ? 0 : 2 * k - 1 + a, l == 0 ? 0 : 2 * l - 1 + b) = w * turn * entry(a == 1, trial_sine);
        }
    }
  }
}

}  // namespace stickslip
