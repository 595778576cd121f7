// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/pinned_factor.hpp"

#include <Eigen/SparseLU>
#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace stickslip {

struct PinnedFactor::General {
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> matrix;
  Eigen::SparseLU<Eigen::SparseMatrix<double, Eigen::ColMajor, int>> lu;
};

PinnedFactor::PinnedFactor() = default;
PinnedFactor::~PinnedFactor() = default;
PinnedFactor::PinnedFactor(PinnedFactor&&) noexcept = default;
PinnedFactor& PinnedFactor::operator=(PinnedFactor&&) noexcept = default;

namespace {
constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr Index kPanel = 4;

using Column = Eigen::Map<Eigen::ArrayXd>;

/// LU without pivoting of the n × n matrix at a (columns `stride` apart), in place, inverse pivots on the diagonal.
/// Four columns at a time, so that the trailing columns are read and written a quarter as often. smallest[k]: the pivot
/// that counts as zero.
bool factorize_columns(double* a, Index n, Index stride, const Vector& smallest, StopRequest stop) {
  for (Index first = 0; first < n; first += kPanel) {
    if (raised(stop)) return false;
    const Index end = std::min(n, first + kPanel), below = n - end;
    for (Index k = first; k < end; ++k) {
      double* l = a + k * stride;
      if (!(l[k] > smallest[k])) return false;
      const double inverse = l[k] = 1.0 / l[k];
      for (Index i = k + 1; i < n; ++i) l[i] *= inverse;
      for (Index j = k + 1; j < end; ++j) {
        double* c = a + j * stride;
        const double u = c[k];
        for (Index i = k + 1; i < n; ++i) c[i] -= l[i] * u;
      }
    }
    if (below == 0) return true;
    const double *l0 = a + first * stride, *l1 = l0 + stride, *l2 = l1 + stride;
    Column c0(a + first * stride + end, below), c1(c0.data() + stride, below), c2(c1.data() + stride, below),
        c3(c2.data() + stride, below);
    for (Index j = end; j < n; ++j) {
      double* u = a + j * stride + first;
      u[1] -= l0[first + 1] * u[0];
      u[2] -= l0[first + 2] * u[0] + l1[first + 2] * u[1];
      u[3] -= l0[first + 3] * u[0] + l1[first + 3] * u[1] + l2[first + 3] * u[2];
      Column(u + kPanel, below) -= c0 * u[0] + c1 * u[1] + c2 * u[2] + c3 * u[3];
    }
  }
  return true;
}

/// Loops of known length, so that they are unrolled.
template <int N>
void solve_small(const double* a, double* x) {
#pragma GCC unroll 4
  for (int j = 0; j < N; ++j) {
#pragma GCC unroll 4
    for (int i = j + 1; i < N; ++i) x[i] -= a[j * N + i] * x[j];
  }
#pragma GCC unroll 4
  for (int j = N - 1; j >= 0; --j) {
    x[j] *= a[j * N + j];
#pragma GCC unroll 4
    for (int i = 0; i < j; ++i) x[i] -= a[j * N + i] * x[j];
  }
}

void solve_columns(const double* a, Index n, Index stride, double* x) {
  for (Index j = 0; j < n; ++j) {
    const double xj = x[j];
    for (Index i = j + 1; i < n; ++i) x[i] -= a[j * stride + i] * xj;
  }
  for (Index j = n - 1; j >= 0; --j) {
    const double xj = x[j] *= a[j * stride + j];
    for (Index i = 0; i < j; ++i) x[i] -= a[j * stride + i] * xj;
  }
}
}  // namespace

bool PinnedFactor::factorize(const DenseMatrix& A, std::span<const char> pinned, StopRequest stop) {
  const Index n = A.rows();
  storage_ = Storage::dense;
  if (dense_.rows() != n) {
    dense_.resize(n, n);
    free_.resize(n);
    gathered_.resize(n);
  }
  free_count_ = 0;
  for (Index k = 0; k < n; ++k)
    if (!pinned[k]) free_[free_count_++] = static_cast<int>(k);
  for (Index j = 0; j < free_count_; ++j)
    for (Index i = 0; i < free_count_; ++i) dense_(i, j) = A(free_[i], free_[j]);
  for (Index k = 0; k < free_count_; ++k)
    gathered_[k] = std::abs(dense_(k, k)) * kEpsilon * static_cast<double>(free_count_);
  return factorize_columns(dense_.data(), free_count_, n, gathered_, stop);
}

void PinnedFactor::solve_dense(Vector& x) const {
  const Index n = dense_.rows();
  if (free_count_ == n) {
    switch (n) {
      case 1:
        return solve_small<1>(dense_.data(), x.data());
      case 2:
        return solve_small<2>(dense_.data(), x.data());
      case 3:
        return solve_small<3>(dense_.data(), x.data());
      case 4:
        return solve_small<4>(dense_.data(), x.data());
      default:
        return solve_columns(dense_.data(), n, n, x.data());
    }
  }
  for (Index k = 0; k < free_count_; ++k) gathered_[k] = x[free_[k]];
  solve_columns(dense_.data(), free_count_, n, gathered_.data());
  for (Index k = 0; k < free_count_; ++k) x[free_[k]] = gathered_[k];
}

void PinnedFactor::analyze(const SparseMatrix& A) {
  assert(A.isCompressed());
  const int n = static_cast<int>(A.rows()), entries = static_cast<int>(A.nonZeros());
  const int *starts = A.outerIndexPtr(), *columns = A.innerIndexPtr();
  if (static_cast<int>(row_starts_.size()) == n + 1 && static_cast<int>(columns_.size()) == entries &&
      std::equal(row_starts_.begin(), row_starts_.end(), starts) &&
      std::equal(columns_.begin(), columns_.end(), columns))
    return;
  row_starts_.assign(starts, starts + n + 1);
  columns_.assign(columns, columns + entries);
  mirror_.assign(entries, -1);
  for (int i = 0; i < n; ++i)
    for (int p = starts[i]; p < starts[i + 1]; ++p) {
      const int *row = columns + starts[columns[p]], *row_end = columns + starts[columns[p] + 1];
      if (const int* found = std::lower_bound(row, row_end, i); found != row_end && *found == i)
        mirror_[p] = static_cast<int>(found - columns);
    }
  ldl_analyzed_ = false;
  general_.reset();
}

bool PinnedFactor::is_symmetric(const SparseMatrix& A) const {
  const double* value = A.valuePtr();
  for (std::size_t p = 0; p < mirror_.size(); ++p) {
    const double other = mirror_[p] < 0 ? 0.0 : value[mirror_[p]];
    if (std::abs(value[p] - other) > 4 * kEpsilon * std::abs(value[p])) return false;
  }
  return true;
}

bool PinnedFactor::factorize_sparse(const SparseMatrix& A, std::span<const char> pinned, StopRequest stop) {
  analyze(A);
  use_general_ = !is_symmetric(A);
  if (!use_general_) {
    if (!ldl_analyzed_) ldl_.analyze(A);
    ldl_analyzed_ = true;
    return ldl_.factorize(A, pinned, stop);
  }
  const bool analyzed = general_ != nullptr;
  if (!analyzed) general_ = std::make_unique<General>();
  general_->matrix = A;
  if (!analyzed) general_->lu.analyzePattern(general_->matrix);
  for (int j = 0; j < static_cast<int>(A.rows()); ++j)
    for (Eigen::SparseMatrix<double>::InnerIterator entry(general_->matrix, j); entry; ++entry)
      if (pinned[entry.row()] || pinned[j]) entry.valueRef() = entry.row() == j ? 1.0 : 0.0;
  general_->lu.factorize(general_->matrix);
  return general_->lu.info() == Eigen::Success;
}

bool PinnedFactor::factorize(const SystemMatrix& A, std::span<const char> pinned, StopRequest stop) {
  if (A.storage() == Storage::dense) return factorize(A.dense(), pinned, stop);
  storage_ = A.storage();
  if (storage_ == Storage::sparse) return factorize_sparse(A.sparse(), pinned, stop);
  banded_ = A.banded();
  const Index n = A.size();
  for (Index k = 0; k < n; ++k) {
    if (!pinned[k]) continue;
    for (Index j = banded_.first_column(k); j <= banded_.last_column(k); ++j) banded_(k, j) = 0;
    const Index last_row = std::min(n - 1, k + banded_.lower());
    for (Index i = std::max<Index>(0, k - banded_.upper()); i <= last_row; ++i) banded_(i, k) = 0;
    banded_(k, k) = 1;
  }
  return banded_.factorize();
}

void PinnedFactor::solve(Vector& x) const {
  switch (storage_) {
    case Storage::dense:
      return solve_dense(x);
    case Storage::banded:
      return banded_.solve_factored(x);
    case Storage::sparse:
      if (use_general_) {
        x = general_->lu.solve(x);
      } else {
        ldl_.solve(x);
      }
  }
}

}  // namespace stickslip
