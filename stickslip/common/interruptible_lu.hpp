// SPDX-License-Identifier: Apache-2.0
// P A = L U of a dense square matrix with partial pivoting, in panels between which a stop request is heard: of a
// matrix of some thousand rows the decomposition takes many seconds.
#pragma once

#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/vector.hpp"

namespace stickslip {

class InterruptibleLu {
 public:
  /// False: stopped, or a pivot is 0 or not finite.
  bool compute(const DenseMatrix& A, StopRequest stop = nullptr);
  DenseMatrix solve(const DenseMatrix& b) const;
  /// Aᵀ x = b
  DenseMatrix solve_transposed(const DenseMatrix& b) const;
  /// Of det A.
  double determinant_sign() const { return sign_; }
  /// log |det A|
  double log_determinant() const { return lu_.diagonal().array().abs().log().sum(); }
  /// 1/(|A| |A⁻¹|) in the 1-norm, |A⁻¹| estimated from below (W.W. Hager, SIAM J. Sci. Stat. Comput. 5, 1984).
  double rcond() const;

 private:
  void factor_panel(Index first, Index columns);

  DenseMatrix lu_;
  std::vector<Index> order_;  ///< row of A that stands at each place
  double norm_ = 0, sign_ = 1;
};

}  // namespace stickslip
