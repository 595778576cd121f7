// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/constrained_mass.hpp"

#include <cassert>
#include <cmath>

namespace stickslip {

bool ConstrainedMass::refresh(const SystemMatrix& M, const DenseMatrix& A) {
  n_ = M.size();
  m_ = A.rows();
  assert(A.cols() == n_);
  M_.setZero(n_, n_);
  M.for_each([&](Index i, Index j, double value) { M_(i, j) = value; });
  if (!M_.allFinite() || !A.allFinite()) return false;
  factor_.compute(M_);
  assert(factor_.info() == Eigen::Success);
  scale_rows(A);
  if (!use_qr()) use_svd();
  return true;
}

void ConstrainedMass::scale_rows(const DenseMatrix& A) {
  B_ = A.transpose();
  if (m_ > 0) factor_.matrixL().solveInPlace(B_);
  scale_.resize(m_);
  if (peak_.size() != m_) peak_.setZero(m_);
  for (Index i = 0; i < m_; ++i) peak_[i] = std::max(peak_[i], scale_[i] = B_.col(i).norm());
  constexpr double kRoundOff = 1e-14;
  const double longest = m_ > 0 ? peak_.maxCoeff() : 0.0;
  for (Index i = 0; i < m_; ++i) {
    scale_[i] = scale_[i] > std::max(rank_tolerance_ * peak_[i], kRoundOff * longest) ? 1 / scale_[i] : 0.0;
    B_.col(i) *= scale_[i];
  }
}

bool ConstrainedMass::use_qr() {
  // Columns have length 1, so that the diagonal of R is at most 1 and falls.
  constexpr double kCertain = 1e-4;
  if (m_ == 0) {
    rank_ = 0;
    N_.setIdentity(n_, n_);
    factor_.matrixU().solveInPlace(N_);
    G_.resize(n_, 0);
    return true;
  }
  if (m_ > n_) return false;
  qr_.compute(B_);
  const DenseMatrix& packed = qr_.matrixQR();
  if (!(std::abs(packed(m_ - 1, m_ - 1)) > kCertain)) return false;
  rank_ = m_;
  basis_.setIdentity(n_, n_);
  workspace_.resize(n_);
  for (Index k = m_ - 1; k >= 0; --k)
    basis_.bottomRightCorner(n_ - k, n_ - k)
        .applyHouseholderOnTheLeft(packed.col(k).tail(n_ - k - 1), qr_.hCoeffs()[k], workspace_.data());
  factor_.matrixU().solveInPlace(basis_);
  N_ = basis_.rightCols(n_ - m_);
  // (S Ã)ᵀ Π = Q1 R  ⇒  Ã⁺ = Q1 R⁻ᵀ Πᵀ S
  inner_.setZero(m_, m_);
  for (Index k = 0; k < m_; ++k) {
    const Index row = qr_.colsPermutation().indices()[k];
    inner_(k, row) = scale_[row];
  }
  packed.topRows(m_).triangularView<Eigen::Upper>().transpose().solveInPlace(inner_);
  G_.resize(n_, m_);
  G_.noalias() = basis_.leftCols(m_) * inner_;
  return true;
}

void ConstrainedMass::use_svd() {
  svd_.compute(B_, Eigen::ComputeFullU | Eigen::ComputeThinV);
  const Vector& s = svd_.singularValues();
  rank_ = 0;
  while (rank_ < s.size() && s[rank_] > rank_tolerance_ * s[0]) ++rank_;
  basis_ = svd_.matrixU();
  factor_.matrixU().solveInPlace(basis_);
  N_ = basis_.rightCols(n_ - rank_);
  inner_.resize(rank_, m_);
  for (Index i = 0; i < m_; ++i)
    for (Index k = 0; k < rank_; ++k) inner_(k, i) = svd_.matrixV()(i, k) / s[k] * scale_[i];
  G_.resize(n_, m_);
  G_.noalias() = basis_.leftCols(rank_) * inner_;
}

void ConstrainedMass::acceleration(const Vector& h, const Vector& bias, Vector& a) {
  apply(h, a);
  a.noalias() -= G_ * bias;
}

void ConstrainedMass::multipliers(const Vector& h, const Vector& a, Vector& lambda) {
  workspace_ = -h;
  workspace_.noalias() += M_ * a;
  lambda.resize(m_);
  lambda.noalias() = G_.transpose() * workspace_;
}

void ConstrainedMass::apply(const Vector& w, Vector& x) {
  reduced_.resize(N_.cols());
  reduced_.noalias() = N_.transpose() * w;
  x.resize(n_);
  x.noalias() = N_ * reduced_;
}

void ConstrainedMass::lengths(const DenseMatrix& W, Vector& length) {
  length.resize(W.cols());
  for (Index i = 0; i < W.cols(); ++i) {
    workspace_ = W.col(i);
    factor_.matrixL().solveInPlace(workspace_);
    length[i] = workspace_.norm();
  }
}

double ConstrainedMass::stretch() const {
  double squares = 0;
  for (Index i = 0; i < m_; ++i) squares += inner_.col(i).head(rank_).squaredNorm() * peak_[i] * peak_[i];
  return std::sqrt(squares);
}

double ConstrainedMass::norm_of_map(const DenseMatrix& X) {
  reduced_columns_ = (factor_.matrixU() * X).transpose();  // Xᵀ L, of which L⁻¹ is taken
  factor_.matrixL().solveInPlace(reduced_columns_);
  return reduced_columns_.norm();
}

double ConstrainedMass::norm(const Vector& x) {
  workspace_.noalias() = factor_.matrixU() * x;
  return workspace_.norm();
}

void ConstrainedMass::apply(const DenseMatrix& W, DenseMatrix& X) {
  reduced_columns_.resize(N_.cols(), W.cols());
  reduced_columns_.noalias() = N_.transpose() * W;
  X.resize(n_, W.cols());
  X.noalias() = N_ * reduced_columns_;
}

}  // namespace stickslip
