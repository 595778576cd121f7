// SPDX-License-Identifier: Apache-2.0
// x = A⁺ b: the shortest of those x that come nearest to A x = b.
//
// By a pivoted QR factorisation, A Π = Q R; where its rank (Eigen's threshold, n ε of the largest pivot) is that of A,
// this is all, and nothing is allocated while the size stays the same. Else by a complete orthogonal decomposition,
// which allocates.
#pragma once

#include "stickslip/common/decompositions.hpp"

namespace stickslip {

class LeastNorm {
 public:
  /// A is square and finite.
  void factor(const DenseMatrix& A);
  void solve(const Vector& b, Vector& x);

 private:
  Eigen::ColPivHouseholderQR<DenseMatrix> qr_;
  Eigen::CompleteOrthogonalDecomposition<DenseMatrix> deficient_;
  bool regular_ = false;
  Vector turned_;  // Qᵀ b
};

}  // namespace stickslip
