// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/banded_matrix.hpp"

#include <algorithm>
#include <cassert>

namespace stickslip {

BandedMatrix::BandedMatrix(Index size, Index lower, Index upper)
    : size_(size), lower_(lower), upper_(upper), data_(static_cast<std::size_t>(size * (lower + upper + 1)), 0.0) {
  assert(size >= 0 && lower >= 0 && upper >= 0);
}

void BandedMatrix::add_product(double alpha, const Vector& x, Vector& y) const {
  const Index n = size_;
  const double* a = data_.data();
  if (lower_ == 0 && upper_ == 0) {
    for (Index i = 0; i < n; ++i) y[i] += alpha * a[i] * x[i];
    return;
  }
  if (lower_ == 1 && upper_ == 1 && n > 1) {
    y[0] += alpha * (a[1] * x[0] + a[2] * x[1]);
    for (Index i = 1; i < n - 1; ++i)
      y[i] += alpha * (a[3 * i] * x[i - 1] + a[3 * i + 1] * x[i] + a[3 * i + 2] * x[i + 1]);
    y[n - 1] += alpha * (a[3 * (n - 1)] * x[n - 2] + a[3 * (n - 1) + 1] * x[n - 1]);
    return;
  }
  for (Index i = 0; i < n; ++i) {
    const double* entry = row(i) + first_column(i) - i + lower_;
    double sum = 0;
    for (Index j = first_column(i), last = last_column(i); j <= last; ++j) sum += *entry++ * x[j];
    y[i] += alpha * sum;
  }
}

bool BandedMatrix::factorize() {
  double* a = data_.data();
  if (lower_ == 1 && upper_ == 1) {
    for (Index i = 0; i < size_; ++i) {
      double* row_i = a + 3 * i;
      if (i > 0 && row_i[0] != 0.0) {
        row_i[0] *= a[3 * (i - 1) + 1];  // the previous pivot is kept inverted
        row_i[1] -= row_i[0] * a[3 * (i - 1) + 2];
      }
      if (!(row_i[1] > 0)) return false;
      row_i[1] = 1.0 / row_i[1];
    }
    return true;
  }
  for (Index k = 0; k < size_; ++k) {
    double& pivot = (*this)(k, k);
    if (!(pivot > 0)) return false;
    pivot = 1.0 / pivot;
    const Index last_row = std::min(size_ - 1, k + lower_);
    const Index last = last_column(k);
    for (Index i = k + 1; i <= last_row; ++i) {
      double& l = (*this)(i, k);
      if (l == 0.0) continue;
      l *= pivot;
      for (Index j = k + 1; j <= last; ++j) (*this)(i, j) -= l * (*this)(k, j);
    }
  }
  return true;
}

void BandedMatrix::solve_factored(Vector& x) const {
  const double* a = data_.data();
  const Index n = size_;
  if (n == 0) return;
  if (lower_ == 1 && upper_ == 1) {
    for (Index i = 1; i < n; ++i) x[i] -= a[3 * i] * x[i - 1];
    x[n - 1] *= a[3 * (n - 1) + 1];
    for (Index i = n - 2; i >= 0; --i) x[i] = (x[i] - a[3 * i + 2] * x[i + 1]) * a[3 * i + 1];
    return;
  }
  for (Index i = 0; i < n; ++i)
    for (Index j = first_column(i); j < i; ++j) x[i] -= (*this)(i, j) * x[j];
  for (Index i = n - 1; i >= 0; --i) {
    for (Index j = i + 1, last = last_column(i); j <= last; ++j) x[i] -= (*this)(i, j) * x[j];
    x[i] *= (*this)(i, i);
  }
}

}  // namespace stickslip
