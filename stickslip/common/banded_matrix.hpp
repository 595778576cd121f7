// SPDX-License-Identifier: Apache-2.0
// Square matrix with a_ij = 0 outside -lower <= j - i <= upper, stored row by row: a chain of n masses costs O(n).
#pragma once

#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

class BandedMatrix {
 public:
  BandedMatrix() = default;
  BandedMatrix(Index size, Index lower, Index upper);

  Index size() const { return size_; }
  Index lower() const { return lower_; }
  Index upper() const { return upper_; }
  Index width() const { return lower_ + upper_ + 1; }

  /// Valid only inside the band.
  double& operator()(Index i, Index j) { return data_[i * width() + j - i + lower_]; }
  double operator()(Index i, Index j) const { return data_[i * width() + j - i + lower_]; }
  Index first_column(Index i) const { return std::max<Index>(0, i - lower_); }
  Index last_column(Index i) const { return std::min(size_ - 1, i + upper_); }

  void set_zero() { std::fill(data_.begin(), data_.end(), 0.0); }
  const double* row(Index i) const { return data_.data() + i * width(); }

  /// (A x)_i
  double row_product(Index i, const Vector& x) const {
    const Index first = first_column(i), last = last_column(i);
    const double* a = row(i) + first - i + lower_;
    double sum = 0;
    for (Index j = first; j <= last; ++j) sum += *a++ * x[j];
    return sum;
  }
  /// y += alpha A x
  void add_product(double alpha, const Vector& x, Vector& y) const;

  /// In-place LU without pivoting. Stable when the symmetric part of A is positive definite (then every pivot is
  /// positive). Returns false at the first pivot that is not.
  bool factorize();
  /// Solves with the factors left by factorize(), in place.
  void solve_factored(Vector& x) const;

 private:
  Index size_ = 0, lower_ = 0, upper_ = 0;
  std::vector<double> data_;
};

}  // namespace stickslip
