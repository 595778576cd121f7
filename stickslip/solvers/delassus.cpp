// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/delassus.hpp"

#include <algorithm>
#include <cassert>

namespace stickslip {

BlockSparseMatrix::BlockSparseMatrix(std::vector<int> block_sizes, const SparseMatrix& matrix) {
  for (int size : block_sizes) starts_.push_back(starts_.back() + size);
  assert(starts_.back() == matrix.rows() && matrix.rows() == matrix.cols());
  std::vector<int> block_of(matrix.cols());
  for (int k = 0; k < blocks(); ++k)
    for (int c = starts_[k]; c < starts_[k + 1]; ++c) block_of[c] = k;
  std::vector<int> columns;
  for (int k = 0; k < blocks(); ++k) {
    columns.assign(1, k);  // the diagonal block is always there
    for (int i = starts_[k]; i < starts_[k + 1]; ++i)
      for (SparseMatrix::InnerIterator entry(matrix, i); entry; ++entry) columns.push_back(block_of[entry.col()]);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    std::size_t offset = values_.size();
    const std::size_t first = entries_.size();
    for (int column : columns) {
      if (column == k) diagonals_.push_back(entries_.size());
      entries_.push_back({column, offset});
      offset += static_cast<std::size_t>(block_size(k)) * block_size(column);
    }
    values_.resize(offset, 0.0);
    for (int i = starts_[k]; i < starts_[k + 1]; ++i)
      for (SparseMatrix::InnerIterator entry(matrix, i); entry; ++entry) {
        const int column = block_of[entry.col()];
        const auto found = std::lower_bound(columns.begin(), columns.end(), column) - columns.begin();
        values_[entries_[first + found].offset + (i - starts_[k]) * block_size(column) + entry.col() -
                starts_[column]] = entry.value();
      }
    row_starts_.push_back(entries_.size());
  }
}

BlockSparseMatrix BlockSparseMatrix::from_dense(std::vector<int> block_sizes, const DenseMatrix& matrix) {
  BlockSparseMatrix result;
  for (int size : block_sizes) result.starts_.push_back(result.starts_.back() + size);
  assert(result.starts_.back() == matrix.rows() && matrix.rows() == matrix.cols());
  for (int k = 0; k < result.blocks(); ++k) {
    for (int j = 0; j < result.blocks(); ++j) {
      const auto block = matrix.block(result.starts_[k], result.starts_[j], result.block_size(k), result.block_size(j));
      if (j != k && (block.array() == 0.0).all()) continue;
      if (j == k) result.diagonals_.push_back(result.entries_.size());
      result.entries_.push_back({j, result.values_.size()});
      for (Index row = 0; row < block.rows(); ++row)
        for (Index column = 0; column < block.cols(); ++column) result.values_.push_back(block(row, column));
    }
    result.row_starts_.push_back(result.entries_.size());
  }
  return result;
}

void BlockSparseMatrix::set_structure(std::span<const int> block_sizes, std::span<const std::size_t> row_starts,
                                      std::span<const int> columns) {
  const std::size_t n = block_sizes.size();
  starts_.resize(n + 1);
  starts_[0] = 0;
  for (std::size_t k = 0; k < n; ++k) starts_[k + 1] = starts_[k] + block_sizes[k];
  row_starts_.assign(row_starts.begin(), row_starts.end());
  entries_.resize(columns.size());
  diagonals_.resize(n);
  std::size_t offset = 0;
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t e = row_starts_[k]; e < row_starts_[k + 1]; ++e) {
      if (columns[e] == static_cast<int>(k)) diagonals_[k] = e;
      entries_[e] = {columns[e], offset};
      offset += static_cast<std::size_t>(block_sizes[k]) * block_sizes[columns[e]];
    }
  values_.assign(offset, 0.0);
}

Index size(const Delassus& D) {
  if (const auto* dense = std::get_if<DenseMatrix>(&D)) return dense->rows();
  return std::get<BlockSparseMatrix>(D).size();
}

void multiply_rows(const Delassus& D, int block, Index first, Index count, const Vector& r, double* out) {
  if (const auto* dense = std::get_if<DenseMatrix>(&D)) {
    for (Index k = 0; k < count; ++k) out[k] = dense->row(first + k).dot(r);
    return;
  }
  const auto& sparse = std::get<BlockSparseMatrix>(D);
  std::fill_n(out, count, 0.0);
  for (const auto& entry : sparse.row(block)) {
    const double* a = sparse.values(entry);
    const double* x = r.data() + sparse.start(entry.column);
    const int columns = sparse.block_size(entry.column);
    for (Index k = 0; k < count; ++k)
      for (int j = 0; j < columns; ++j) out[k] += *a++ * x[j];
  }
}

void multiply(const Delassus& D, const Vector& r, Vector& u) {
  if (const auto* dense = std::get_if<DenseMatrix>(&D)) {
    u.noalias() = *dense * r;
    return;
  }
  const auto& sparse = std::get<BlockSparseMatrix>(D);
  for (int k = 0; k < sparse.blocks(); ++k)
    multiply_rows(D, k, sparse.start(k), sparse.block_size(k), r, u.data() + sparse.start(k));
}

DenseMatrix to_dense(const Delassus& D) {
  if (const auto* dense = std::get_if<DenseMatrix>(&D)) return *dense;
  const auto& sparse = std::get<BlockSparseMatrix>(D);
  DenseMatrix result = DenseMatrix::Zero(sparse.size(), sparse.size());
  for (int k = 0; k < sparse.blocks(); ++k)
    for (const auto& entry : sparse.row(k)) {
      const double* a = sparse.values(entry);
      for (int i = 0; i < sparse.block_size(k); ++i)
        for (int j = 0; j < sparse.block_size(entry.column); ++j)
          result(sparse.start(k) + i, sparse.start(entry.column) + j) = *a++;
    }
  return result;
}

}  // namespace stickslip
