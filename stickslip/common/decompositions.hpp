// SPDX-License-Identifier: Apache-2.0
// The decompositions of dense matrices in use, compiled once (decompositions.cpp, singular_values.cpp). Each takes
// seconds to compile wherever it is instantiated: include this in place of headers of Eigen.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

#include "stickslip/common/vector.hpp"

namespace Eigen {

extern template class PartialPivLU<MatrixXd>;
extern template class PartialPivLU<MatrixXcd>;
extern template class ColPivHouseholderQR<MatrixXd>;
extern template class CompleteOrthogonalDecomposition<MatrixXd>;
extern template class JacobiSVD<MatrixXd>;
extern template class BDCSVD<MatrixXd>;
extern template class LLT<MatrixXd>;
extern template class LDLT<MatrixXd>;
extern template class SelfAdjointEigenSolver<MatrixXd>;
// Members that are templates of their argument, for a matrix as it is.
extern template LLT<MatrixXd>& LLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
extern template LDLT<MatrixXd>& LDLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
extern template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute<MatrixXd>(
    const EigenBase<MatrixXd>&, int);

}  // namespace Eigen
