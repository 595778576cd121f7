// SPDX-License-Identifier: Apache-2.0
// The singular value decompositions of decompositions.hpp, which cost as much as all the others.
#include "stickslip/common/decompositions.hpp"

namespace Eigen {

template class JacobiSVD<MatrixXd>;
template class BDCSVD<MatrixXd>;

}  // namespace Eigen
