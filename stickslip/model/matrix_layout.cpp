// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/matrix_layout.hpp"

#include <algorithm>
#include <cassert>
#include <vector>

namespace stickslip {

/// SystemMatrix only reads; but the matrix is the caller's own and not const, so its numbers may be written.
double* MatrixLayout::numbers(SystemMatrix& matrix) {
  const double* first = nullptr;
  switch (matrix.storage()) {
    case Storage::dense:
      first = matrix.dense().data();
      break;
    case Storage::banded:
      first = matrix.banded().row(0);
      break;
    case Storage::sparse:
      first = matrix.sparse().valuePtr();
      break;
  }
  return const_cast<double*>(first);
}

MatrixLayout::MatrixLayout(Index size, std::span<const std::pair<Index, Index>> entries) {
  std::vector<Eigen::Triplet<double, int>> pattern;
  for (int i = 0; i < static_cast<int>(size); ++i) pattern.emplace_back(i, i, 1.0);
  for (const auto& [i, j] : entries) pattern.emplace_back(static_cast<int>(i), static_cast<int>(j), 1.0);
  SparseMatrix sparse(size, size);
  sparse.setFromTriplets(pattern.begin(), pattern.end());
  zero_ = SystemMatrix::compact(sparse);
  switch (zero_.storage()) {
    case Storage::dense:
      count_ = size * size;
      break;
    case Storage::banded:
      count_ = size * zero_.banded().width();
      break;
    case Storage::sparse:
      count_ = zero_.sparse().nonZeros();
      break;
  }
  std::fill_n(numbers(zero_), count_, 0.0);
}

double* MatrixLayout::clear(SystemMatrix& matrix) const {
  if (!matches(matrix)) matrix = zero_;
  double* first = numbers(matrix);
  std::fill_n(first, count_, 0.0);
  return first;
}

bool MatrixLayout::matches(const SystemMatrix& matrix) const {
  if (matrix.size() != zero_.size() || matrix.storage() != zero_.storage()) return false;
  if (zero_.storage() == Storage::banded)
    return matrix.banded().lower() == zero_.banded().lower() && matrix.banded().upper() == zero_.banded().upper();
  if (zero_.storage() == Storage::dense) return true;
  const SparseMatrix &a = matrix.sparse(), &b = zero_.sparse();
  return a.isCompressed() && a.nonZeros() == b.nonZeros() &&
         std::equal(b.outerIndexPtr(), b.outerIndexPtr() + b.rows() + 1, a.outerIndexPtr()) &&
         std::equal(b.innerIndexPtr(), b.innerIndexPtr() + b.nonZeros(), a.innerIndexPtr());
}

Index MatrixLayout::offset(Index i, Index j) const {
  switch (zero_.storage()) {
    case Storage::dense:
      return i + j * zero_.size();
    case Storage::banded:
      return i * zero_.banded().width() + j - i + zero_.banded().lower();
    case Storage::sparse:
      break;
  }
  const SparseMatrix& s = zero_.sparse();
  const int* begin = s.innerIndexPtr() + s.outerIndexPtr()[i];
  const int* end = s.innerIndexPtr() + s.outerIndexPtr()[i + 1];
  const int* found = std::lower_bound(begin, end, static_cast<int>(j));
  assert(found != end && *found == j);
  return found - s.innerIndexPtr();
}

std::vector<std::pair<Index, Index>> all_entries(Index n) {
  std::vector<std::pair<Index, Index>> entries;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) entries.emplace_back(i, j);
  return entries;
}

}  // namespace stickslip
