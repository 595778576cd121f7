// SPDX-License-Identifier: Apache-2.0
// Sparse L D Lᵀ of a symmetric positive definite matrix, up-looking, with minimum-degree ordering.
//
//   P A Pᵀ = L D Lᵀ,   L unit lower triangular, D diagonal.
//
// The row pattern of L is found by walking the elimination tree (Liu 1990; Davis, Direct Methods for Sparse Linear
// Systems, chapter 4). Written here because a step may not allocate: after analyze(), factorize() and solve() use
// stored memory only, and coordinates can be pinned without a new analysis.
#pragma once

#include <span>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/vector.hpp"

namespace stickslip {

class SparseLdl {
 public:
  /// Ordering and symbolic factorisation; both triangles of A are stored.
  void analyze(const SparseMatrix& A);
  /// Numbers; rows and columns of coordinates with pinned[i] != 0 are those of the identity. False if a pivot is <= 0.
  bool factorize(const SparseMatrix& A, std::span<const char> pinned, StopRequest stop = nullptr);
  void solve(Vector& x) const;

 private:
  std::vector<int> order_, place_;  // order_[k]: coordinate eliminated k-th; place_ is its inverse
  std::vector<int> parent_, column_start_, column_fill_, row_index_, flag_, pattern_;
  std::vector<double> values_, diagonal_, work_;
  mutable std::vector<double> permuted_;
};

}  // namespace stickslip
