// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/least_norm.hpp"

namespace stickslip {

void LeastNorm::factor(const DenseMatrix& A) {
  qr_.compute(A);
  regular_ = qr_.rank() == A.cols();
  if (!regular_) deficient_.compute(A);
}

void LeastNorm::solve(const Vector& b, Vector& x) {
  if (!regular_) {
    x = deficient_.solve(b);
    return;
  }
  const DenseMatrix& packed = qr_.matrixQR();
  const Index n = packed.cols();
  double scratch = 0;  // of one column
  turned_ = b;
  for (Index k = 0; k < n; ++k)
    turned_.tail(n - k).applyHouseholderOnTheLeft(packed.col(k).tail(n - k - 1), qr_.hCoeffs()[k], &scratch);
  packed.triangularView<Eigen::Upper>().solveInPlace(turned_);
  x.resize(n);
  for (Index k = 0; k < n; ++k) x[qr_.colsPermutation().indices()[k]] = turned_[k];
}

}  // namespace stickslip
