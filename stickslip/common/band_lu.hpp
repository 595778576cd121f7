// SPDX-License-Identifier: Apache-2.0
// LU factors with row exchanges of a band matrix, a_ij = 0 for |i - j| > b, real or complex: O(n b²) operations,
// O(n b) memory.
//
// Row k is exchanged with the row of the largest |a_ik|, i = k .. k + b, so that U has 2b superdiagonals; L is kept as
// the sequence of its exchanges and eliminations.
//
// Source: Golub, Van Loan, Matrix Computations, 4th ed., 4.3.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

template <class Scalar>
class BandLu {
 public:
  /// Takes memory; all entries 0.
  void resize(Index n, Index half_width) {
    n_ = n;
    b_ = half_width;
    data_.assign(static_cast<std::size_t>(n * (3 * b_ + 1)), Scalar(0));
    exchange_.assign(static_cast<std::size_t>(n), 0);
  }
  void set_zero() { std::fill(data_.begin(), data_.end(), Scalar(0)); }
  Index half_width() const { return b_; }
  Scalar& at(Index i, Index j) { return data_[static_cast<std::size_t>(i * (3 * b_ + 1) + j - i + b_)]; }
  const Scalar& at(Index i, Index j) const { return data_[static_cast<std::size_t>(i * (3 * b_ + 1) + j - i + b_)]; }

  /// In place. False at a pivot that is 0.
  bool factorise() {
    Index reach = 0;  // last column that the rows seen so far fill
    for (Index k = 0; k < n_; ++k) {
      const Index last = std::min(k + b_, n_ - 1);
      Index pivot = k;
      for (Index i = k + 1; i <= last; ++i)
        if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
      exchange_[static_cast<std::size_t>(k)] = pivot;
      if (at(pivot, k) == Scalar(0)) return false;
      reach = std::max(reach, std::min(pivot + b_, n_ - 1));
      if (pivot != k) std::swap_ranges(&at(k, k), &at(k, reach) + 1, &at(pivot, k));
      const Scalar inverse = Scalar(1) / at(k, k);
      const Scalar* const from = &at(k, k);
      for (Index i = k + 1; i <= last; ++i) {
        Scalar* const row = &at(i, k);
        if (row[0] == Scalar(0)) continue;
        const Scalar factor = row[0] *= inverse;
        for (Index j = 1; j <= reach - k; ++j) row[j] -= factor * from[j];
      }
    }
    return true;
  }
  template <class X>
  void solve(X& x) const {
    for (Index k = 0; k < n_; ++k) {
      if (const Index pivot = exchange_[static_cast<std::size_t>(k)]; pivot != k) std::swap(x[k], x[pivot]);
      for (Index i = k + 1; i <= std::min(k + b_, n_ - 1); ++i) x[i] -= at(i, k) * x[k];
    }
    for (Index k = n_ - 1; k >= 0; --k) {
      Scalar sum = x[k];
      for (Index j = k + 1; j <= std::min(k + 2 * b_, n_ - 1); ++j) sum -= at(k, j) * x[j];
      x[k] = sum / at(k, k);
    }
  }

 private:
  Index n_ = 0, b_ = 0;
  std::vector<Scalar> data_;
  std::vector<Index> exchange_;
};

}  // namespace stickslip
