// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/identifiability.hpp"

#include <Eigen/QR>
#include <Eigen/SVD>
#include <cmath>

namespace stickslip {

namespace {

/// Part of a direction of length 1 from which on an unknown takes part in it.
constexpr double kTakesPart = 0.05;

struct Directions {
  Vector lengths;  ///< of the columns
  Vector sigma;
  DenseMatrix V;
  Index rank = 0;
};

Directions directions_of(const DenseMatrix& J) {
  Directions result;
  result.lengths = J.colwise().norm();
  DenseMatrix A = J;
  for (Index j = 0; j < J.cols(); ++j)
    if (result.lengths[j] > 0) A.col(j) /= result.lengths[j];
  if (A.rows() > A.cols()) {  // of very many measurements only the triangle of their decomposition counts
    const Eigen::HouseholderQR<DenseMatrix> qr(A);
    A = qr.matrixQR().topRows(J.cols()).triangularView<Eigen::Upper>().toDenseMatrix();
  }
  const Eigen::JacobiSVD<DenseMatrix, Eigen::FullPivHouseholderQRPreconditioner> svd(
      A, Eigen::ComputeFullU | Eigen::ComputeFullV);
  result.sigma = Vector::Zero(J.cols());
  result.sigma.head(svd.singularValues().size()) = svd.singularValues();
  result.V = svd.matrixV();
  while (result.rank < J.cols() && result.sigma[result.rank] > kDetermined * result.sigma[0]) ++result.rank;
  return result;
}

}  // namespace

std::vector<std::vector<std::string>> undetermined(const DenseMatrix& J, const std::vector<std::string>& names) {
  const Directions found = directions_of(J);
  std::vector<std::vector<std::string>> lists;
  for (Index k = found.rank; k < J.cols(); ++k) {
    std::vector<std::string> together;
    for (Index j = 0; j < J.cols(); ++j)
      if (std::abs(found.V(j, k)) > kTakesPart) together.push_back(names[static_cast<std::size_t>(j)]);
    lists.push_back(std::move(together));
  }
  return lists;
}

DenseMatrix covariance(const DenseMatrix& J) {
  const Directions found = directions_of(J);
  DenseMatrix scaled = found.V.leftCols(found.rank);
  for (Index k = 0; k < found.rank; ++k) scaled.col(k) /= found.sigma[k];
  DenseMatrix C = scaled * scaled.transpose();
  for (Index k = found.rank; k < J.cols(); ++k)
    for (Index j = 0; j < J.cols(); ++j)
      if (std::abs(found.V(j, k)) > kTakesPart) C(j, j) = HUGE_VAL;
  for (Index i = 0; i < J.cols(); ++i)
    for (Index j = 0; j < J.cols(); ++j)
      if (const double scale = found.lengths[i] * found.lengths[j]; scale > 0) C(i, j) /= scale;
  return C;
}

}  // namespace stickslip
