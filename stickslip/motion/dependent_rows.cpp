// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/dependent_rows.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "stickslip/common/decompositions.hpp"

namespace stickslip {

namespace {

/// Kept between calls, one per thread: a step allocates nothing after the first.
struct Scratch {
  DenseMatrix mass, rows, change, scaled;
  Vector length;
  Eigen::LLT<DenseMatrix> factor;
  Eigen::JacobiSVD<DenseMatrix> svd;
};

Scratch& scratch() {
  static thread_local Scratch one;
  return one;
}

bool factorise(const SystemMatrix& M, Scratch& memory) {
  memory.mass.setZero(M.size(), M.size());
  M.for_each([&](Index i, Index j, double value) { memory.mass(i, j) = value; });
  memory.factor.compute(memory.mass);
  return memory.factor.info() == Eigen::Success;
}

/// Columns: rows of Ã.
void in_metric(const Eigen::LLT<DenseMatrix>& factor, const DenseMatrix& A, DenseMatrix& B) {
  B = A.transpose();
  factor.matrixL().solveInPlace(B);
}

}  // namespace

const DenseMatrix& without_small_values(const SystemMatrix& M, const DenseMatrix& A, double tolerance,
                                        DenseMatrix& independent) {
  const Index m = A.rows();
  Scratch& memory = scratch();
  if (m < 2 || !(tolerance > 0) || !A.allFinite() || !factorise(M, memory)) return A;
  DenseMatrix& B = memory.rows;
  in_metric(memory.factor, A, B);
  memory.length.resize(m);
  for (Index i = 0; i < m; ++i) {
    memory.length[i] = B.col(i).norm();
    if (memory.length[i] > 0) B.col(i) /= memory.length[i];
  }
  memory.svd.compute(B, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Vector& s = memory.svd.singularValues();
  Index rank = 0;
  while (rank < s.size() && s[rank] > tolerance * s[0]) ++rank;
  if (rank == s.size() || !(s[0] > 0)) return A;
  memory.scaled = memory.svd.matrixV();
  for (Index k = 0; k < s.size(); ++k) memory.scaled.col(k) *= k < rank ? s[k] : 0.0;
  memory.change.noalias() = memory.scaled * memory.svd.matrixU().transpose();
  memory.mass = memory.factor.matrixL();
  independent.noalias() = memory.change * memory.mass.transpose();
  for (Index i = 0; i < m; ++i) independent.row(i) *= memory.length[i];
  return independent;
}

double turned_rows(const SystemMatrix& M, const DenseMatrix& A, const DenseMatrix& before) {
  Scratch& memory = scratch();
  if (A.rows() == 0 || !A.allFinite() || !before.allFinite() || !factorise(M, memory)) return 0;
  in_metric(memory.factor, A, memory.rows);
  memory.scaled = A - before;
  in_metric(memory.factor, memory.scaled, memory.change);
  double largest = 0;
  for (Index i = 0; i < A.rows(); ++i)
    if (const double length = memory.rows.col(i).norm(); length > 0)
      largest = std::max(largest, std::min(1.0, memory.change.col(i).norm() / length));
  return largest;
}

}  // namespace stickslip
