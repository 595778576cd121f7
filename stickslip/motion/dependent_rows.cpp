// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/dependent_rows.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/common/decompositions.hpp"

namespace stickslip {

namespace {

/// Columns: rows of Ã.
DenseMatrix in_metric(const Eigen::LLT<DenseMatrix>& factor, const DenseMatrix& A) {
  DenseMatrix B = A.transpose();
  factor.matrixL().solveInPlace(B);
  return B;
}

}  // namespace

const DenseMatrix& without_small_values(const SystemMatrix& M, const DenseMatrix& A, double tolerance,
                                        DenseMatrix& memory) {
  const Index m = A.rows();
  if (m < 2 || !(tolerance > 0) || !A.allFinite()) return A;
  const Eigen::LLT<DenseMatrix> factor{M.to_dense()};
  if (factor.info() != Eigen::Success) return A;
  DenseMatrix B = in_metric(factor, A);
  Vector length(m);
  for (Index i = 0; i < m; ++i) {
    length[i] = B.col(i).norm();
    if (length[i] > 0) B.col(i) /= length[i];
  }
  const Eigen::JacobiSVD<DenseMatrix> svd(B, Eigen::ComputeThinU | Eigen::ComputeThinV);
  Vector s = svd.singularValues();
  Index rank = 0;
  while (rank < s.size() && s[rank] > tolerance * s[0]) ++rank;
  if (rank == s.size() || !(s[0] > 0)) return A;
  B = svd.matrixU().leftCols(rank) * s.head(rank).asDiagonal() * svd.matrixV().leftCols(rank).transpose();
  memory = (factor.matrixL() * B).transpose();
  for (Index i = 0; i < m; ++i) memory.row(i) *= length[i];
  return memory;
}

double turned_rows(const SystemMatrix& M, const DenseMatrix& A, const DenseMatrix& before) {
  if (A.rows() == 0 || !A.allFinite() || !before.allFinite()) return 0;
  const Eigen::LLT<DenseMatrix> factor{M.to_dense()};
  if (factor.info() != Eigen::Success) return 0;
  const DenseMatrix B = in_metric(factor, A), D = in_metric(factor, A - before);
  double largest = 0;
  for (Index i = 0; i < A.rows(); ++i)
    if (const double length = B.col(i).norm(); length > 0)
      largest = std::max(largest, std::min(1.0, D.col(i).norm() / length));
  return largest;
}

}  // namespace stickslip
