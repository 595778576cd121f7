// SPDX-License-Identifier: Apache-2.0
// Factors of A with some coordinates pinned: their rows and columns are replaced by those of the identity.
//
// With S the pinned (stuck) and F the free coordinates, solve() of the right-hand side (b_F - A_FS x_S, x_S) gives
// A_FF x_F = b_F - A_FS x_S and returns x_S unchanged to the last bit: a stuck velocity is exactly what it was set to.
//
// Requires the symmetric part of A to be positive definite (true for a step matrix with a mass matrix in it), so that
// no pivoting is needed and every choice of pinned coordinates is solvable. Memory is taken once; factorize() and
// solve() allocate nothing, except for sparse A that is not symmetric (Eigen's SparseLU).
//
// Sparse A: the ordering is kept as long as the positions of the stored entries are the same, and whether A is
// symmetric (to round-off) is looked at in every factorize(), because it may change with the numbers.
#pragma once

#include <memory>
#include <span>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/sparse_ldl.hpp"
#include "stickslip/common/system_matrix.hpp"

namespace stickslip {

class PinnedFactor {
 public:
  PinnedFactor();
  ~PinnedFactor();
  PinnedFactor(PinnedFactor&&) noexcept;
  PinnedFactor& operator=(PinnedFactor&&) noexcept;

  /// False if a pivot is not positive: A is not positive definite. Dense: also if a pivot is round-off beside the
  /// diagonal entry it came from (A_FF is singular). Sparse and not symmetric: only if A_FF is singular.
  /// A stop request ends it as well (dense, and sparse and symmetric): false, and there are no factors.
  bool factorize(const SystemMatrix& A, std::span<const char> pinned, StopRequest stop = nullptr);
  bool factorize(const DenseMatrix& A, std::span<const char> pinned, StopRequest stop = nullptr);
  void solve(Vector& x) const;

 private:
  struct General;  // sparse, not symmetric
  bool factorize_sparse(const SparseMatrix& A, std::span<const char> pinned, StopRequest stop);
  void analyze(const SparseMatrix& A);
  bool is_symmetric(const SparseMatrix& A) const;
  void solve_dense(Vector& x) const;

  Storage storage_ = Storage::dense;
  DenseMatrix dense_;      // leading free_count_ rows and columns: the factors of A_FF
  std::vector<int> free_;  // leading free_count_ entries: F
  Index free_count_ = 0;
  mutable Vector gathered_;  // x_F
  BandedMatrix banded_;
  SparseLdl ldl_;
  std::unique_ptr<General> general_;
  std::vector<int> row_starts_, columns_;  // positions of the entries of the analysed sparse A
  std::vector<int> mirror_;                // position of (j, i) for the entry (i, j), or -1
  bool ldl_analyzed_ = false, use_general_ = false;
};

}  // namespace stickslip
