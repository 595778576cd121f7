// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/system_matrix.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace stickslip {

namespace {
constexpr Index kSmall = 8;  // up to here a dense loop beats any structure

struct Band {
  Index lower = 0, upper = 0;
};

Band bandwidth(const SparseMatrix& matrix) {
  Band band;
  for (Index i = 0; i < matrix.rows(); ++i)
    for (SparseMatrix::InnerIterator entry(matrix, i); entry; ++entry) {
      if (entry.value() == 0.0) continue;
      band.lower = std::max(band.lower, i - static_cast<Index>(entry.col()));
      band.upper = std::max(band.upper, static_cast<Index>(entry.col()) - i);
    }
  return band;
}

BandedMatrix to_banded(const SparseMatrix& matrix, Band band) {
  BandedMatrix banded(matrix.rows(), band.lower, band.upper);
  for (Index i = 0; i < matrix.rows(); ++i)
    for (SparseMatrix::InnerIterator entry(matrix, i); entry; ++entry)
      if (entry.value() != 0.0) banded(i, entry.col()) = entry.value();
  return banded;
}
}  // namespace

SystemMatrix::SystemMatrix(SparseMatrix sparse) : data_(std::move(sparse)) {
  std::get<SparseMatrix>(data_).makeCompressed();
}

SystemMatrix SystemMatrix::compact(const SparseMatrix& matrix) {
  const Index n = matrix.rows();
  const Band band = bandwidth(matrix);
  if (n <= kSmall) return SystemMatrix(DenseMatrix(matrix));
  if (band.lower + band.upper + 1 <= std::max<Index>(3, std::min<Index>(n / 4, 48)))
    return SystemMatrix(to_banded(matrix, band));
  if (matrix.nonZeros() > n * n / 4) return SystemMatrix(DenseMatrix(matrix));
  return SystemMatrix(matrix);
}

Index SystemMatrix::size() const {
  return std::visit(
      [](const auto& m) -> Index {
        if constexpr (std::is_same_v<std::decay_t<decltype(m)>, BandedMatrix>) {
          return m.size();
        } else {
          return m.rows();
        }
      },
      data_);
}

namespace {
/// Loops of known length, so that they are unrolled.
template <int N>
inline void add_small_product(const double* a, double alpha, const double* x, double* y) {
#pragma GCC unroll 8
  for (int i = 0; i < N; ++i) {
    double sum = y[i];
#pragma GCC unroll 8
    for (int j = 0; j < N; ++j) sum += a[i + j * N] * (alpha * x[j]);
    y[i] = sum;
  }
}

void add_small_product(const DenseMatrix& A, double alpha, const Vector& x, Vector& y) {
  const Index n = A.rows();
  const double* a = A.data();
  switch (n) {
    case 1:
      return add_small_product<1>(a, alpha, x.data(), y.data());
    case 2:
      return add_small_product<2>(a, alpha, x.data(), y.data());
    case 3:
      return add_small_product<3>(a, alpha, x.data(), y.data());
    case 4:
      return add_small_product<4>(a, alpha, x.data(), y.data());
    default:
      for (Index j = 0; j < n; ++j, a += n) {
        const double scaled = alpha * x[j];
        for (Index i = 0; i < n; ++i) y[i] += a[i] * scaled;
      }
  }
}
}  // namespace

void SystemMatrix::add_product(double alpha, const Vector& x, Vector& y) const {
  if (const auto* d = std::get_if<DenseMatrix>(&data_)) {
    const Index n = d->rows();
    if (n <= kSmall) {
      add_small_product(*d, alpha, x, y);
    } else {
      y.noalias() += alpha * (*d * x);
    }
  } else if (const auto* b = std::get_if<BandedMatrix>(&data_)) {
    b->add_product(alpha, x, y);
  } else {
    const auto& s = std::get<SparseMatrix>(data_);
    for (Index i = 0; i < s.rows(); ++i) {
      double sum = 0;
      for (SparseMatrix::InnerIterator entry(s, i); entry; ++entry) sum += entry.value() * x[entry.col()];
      y[i] += alpha * sum;
    }
  }
}

double SystemMatrix::row_product(Index i, const Vector& x) const {
  double sum = 0;
  if (const auto* d = std::get_if<DenseMatrix>(&data_)) {
    for (Index j = 0; j < d->cols(); ++j) sum += (*d)(i, j) * x[j];
  } else if (const auto* b = std::get_if<BandedMatrix>(&data_)) {
    return b->row_product(i, x);
  } else {
    for (SparseMatrix::InnerIterator entry(std::get<SparseMatrix>(data_), i); entry; ++entry)
      sum += entry.value() * x[entry.col()];
  }
  return sum;
}

double SystemMatrix::row_size(Index i, const Vector& x) const {
  double sum = 0;
  if (const auto* d = std::get_if<DenseMatrix>(&data_)) {
    for (Index j = 0; j < d->cols(); ++j) sum += std::abs((*d)(i, j) * x[j]);
  } else if (const auto* b = std::get_if<BandedMatrix>(&data_)) {
    for (Index j = b->first_column(i), last = b->last_column(i); j <= last; ++j) sum += std::abs((*b)(i, j) * x[j]);
  } else {
    for (SparseMatrix::InnerIterator entry(std::get<SparseMatrix>(data_), i); entry; ++entry)
      sum += std::abs(entry.value() * x[entry.col()]);
  }
  return sum;
}

double SystemMatrix::operator()(Index i, Index j) const {
  if (const auto* d = std::get_if<DenseMatrix>(&data_)) return (*d)(i, j);
  if (const auto* b = std::get_if<BandedMatrix>(&data_))
    return j >= b->first_column(i) && j <= b->last_column(i) ? (*b)(i, j) : 0.0;
  return std::get<SparseMatrix>(data_).coeff(i, j);
}

bool SystemMatrix::is_zero() const { return max_abs() == 0.0; }

double SystemMatrix::max_abs() const {
  double largest = 0;
  for_each([&](Index, Index, double value) { largest = std::max(largest, std::abs(value)); });
  return largest;
}

double SystemMatrix::asymmetry() const {
  double largest = 0;
  for_each([&](Index i, Index j, double value) { largest = std::max(largest, std::abs(value - (*this)(j, i))); });
  const double scale = max_abs();
  return scale > 0 ? largest / scale : 0.0;
}

SparseMatrix SystemMatrix::to_sparse() const {
  std::vector<Eigen::Triplet<double, int>> entries;
  for_each([&](Index i, Index j, double value) {
    if (value != 0.0) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), value);
  });
  SparseMatrix result(size(), size());
  result.setFromTriplets(entries.begin(), entries.end());
  return result;
}

DenseMatrix SystemMatrix::to_dense() const {
  DenseMatrix result = DenseMatrix::Zero(size(), size());
  for_each([&](Index i, Index j, double value) { result(i, j) = value; });
  return result;
}

MatrixSum::MatrixSum(std::vector<const SystemMatrix*> terms) : terms_(std::move(terms)) {
  assert(!terms_.empty());
  const Index n = terms_.front()->size();
  Storage storage = Storage::banded;
  Index lower = 0, upper = 0;
  for (const SystemMatrix* term : terms_) {
    if (term->storage() == Storage::dense) storage = Storage::dense;
    if (term->storage() == Storage::sparse && storage != Storage::dense) storage = Storage::sparse;
    if (term->storage() == Storage::banded) {
      lower = std::max(lower, term->banded().lower());
      upper = std::max(upper, term->banded().upper());
    }
  }
  if (storage == Storage::dense) {
    sum_ = SystemMatrix(DenseMatrix(DenseMatrix::Zero(n, n)));
  } else if (storage == Storage::banded) {
    sum_ = SystemMatrix(BandedMatrix(n, lower, upper));
  } else {
    std::vector<Eigen::Triplet<double, int>> pattern;
    for (Index i = 0; i < n; ++i) pattern.emplace_back(static_cast<int>(i), static_cast<int>(i), 0.0);
    for (const SystemMatrix* term : terms_)
      term->for_each(
          [&](Index i, Index j, double) { pattern.emplace_back(static_cast<int>(i), static_cast<int>(j), 0.0); });
    SparseMatrix sparse(n, n);
    sparse.setFromTriplets(pattern.begin(), pattern.end());
    sum_ = SystemMatrix(std::move(sparse));
  }
}

const SystemMatrix& MatrixSum::evaluate(std::span<const double> alpha) {
  assert(alpha.size() == terms_.size());
  if (auto* d = std::get_if<DenseMatrix>(&sum_.data_)) {
    d->setZero();
    for (std::size_t k = 0; k < terms_.size(); ++k)
      terms_[k]->for_each([&](Index i, Index j, double value) { (*d)(i, j) += alpha[k] * value; });
  } else if (auto* b = std::get_if<BandedMatrix>(&sum_.data_)) {
    b->set_zero();
    for (std::size_t k = 0; k < terms_.size(); ++k)
      terms_[k]->for_each([&](Index i, Index j, double value) { (*b)(i, j) += alpha[k] * value; });
  } else {
    auto& s = std::get<SparseMatrix>(sum_.data_);
    std::fill_n(s.valuePtr(), s.nonZeros(), 0.0);
    for (std::size_t k = 0; k < terms_.size(); ++k)
      terms_[k]->for_each([&](Index i, Index j, double value) { s.coeffRef(i, j) += alpha[k] * value; });
  }
  return sum_;
}

namespace {
/// Row by row, in the order of the loops below.
template <int N>
inline double small_quadratic_form(const double* a, const double* x) {
  double sum = 0;
#pragma GCC unroll 4
  for (int i = 0; i < N; ++i) {
    double row = 0;
#pragma GCC unroll 4
    for (int j = 0; j < N; ++j) row += a[i + j * N] * x[j];
    sum += x[i] * row;
  }
  return sum;
}
}  // namespace

double quadratic_form(const SystemMatrix& A, const Vector& x) {
  const Index n = x.size();
  if (A.storage() == Storage::dense && n == 2) return small_quadratic_form<2>(A.dense().data(), x.data());
  if (A.storage() == Storage::dense && n == 3) return small_quadratic_form<3>(A.dense().data(), x.data());
  const auto sum_rows = [&](auto&& row_product) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += x[i] * row_product(i);
    return sum;
  };
  switch (A.storage()) {  // once, not row by row
    case Storage::dense:
      return sum_rows([&, a = A.dense().data()](Index i) {
        double sum = 0;
        for (Index j = 0; j < n; ++j) sum += a[i + j * n] * x[j];
        return sum;
      });
    case Storage::banded: {
      const BandedMatrix& b = A.banded();
      if (b.lower() != 1 || b.upper() != 1 || n < 2) return sum_rows([&](Index i) { return b.row_product(i, x); });
      const double* a = b.row(0);  // a chain: three entries in every row but the first and last
      double sum = x[0] * (a[1] * x[0] + a[2] * x[1]);
      for (Index i = 1; i < n - 1; ++i)
        sum += x[i] * (a[3 * i] * x[i - 1] + a[3 * i + 1] * x[i] + a[3 * i + 2] * x[i + 1]);
      return sum + x[n - 1] * (a[3 * (n - 1)] * x[n - 2] + a[3 * (n - 1) + 1] * x[n - 1]);
    }
    case Storage::sparse:
      break;
  }
  return sum_rows([&](Index i) { return A.row_product(i, x); });
}

}  // namespace stickslip
