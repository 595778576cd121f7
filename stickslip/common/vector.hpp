// SPDX-License-Identifier: Apache-2.0
// The vector and matrix types used everywhere. Double precision, column-major dense, row-major sparse.
#pragma once

#include <Eigen/Core>
#include <Eigen/SparseCore>

namespace stickslip {

using Index = Eigen::Index;
using Vector = Eigen::VectorXd;
using DenseMatrix = Eigen::MatrixXd;
/// Row-major: every loop over a sparse matrix here walks rows.
using SparseMatrix = Eigen::SparseMatrix<double, Eigen::RowMajor, int>;

}  // namespace stickslip
