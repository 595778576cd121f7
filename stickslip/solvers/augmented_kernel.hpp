// SPDX-License-Identifier: Apache-2.0
// Kernel of active_set.hpp for general sparse directions and many laws:
//
//   [  A  -W ] [v]   [g]
//   [ Wᵀ   0 ] [r] = [w]      stuck laws; rows of slipping laws are replaced by r_k = bound
//
// by Eigen's SparseLU. The one kernel that allocates in every call.
#pragma once

#include <Eigen/SparseLU>
#include <string>

#include "stickslip/solvers/active_set.hpp"

namespace stickslip {

struct PrimalActiveSet::Augmented {
  Eigen::SparseMatrix<double, Eigen::ColMajor, int> matrix;
  Eigen::SparseLU<Eigen::SparseMatrix<double, Eigen::ColMajor, int>> lu;
  Vector x, gap;
  unsigned long version = kNoVersion;
};
struct AugmentedKernel {
  const PrimalProblem& p;
  const Vector& lo;
  const Vector& hi;
  PrimalActiveSet::Augmented& a;
  double scale_r = 0;

  bool solve(const std::vector<BoxStatus>& status, Vector& r, Vector& u);
  double r_size(Index) const { return scale_r; }
  double u_size(Index k) const;
  /// Directions that depend on each other make the matrix singular, which round-off can hide: the reactions are then
  /// huge and cancel. False if they do not satisfy the equations.
  bool finish(const std::vector<BoxStatus>& status, InclusionSolution& solution);
  bool data_finite() const { return p.g.allFinite() && p.w.allFinite() && std::isfinite(p.A->max_abs()); }
  std::string singular_message() const;

 private:
  void assemble();
};

}  // namespace stickslip
