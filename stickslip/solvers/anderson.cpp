// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/anderson.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {
Eigen::Map<const Vector> as_vector(const std::vector<double>& x) { return {x.data(), static_cast<Index>(x.size())}; }
}  // namespace

void Anderson::resize(int size) {
  if (size != size_) {
    size_ = size;
    for (auto* list : {&df_, &dg_})
      for (auto& column : *list) column.resize(size);
    for (auto* x : {&f_, &last_f_, &last_g_}) x->resize(size);
    weighted_.resize(size);
  }
  clear();
}

double Anderson::step(const double* x, const double* g, const double* weights, double* next) {
  const Eigen::Map<const Vector> weight(weights, size_);
  double norm = 0;
  for (int k = 0; k < size_; ++k) {
    f_[k] = g[k] - x[k];
    norm += weights[k] * f_[k] * f_[k];
  }
  if (has_last_) {
    newest_ = columns_ < kMemory ? columns_++ : (newest_ + 1) % kMemory;
    std::vector<double>&df = df_[newest_], &dg = dg_[newest_];
    for (int k = 0; k < size_; ++k) {
      df[k] = f_[k] - last_f_[k];
      dg[k] = g[k] - last_g_[k];
    }
    weighted_ = weight.cwiseProduct(as_vector(df));
    for (int c = 0; c < columns_; ++c) gram_[newest_][c] = gram_[c][newest_] = weighted_.dot(as_vector(df_[c]));
  }
  std::copy_n(g, size_, last_g_.begin());
  std::copy(f_.begin(), f_.end(), last_f_.begin());
  has_last_ = true;
  if (next != g) std::copy_n(g, size_, next);
  if (columns_ == 0) return norm;

  std::array<std::array<double, kMemory>, kMemory> L;
  std::array<double, kMemory> gamma;
  double trace = 0;
  constexpr double kRidge = 1e-12;  // of the largest column: bounds the coefficients where columns are nearly dependent
  constexpr double kDependent = 1e-14;  // of a column: what is left of it beside the others is round-off
  for (int c = 0; c < columns_; ++c) trace = std::max(trace, gram_[c][c]);
  weighted_ = weight.cwiseProduct(as_vector(f_));
  for (int c = 0; c < columns_; ++c) gamma[c] = weighted_.dot(as_vector(df_[c]));
  for (int i = 0; i < columns_; ++i) {
    for (int j = 0; j <= i; ++j) {
      double sum = gram_[i][j] + (i == j ? kRidge * trace : 0.0);
      for (int k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      if (i == j) {
        if (!(sum > kDependent * gram_[i][i])) return norm;  // take the plain step
        L[i][i] = std::sqrt(sum);
      } else {
        L[i][j] = sum / L[j][j];
      }
    }
    for (int k = 0; k < i; ++k) gamma[i] -= L[i][k] * gamma[k];
    gamma[i] /= L[i][i];
  }
  for (int i = columns_ - 1; i >= 0; --i) {
    for (int k = i + 1; k < columns_; ++k) gamma[i] -= L[k][i] * gamma[k];
    gamma[i] /= L[i][i];
  }
  Eigen::Map<Vector> result(next, size_);
  for (int c = 0; c < columns_; ++c) result -= gamma[c] * as_vector(dg_[c]);
  return norm;
}

}  // namespace stickslip
