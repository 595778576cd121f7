// SPDX-License-Identifier: Apache-2.0
// Factors of σ - J for one real and one complex σ, as implicit Runge-Kutta methods need them:
//
//   x = (σ - J)⁻¹ r = (σ M - G)⁻¹ M r,      J = M⁻¹ G
//
// J is given as a dense matrix, or as sparse G and M, so that J need not be formed: M⁻¹ of a chain is full. Sparse ones
// are put in an order that keeps all entries near the diagonal (reverse Cuthill-McKee) and factorised as a band if that
// is narrow, else as a full matrix. The order belongs to the positions seen so far; entries at new positions change it,
// which is the only time that memory is taken.
//
// Source: George, Liu, Computer Solution of Large Sparse Positive Definite Systems, 1981, 4.3 (ordering).
#pragma once

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

class ShiftedFactor {
 public:
  void resize(Index n);
  /// False where a matrix is singular.
  bool factorise(const DenseMatrix& J, double real, std::complex<double> complex);
  bool factorise(const SlopePencil& pencil, double real, std::complex<double> complex);
  void solve(const Vector& r, Vector& x);
  void solve(const Eigen::VectorXcd& r, Eigen::VectorXcd& x);
  /// Half of the band's width; n - 1 for a full matrix.
  Index half_width() const { return banded_ ? real_band_.half_width() : n_ - 1; }

 private:
  bool fits(const MatrixEntries& matrix) const;
  void plan(const SlopePencil& pencil);
  template <class Matrix, class Scalar>
  void assemble(const SlopePencil& pencil, Scalar shift, Matrix& to) const;
  bool factorise_full();

  Index n_ = 0;
  bool banded_ = false, planned_ = false;
  const MatrixEntries* mass_ = nullptr;         // of the factors at hand; null: 1
  std::vector<std::pair<int, int>> positions_;  // seen so far, both triangles, sorted
  std::vector<Index> place_;                    // where a component stands in the order
  BandLu<double> real_band_;
  BandLu<std::complex<double>> complex_band_;
  DenseMatrix real_matrix_;
  Eigen::MatrixXcd complex_matrix_;
  Eigen::PartialPivLU<DenseMatrix> real_lu_;
  Eigen::PartialPivLU<Eigen::MatrixXcd> complex_lu_;
  Vector real_work_, real_ordered_;
  Eigen::VectorXcd complex_work_, complex_ordered_;
};

}  // namespace stickslip
