// SPDX-License-Identifier: Apache-2.0
// The matrix D = Wᵀ M⁻¹ W of the inclusion (*), dense or block-sparse. It need not be symmetric, and it may be
// singular.
#pragma once

#include <span>
#include <variant>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

/// Rows and columns cut into blocks (one per law); only the blocks that are present are stored, each contiguous and
/// row-major, so that a sweep over laws walks memory forwards.
class BlockSparseMatrix {
 public:
  struct Entry {
    int column;          ///< block column
    std::size_t offset;  ///< of its first value
  };
  BlockSparseMatrix() = default;
  /// Block sizes and an ordinary sparse matrix: every block with a stored entry is kept in full.
  BlockSparseMatrix(std::vector<int> block_sizes, const SparseMatrix& matrix);
  /// The same from a dense matrix: blocks that are zero are dropped, except on the diagonal.
  static BlockSparseMatrix from_dense(std::vector<int> block_sizes, const DenseMatrix& matrix);
  /// New structure with zero values: columns of block row k are columns[row_starts[k] .. row_starts[k+1]), ascending,
  /// the diagonal among them. Memory is kept.
  void set_structure(std::span<const int> block_sizes, std::span<const std::size_t> row_starts,
                     std::span<const int> columns);

  Index size() const { return starts_.empty() ? 0 : starts_.back(); }
  int blocks() const { return static_cast<int>(starts_.size()) - 1; }
  int start(int block) const { return starts_[block]; }
  int block_size(int block) const { return starts_[block + 1] - starts_[block]; }
  std::span<const Entry> row(int block) const {
    return {entries_.data() + row_starts_[block], entries_.data() + row_starts_[block + 1]};
  }
  const double* values(const Entry& entry) const { return values_.data() + entry.offset; }
  double* values(const Entry& entry) { return values_.data() + entry.offset; }
  /// Block (k, k), row-major.
  const double* diagonal(int block) const { return values_.data() + entries_[diagonals_[block]].offset; }
  /// All entries and values, rows one after the other; row k from row_starts()[k].
  std::span<const std::size_t> row_starts() const { return row_starts_; }
  std::span<const Entry> entries() const { return entries_; }
  std::span<const std::size_t> diagonals() const { return diagonals_; }
  std::span<const double> all_values() const { return values_; }
  std::span<double> all_values() { return values_; }

 private:
  std::vector<int> starts_{0};
  std::vector<std::size_t> row_starts_{0};
  std::vector<Entry> entries_;
  std::vector<std::size_t> diagonals_;  // entry of block (k, k)
  std::vector<double> values_;
};

using Delassus = std::variant<DenseMatrix, BlockSparseMatrix>;

Index size(const Delassus& D);
/// u = D r
void multiply(const Delassus& D, const Vector& r, Vector& u);
DenseMatrix to_dense(const Delassus& D);
/// out = (D r)_rows for `count` rows from `first` (one law; with block storage these rows must be one block).
void multiply_rows(const Delassus& D, int block, Index first, Index count, const Vector& r, double* out);

}  // namespace stickslip
