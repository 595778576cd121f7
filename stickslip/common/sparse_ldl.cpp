// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/sparse_ldl.hpp"

#include <Eigen/OrderingMethods>

namespace stickslip {

void SparseLdl::analyze(const SparseMatrix& A) {
  const int n = static_cast<int>(A.rows());
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> by_columns = A;
  if (n > 0) Eigen::AMDOrdering<int>()(by_columns, permutation);
  order_.assign(permutation.indices().data(), permutation.indices().data() + n);
  place_.assign(n, 0);
  for (int k = 0; k < n; ++k) place_[order_[k]] = k;

  parent_.assign(n, -1);
  flag_.assign(n, -1);
  std::vector<int> count(n, 0);
  for (int k = 0; k < n; ++k) {
    flag_[k] = k;
    for (SparseMatrix::InnerIterator entry(A, order_[k]); entry; ++entry)
      for (int i = place_[entry.col()]; i < k && flag_[i] != k; i = parent_[i]) {
        if (parent_[i] < 0) parent_[i] = k;
        ++count[i];
        flag_[i] = k;
      }
  }
  column_start_.assign(n + 1, 0);
  for (int k = 0; k < n; ++k) column_start_[k + 1] = column_start_[k] + count[k];
  row_index_.assign(column_start_[n], 0);
  values_.assign(column_start_[n], 0.0);
  column_fill_.assign(n, 0);
  pattern_.assign(n, 0);
  diagonal_.assign(n, 0.0);
  work_.assign(n, 0.0);
  permuted_.assign(n, 0.0);
}

bool SparseLdl::factorize(const SparseMatrix& A, std::span<const char> pinned, StopRequest stop) {
  const int n = static_cast<int>(order_.size());
  std::fill(column_fill_.begin(), column_fill_.end(), 0);
  std::fill(flag_.begin(), flag_.end(), -1);
  for (int k = 0; k < n; ++k) {
    if (raised(stop)) return false;
    const int row = order_[k];
    flag_[k] = k;
    work_[k] = 0;
    int top = n;
    if (pinned[row]) {
      work_[k] = 1;
    } else {
      for (SparseMatrix::InnerIterator entry(A, row); entry; ++entry) {
        int i = place_[entry.col()];
        if (i > k || pinned[entry.col()]) continue;
        work_[i] += entry.value();
        int length = 0;
        for (; flag_[i] != k; i = parent_[i]) {
          pattern_[length++] = i;
          flag_[i] = k;
        }
        while (length > 0) pattern_[--top] = pattern_[--length];
      }
    }
    double pivot = work_[k];
    work_[k] = 0;
    for (; top < n; ++top) {
      const int i = pattern_[top];
      const double y = work_[i];
      work_[i] = 0;
      const int end = column_start_[i] + column_fill_[i];
      for (int p = column_start_[i]; p < end; ++p) work_[row_index_[p]] -= values_[p] * y;
      const double l = y / diagonal_[i];
      pivot -= l * y;
      row_index_[end] = k;
      values_[end] = l;
      ++column_fill_[i];
    }
    if (!(pivot > 0)) return false;
    diagonal_[k] = pivot;
  }
  return true;
}

void SparseLdl::solve(Vector& x) const {
  const int n = static_cast<int>(order_.size());
  for (int k = 0; k < n; ++k) permuted_[k] = x[order_[k]];
  for (int k = 0; k < n; ++k)
    for (int p = column_start_[k], end = p + column_fill_[k]; p < end; ++p)
      permuted_[row_index_[p]] -= values_[p] * permuted_[k];
  for (int k = 0; k < n; ++k) permuted_[k] /= diagonal_[k];
  for (int k = n - 1; k >= 0; --k)
    for (int p = column_start_[k], end = p + column_fill_[k]; p < end; ++p)
      permuted_[k] -= values_[p] * permuted_[row_index_[p]];
  for (int k = 0; k < n; ++k) x[order_[k]] = permuted_[k];
}

}  // namespace stickslip
