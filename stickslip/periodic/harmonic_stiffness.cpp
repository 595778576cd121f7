// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/harmonic_stiffness.hpp"

#include <Eigen/LU>
#include <Eigen/SparseLU>

namespace stickslip {

namespace {

using Complex = std::complex<double>;
using ColumnSparse = Eigen::SparseMatrix<Complex>;
constexpr Index kDense = 200;  // eliminated coordinates up to which a dense factor is as fast

}  // namespace

struct HarmonicElimination::Parts {
  std::vector<Index> place;  ///< of a coordinate among its own kind
  std::vector<char> kept;
  /// One block of Z from M, B, K: rows and columns kept or eliminated.
  struct Block {
    std::vector<Eigen::Triplet<double>> M, B, K;
    Index rows, cols;
    ComplexMatrix dense(double w) const {
      ComplexMatrix Z = ComplexMatrix::Zero(rows, cols);
      for (const auto& t : K) Z(t.row(), t.col()) += t.value();
      for (const auto& t : B) Z(t.row(), t.col()) += Complex(0, w * t.value());
      for (const auto& t : M) Z(t.row(), t.col()) -= w * w * t.value();
      return Z;
    }
    ColumnSparse sparse(double w) const {
      std::vector<Eigen::Triplet<Complex>> all;
      for (const auto& t : K) all.emplace_back(t.row(), t.col(), t.value());
      for (const auto& t : B) all.emplace_back(t.row(), t.col(), Complex(0, w * t.value()));
      for (const auto& t : M) all.emplace_back(t.row(), t.col(), -w * w * t.value());
      ColumnSparse Z(rows, cols);
      Z.setFromTriplets(all.begin(), all.end());
      return Z;
    }
    /// Y += ∂Z/∂ω X
    void add_slope(double w, const ComplexMatrix& X, ComplexMatrix& Y) const {
      for (const auto& t : B) Y.row(t.row()) += Complex(0, t.value()) * X.row(t.col());
      for (const auto& t : M) Y.row(t.row()) -= 2 * w * t.value() * X.row(t.col());
    }
  };
  Block cc, ce, ec, ee;

  /// Z_ee⁻¹ X; false where Z_ee is singular.
  bool solve(double w, const ComplexMatrix& X, ComplexMatrix& Y) const {
    if (ee.rows <= kDense) {
      Eigen::PartialPivLU<ComplexMatrix> lu(ee.dense(w));
      if (!(lu.rcond() > 1e-14)) return false;
      Y = lu.solve(X);
      return true;
    }
    ColumnSparse Z = ee.sparse(w);
    Z.makeCompressed();
    Eigen::SparseLU<ColumnSparse> lu(Z);
    if (lu.info() != Eigen::Success) return false;
    Y = lu.solve(X);
    return Y.allFinite();
  }
};

HarmonicElimination::~HarmonicElimination() = default;

HarmonicElimination::HarmonicElimination(const LinearPart& linear, std::vector<Index> kept)
    : linear_(linear), kept_(std::move(kept)), parts_(std::make_unique<Parts>()) {
  const Index n = linear.M.size();
  Parts& p = *parts_;
  p.place.assign(static_cast<std::size_t>(n), 0);
  p.kept.assign(static_cast<std::size_t>(n), 0);
  for (const Index i : kept_) p.kept[i] = 1;
  Index c = 0;
  for (Index i = 0; i < n; ++i) {
    if (!p.kept[i]) eliminated_.push_back(i);
    p.place[i] = p.kept[i] ? c++ : static_cast<Index>(eliminated_.size()) - 1;
  }
  const Index e = static_cast<Index>(eliminated_.size());
  p.cc.rows = p.cc.cols = p.ce.rows = p.ec.cols = c;
  p.ee.rows = p.ee.cols = p.ec.rows = p.ce.cols = e;
  const auto sort = [&](const SystemMatrix& A, std::vector<Eigen::Triplet<double>> Parts::Block::*list) {
    A.for_each([&](Index i, Index j, double value) {
      if (value == 0) return;
      Parts::Block& block = p.kept[i] ? (p.kept[j] ? p.cc : p.ce) : (p.kept[j] ? p.ec : p.ee);
      (block.*list).emplace_back(static_cast<int>(p.place[i]), static_cast<int>(p.place[j]), value);
    });
  };
  sort(linear.M, &Parts::Block::M);
  sort(linear.B, &Parts::Block::B);
  sort(linear.K, &Parts::Block::K);
}

HarmonicStiffness HarmonicElimination::stiffness(double omega, const ComplexVector& F) const {
  const Parts& p = *parts_;
  const Index c = p.cc.rows, e = p.ee.rows;
  HarmonicStiffness result;
  result.S = p.cc.dense(omega);
  result.S_omega = ComplexMatrix::Zero(c, c);
  p.cc.add_slope(omega, ComplexMatrix::Identity(c, c), result.S_omega);
  result.load.resize(c);
  for (Index i = 0; i < c; ++i) result.load[i] = F[kept_[i]];
  if (e == 0) return result;
  ComplexMatrix right(e, c + 1), Y;
  right.leftCols(c) = p.ec.dense(omega);
  for (Index i = 0; i < e; ++i) right(i, c) = F[eliminated_[i]];
  if (!p.solve(omega, right, Y)) {
    result.singular = true;
    return result;
  }
  const ComplexMatrix Z_ce = p.ce.dense(omega), X = Y.leftCols(c);
  result.S -= Z_ce * X;
  result.load -= Z_ce * Y.col(c);
  // S' = [1, -Z_ce Z_ee⁻¹] Z' [1; -Z_ee⁻¹ Z_ec], with the left factor's transpose for matrices that are not symmetric
  ComplexMatrix lower = ComplexMatrix::Zero(e, c), upper = ComplexMatrix::Zero(c, c);
  p.ec.add_slope(omega, ComplexMatrix::Identity(c, c), lower);
  p.ee.add_slope(omega, -X, lower);
  p.ce.add_slope(omega, -X, upper);
  ComplexMatrix solved;
  if (p.solve(omega, lower, solved)) result.S_omega += upper - Z_ce * solved;
  return result;
}

ComplexVector HarmonicElimination::expand(double omega, const ComplexVector& F, const ComplexVector& x_kept) const {
  const Parts& p = *parts_;
  ComplexVector x(F.size());
  for (std::size_t i = 0; i < kept_.size(); ++i) x[kept_[i]] = x_kept[static_cast<Index>(i)];
  if (eliminated_.empty()) return x;
  ComplexMatrix right = -p.ec.dense(omega) * x_kept, Y;
  for (Index i = 0; i < right.rows(); ++i) right(i, 0) += F[eliminated_[i]];
  if (!p.solve(omega, right, Y)) Y = ComplexMatrix::Zero(right.rows(), 1);
  for (Index i = 0; i < right.rows(); ++i) x[eliminated_[i]] = Y(i, 0);
  return x;
}

}  // namespace stickslip
