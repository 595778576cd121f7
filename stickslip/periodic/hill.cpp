// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/hill.hpp"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace stickslip {

namespace {

constexpr double kInfinite = 1e-12;  // β/|α| of a root at infinity: round-off of QZ
constexpr double kBorder = 1e-9;     // of ω: a root on the border of the strip is in it

/// info() of Eigen's solver may be asked only where it has converged.
struct QzSolver : Eigen::GeneralizedEigenSolver<DenseMatrix> {
  QzSolver(const DenseMatrix& A, const DenseMatrix& B) : GeneralizedEigenSolver(A, B, false) {}
  bool converged() const { return m_valuesOkay; }
};

}  // namespace

Eigen::VectorXcd hill_multipliers(WeightedResidual& problem, const Vector& X, Index largest) {
  DenseMatrix A0, A1, A2;
  if (problem.unknowns() > largest || !problem.hill_matrices(X, A0, A1, A2)) return {};
  const Index n = A0.rows(), nx = A1.cols();
  DenseMatrix A = DenseMatrix::Zero(n + nx, n + nx), B = A;
  A.topLeftCorner(n, n) = -A0;
  A.topRightCorner(n, nx) = -A1;
  A.bottomRightCorner(nx, nx).setIdentity();
  B.topRightCorner(n, nx) = A2;
  B.bottomLeftCorner(nx, nx).setIdentity();
  const QzSolver qz(A, B);
  if (!qz.converged()) return {};
  std::vector<std::complex<double>> exponents;  // over ω
  for (Index k = 0; k < n + nx; ++k) {
    const std::complex<double> alpha = qz.alphas()[k];
    const double beta = qz.betas()[k];
    if (std::abs(beta) <= kInfinite * std::abs(alpha)) continue;
    const std::complex<double> value = alpha / beta;
    if (std::abs(value.imag()) <= 0.5 + kBorder) exponents.push_back(value);
  }
  std::sort(exponents.begin(), exponents.end(), [](const auto& a, const auto& b) { return a.real() > b.real(); });
  const Index count = problem.multiplier_count();
  Eigen::VectorXcd multipliers = Eigen::VectorXcd::Zero(count);
  for (Index k = 0; k < count && k < static_cast<Index>(exponents.size()); ++k)
    multipliers[k] = std::exp(2 * std::numbers::pi * exponents[static_cast<std::size_t>(k)]);
  return multipliers;
}

/// A0 is n × n without the unknown frequency; A1 and A2 have the columns of the displacements. λ over ω.
bool WeightedResidual::hill_matrices(const Vector& X, DenseMatrix& A0, DenseMatrix& A1, DenseMatrix& A2) {
  const Index nv = system_.info().nv(), nx = nb_ * nx_, n = nx + m_ * nr_;
  Vector F;
  if (nb_ < nv || !evaluate(X, 0, F, &J_)) return false;
  A0 = J_.topLeftCorner(n, n);
  A1.setZero(n, nx), A2.setZero(n, nx);
  const auto block = [&](Index k) { return k < nb_ ? x_block(k) : r_block(k - nb_); };
  const auto field = [&](Index k) { return k < nb_ ? BasisField::displacement : BasisField::reaction; };
  DenseMatrix P0, P1;
  const auto add = [&](Index row, Index column, int p, Eigen::Ref<const Vector> values) {
    const BasisField test = field(row);
    const Index rows = basis_->size(test);
    auto first = A1.block(block(row), x_block(column), rows, nx_);
    basis_->product(test, BasisField::displacement, 0, values, P0);
    if (p == 1) {
      first += omega_ * P0;
    } else {
      basis_->product(test, BasisField::displacement, 1, values, P1);
      first += 2 * omega_ * omega_ * P1;
      A2.block(block(row), x_block(column), rows, nx_) += omega_ * omega_ * P0;
    }
  };
  for (Index slot = 0; slot < signals_.size(); ++slot) {
    const SignalTable::Key& key = signals_.key(slot);
    if (key.p > 0 && key.column < nb_) add(key.row, key.column, key.p, signals_.values(slot));
  }
  if (linear_) {
    const auto constant = [&](const SystemMatrix& matrix, int p) {
      matrix.for_each([&](Index i, Index k, double value) {
        if (value != 0) add(place_[i], place_[k], p, Vector::Constant(N_, value));
      });
    };
    constant(system_.linear()->B, 1);
    constant(system_.linear()->M, 2);
  }
  for (DenseMatrix* A : {&A1, &A2}) {
    for (Index c = 0; c < nb_; ++c) {
      A->middleRows(x_block(c), nx_) /= f_scale_[c];
      A->middleCols(x_block(c), nx_) *= x_scale_[c];
    }
    for (Index a = 0; a < m_; ++a) A->middleRows(r_block(a), nr_) /= r_scale_[a];
  }
  return A1.allFinite() && A2.allFinite();
}

}  // namespace stickslip
