// SPDX-License-Identifier: Apache-2.0
// Further solutions of F(x, s) = 0 at the same s: known ones are made repulsive, so that the same start leads
// elsewhere.
//
//   G(x) = F(x) Π_k (1/|x - x_k|² + 1),     |.| with every unknown over its scale
//
// G has the zeros of F but the x_k. Source: P.E. Farrell, A. Birkisson, S.W. Funke, SIAM J. Sci. Comput. 37, 2015.
#pragma once

#include <vector>

#include "stickslip/continuation/path_problem.hpp"

namespace stickslip {

class DeflatedProblem final : public PathProblem {
 public:
  /// The problem must outlive this one. x_scale > 0; empty: 1.
  DeflatedProblem(PathProblem& problem, std::vector<Vector> known, Vector x_scale = {});
  Index size() const override { return problem_.size(); }
  bool residual(const Vector& x, double s, Vector& F) override;
  bool jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) override;

 private:
  /// The product, and its gradient where it is asked for.
  double factor(const Vector& x, Vector* gradient) const;

  PathProblem& problem_;
  std::vector<Vector> known_;
  Vector scale_, F_;
};

}  // namespace stickslip
