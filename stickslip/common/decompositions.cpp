// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/decompositions.hpp"

namespace Eigen {

template class PartialPivLU<MatrixXd>;
template class PartialPivLU<MatrixXcd>;
template class ColPivHouseholderQR<MatrixXd>;
template class CompleteOrthogonalDecomposition<MatrixXd>;
template class LLT<MatrixXd>;
template class LDLT<MatrixXd>;
template class SelfAdjointEigenSolver<MatrixXd>;
template LLT<MatrixXd>& LLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
template LDLT<MatrixXd>& LDLT<MatrixXd>::compute<MatrixXd>(const EigenBase<MatrixXd>&);
template SelfAdjointEigenSolver<MatrixXd>& SelfAdjointEigenSolver<MatrixXd>::compute<MatrixXd>(
    const EigenBase<MatrixXd>&, int);

}  // namespace Eigen
