// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/null_space.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "stickslip/common/decompositions.hpp"

namespace stickslip {
namespace {

// Jacobi is the more accurate one, divide and conquer the faster one for large matrices.
constexpr Index kJacobiLimit = 32;

DenseMatrix unit_rows(const DenseMatrix& A, double relative_tolerance) {
  DenseMatrix scaled = A;
  // stableNorm: rows of 1e-200 are rows.
  double longest = 0;
  for (Index i = 0; i < A.rows(); ++i) longest = std::max(longest, A.row(i).stableNorm());
  for (Index i = 0; i < A.rows(); ++i) {
    const double length = A.row(i).stableNorm();
    if (length > relative_tolerance * longest)
      scaled.row(i) /= length;
    else
      scaled.row(i).setZero();
  }
  return scaled;
}

}  // namespace

NullSpace null_space(const DenseMatrix& A, const NullSpaceOptions& options) {
  assert(options.relative_tolerance > 0 && options.relative_tolerance < 1);
  const Index m = A.rows(), n = A.cols();
  NullSpace result;
  result.pseudo_inverse.setZero(n, m);
  result.singular_values.setZero(std::min(m, n));
  if (m == 0 || n == 0) {
    result.V2.setIdentity(n, n);
    return result;
  }

  const DenseMatrix scaled = unit_rows(A, options.relative_tolerance);
  DenseMatrix V;
  if (std::min(m, n) <= kJacobiLimit) {
    const Eigen::JacobiSVD<DenseMatrix> svd(scaled, Eigen::ComputeFullV);
    result.singular_values = svd.singularValues();
    V = svd.matrixV();
  } else {
    const Eigen::BDCSVD<DenseMatrix> svd(scaled, Eigen::ComputeFullV);
    result.singular_values = svd.singularValues();
    V = svd.matrixV();
  }
  const double roundoff = static_cast<double>(std::max(m, n)) * std::numeric_limits<double>::epsilon();
  result.tolerance = std::max(options.relative_tolerance, roundoff) * result.singular_values[0];
  const Index rank = (result.singular_values.array() > result.tolerance).count();
  result.rank = static_cast<int>(rank);
  result.V2 = V.rightCols(n - rank);
  if (rank == 0) return result;

  // A = (A V1) V1ᵀ and A V1 has full column rank.
  const DenseMatrix AV1 = A * V.leftCols(rank);
  const Eigen::ColPivHouseholderQR<DenseMatrix> qr(AV1);
  DenseMatrix Qt = DenseMatrix::Identity(m, m);
  Qt.applyOnTheLeft(qr.householderQ().adjoint());
  DenseMatrix inverse = qr.matrixR().topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(Qt.topRows(rank));
  result.pseudo_inverse = V.leftCols(rank) * (qr.colsPermutation() * inverse);
  return result;
}

std::vector<Index> dependent_rows(const DenseMatrix& A, double tolerance) {
  const DenseMatrix scaled = unit_rows(A, tolerance);
  DenseMatrix basis(A.cols(), std::min(A.rows(), A.cols()));
  Index size = 0;
  std::vector<Index> dependent;
  for (Index i = 0; i < A.rows(); ++i) {
    Vector rest = scaled.row(i).transpose();
    // Twice is enough (Kahan, Parlett): the second pass removes what round-off of the first left along the basis.
    for (int pass = 0; pass < 2; ++pass) rest -= basis.leftCols(size) * (basis.leftCols(size).transpose() * rest);
    const double length = rest.norm();
    if (length <= tolerance || size == basis.cols())
      dependent.push_back(i);
    else
      basis.col(size++) = rest / length;
  }
  return dependent;
}

}  // namespace stickslip
