// SPDX-License-Identifier: Apache-2.0
// Factors of σ - J for one real and one complex σ, as implicit Runge-Kutta methods need them:
//
//   x = (σ - J)⁻¹ r = (σ M - G)⁻¹ M r,      J = M⁻¹ G
//
// J is given as a dense matrix, or as sparse G and M, so that J need not be formed: M⁻¹ of a chain is full. Sparse ones
// are put in an order that keeps all entries near the diagonal (reverse Cuthill-McKee) and factorised as a band if that
// is narrow; else as they are in an order that keeps fill small (SparseLU of Eigen), or as a full matrix if they are
// few. The order belongs to the positions seen so far; entries at new positions change it, which is the only time that
// a band or a full matrix takes memory. SparseLU takes some in every call.
//
// Source: George, Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981, 4.3 (ordering).
#pragma once

#include <Eigen/SparseLU>
#include <complex>
#include <utility>
#include <vector>

#include "stickslip/common/band_lu.hpp"
#include "stickslip/common/decompositions.hpp"

namespace stickslip {

/// A sparse matrix as it is summed up: the same position may come more than once. Entries that are 0 keep their place
/// in the structure; those that will always be 0 are best left out.
struct MatrixEntries {
  struct Entry {
    Index row, column;
    double value;
  };
  std::vector<Entry> entries;
  void clear() { entries.clear(); }
  void add(Index row, Index column, double value) { entries.push_back({row, column, value}); }
  /// y = A x
  template <class X>
  void product(const X& x, X& y) const {
    y.setZero();
    for (const Entry& e : entries) y[e.row] += e.value * x[e.column];
  }
};

/// J = mass⁻¹ slope.
struct SlopePencil {
  MatrixEntries slope, mass;
};

/// Factors of a sparse matrix that keep its order while its positions stay.
template <class Scalar>
class SparseFactor {
 public:
  using Matrix = Eigen::SparseMatrix<Scalar, Eigen::ColMajor, int>;
  /// False where the matrix is singular.
  bool factorise(Index n, const std::vector<Eigen::Triplet<Scalar>>& entries);
  template <class X>
  void solve(const X& r, X& x) const {
    x = lu_.solve(r);
  }

 private:
  Matrix matrix_;
  std::vector<int> outer_, inner_;  // of the positions that the order is for
  Eigen::SparseLU<Matrix, Eigen::COLAMDOrdering<int>> lu_;
};

class ShiftedFactor {
 public:
  void resize(Index n);
  /// False where a matrix is singular.
  bool factorise(const DenseMatrix& J, double real, std::complex<double> complex);
  bool factorise(const SlopePencil& pencil, double real, std::complex<double> complex);
  void solve(const Vector& r, Vector& x);
  void solve(const Eigen::VectorXcd& r, Eigen::VectorXcd& x);
  /// Half of the band's width; n - 1 where there is none.
  Index half_width() const { return storage_ == Storage::band ? real_band_.half_width() : n_ - 1; }

 private:
  bool fits(const MatrixEntries& matrix) const;
  void plan(const SlopePencil& pencil);
  template <class Scalar, class F>
  void for_each_entry(const SlopePencil& pencil, Scalar shift, F&& f) const;
  template <class Scalar>
  bool factorise_sparse(const SlopePencil& pencil, Scalar shift, SparseFactor<Scalar>& factor) const;
  bool factorise_full();
  template <class Band, class Sparse, class Full, class X>
  void solve_with(const Band& band, const Sparse& sparse, const Full& full, const X& r, X& work, X& ordered, X& x);

  Index n_ = 0;
  enum class Storage { full, band, sparse };
  Storage storage_ = Storage::full;
  bool planned_ = false;
  const MatrixEntries* mass_ = nullptr;         // of the factors at hand; null: 1
  std::vector<std::pair<int, int>> positions_;  // seen so far, both triangles, sorted
  std::vector<Index> place_;                    // where a component stands in the order
  BandLu<double> real_band_;
  BandLu<std::complex<double>> complex_band_;
  SparseFactor<double> real_sparse_;
  SparseFactor<std::complex<double>> complex_sparse_;
  DenseMatrix real_matrix_;
  Eigen::MatrixXcd complex_matrix_;
  Eigen::PartialPivLU<DenseMatrix> real_lu_;
  Eigen::PartialPivLU<Eigen::MatrixXcd> complex_lu_;
  Vector real_work_, real_ordered_;
  Eigen::VectorXcd complex_work_, complex_ordered_;
};

}  // namespace stickslip
