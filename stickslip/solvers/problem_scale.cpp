// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/problem_scale.hpp"

namespace stickslip {

ProblemScale natural_scale(const BlockSparseMatrix& D, const Vector& b) {
  double diagonal = 0, any = 0;
  for (int k = 0; k < D.blocks(); ++k)
    for (int c = 0; c < D.block_size(k); ++c) diagonal = std::max(diagonal, D.diagonal(k)[c * (D.block_size(k) + 1)]);
  if (!(diagonal > 0))
    for (const double value : D.all_values()) any = std::max(any, std::abs(value));
  return {ProblemScale::exponent_of(b.size() > 0 ? b.lpNorm<Eigen::Infinity>() : 0.0),
          ProblemScale::exponent_of(diagonal > 0 ? diagonal : any)};
}

}  // namespace stickslip
