// SPDX-License-Identifier: Apache-2.0
// A square matrix of a mechanical system (M mass, B damping, K stiffness, or the step matrix made of them) in the
// storage that suits it: dense for few coordinates, banded for chains, sparse for meshes.
#pragma once

#include <span>
#include <variant>

#include "stickslip/common/banded_matrix.hpp"
#include "stickslip/common/vector.hpp"

namespace stickslip {

enum class Storage { dense, banded, sparse };

class SystemMatrix {
 public:
  SystemMatrix() = default;
  explicit SystemMatrix(DenseMatrix dense) : data_(std::move(dense)) {}
  explicit SystemMatrix(BandedMatrix banded) : data_(std::move(banded)) {}
  explicit SystemMatrix(SparseMatrix sparse);
  /// Storage by content: dense below 9 rows or when well filled, banded when the band is narrow, else sparse.
  static SystemMatrix compact(const SparseMatrix& matrix);
  static SystemMatrix zero(Index size) { return SystemMatrix(BandedMatrix(size, 0, 0)); }

  Index size() const;
  Storage storage() const { return static_cast<Storage>(data_.index()); }
  const DenseMatrix& dense() const { return std::get<DenseMatrix>(data_); }
  const BandedMatrix& banded() const { return std::get<BandedMatrix>(data_); }
  const SparseMatrix& sparse() const { return std::get<SparseMatrix>(data_); }

  /// y += alpha A x
  void add_product(double alpha, const Vector& x, Vector& y) const;
  /// y = A x
  void product(const Vector& x, Vector& y) const {
    y.setZero();
    add_product(1.0, x, y);
  }
  /// (A x)_i
  double row_product(Index i, const Vector& x) const;
  /// Σ_j |a_ij| |x_j|: what round-off in (A x)_i is measured against.
  double row_size(Index i, const Vector& x) const;
  double operator()(Index i, Index j) const;
  bool is_zero() const;
  /// max |a_ij - a_ji| / max |a_ij|
  double asymmetry() const;
  double max_abs() const;
  SparseMatrix to_sparse() const;
  DenseMatrix to_dense() const;

  /// f(i, j, a_ij) for every stored entry.
  template <class F>
  void for_each(F&& f) const;

  friend class MatrixSum;

 private:
  std::variant<DenseMatrix, BandedMatrix, SparseMatrix> data_;
};

/// xᵀ A x
double quadratic_form(const SystemMatrix& A, const Vector& x);

/// S = sum_k alpha_k A_k with the structure fixed once and the numbers refreshed without allocation (a new step size
/// gives a new step matrix).
class MatrixSum {
 public:
  MatrixSum() = default;
  /// The matrices must outlive this object. Structure of the sum = union of theirs.
  explicit MatrixSum(std::vector<const SystemMatrix*> terms);
  const SystemMatrix& evaluate(std::span<const double> alpha);
  const SystemMatrix& value() const { return sum_; }

 private:
  std::vector<const SystemMatrix*> terms_;
  SystemMatrix sum_;
};

template <class F>
void SystemMatrix::for_each(F&& f) const {
  if (const auto* d = std::get_if<DenseMatrix>(&data_)) {
    for (Index j = 0; j < d->cols(); ++j)
      for (Index i = 0; i < d->rows(); ++i) f(i, j, (*d)(i, j));
  } else if (const auto* b = std::get_if<BandedMatrix>(&data_)) {
    for (Index i = 0; i < b->size(); ++i)
      for (Index j = b->first_column(i); j <= b->last_column(i); ++j) f(i, j, (*b)(i, j));
  } else {
    const auto& s = std::get<SparseMatrix>(data_);
    for (Index i = 0; i < s.rows(); ++i)
      for (SparseMatrix::InnerIterator entry(s, i); entry; ++entry)
        f(i, static_cast<Index>(entry.col()), entry.value());
  }
}

}  // namespace stickslip
