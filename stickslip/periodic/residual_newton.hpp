// SPDX-License-Identifier: Apache-2.0
// Nonsmooth Newton for a weighted-residual problem, made global.
//
//   stage(ε)    Newton on F(X; ε) = 0 with a line search on |F|; where that does not lead down, Levenberg-Marquardt
//               steps; the shortest step where the Jacobian has no full rank
//   homotopy    stages over falling ε: 0.3, 0.1, 0.03, ... each from the last solution; a stage that fails is tried
//               again nearer to the last one. From ε = 1e-3 on the law itself (ε = 0) is tried after every stage
//
// Newton alone often fails from the linear response; with the homotopy all cases of the tests converge.
#pragma once

#include <string>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/status.hpp"
#include "stickslip/periodic/periodic_equations.hpp"

namespace stickslip {

struct ResidualNewtonOptions {
  double tolerance = 1e-9;   ///< of max |F|
  int max_iterations = 200;  ///< over all stages
  bool homotopy = true;      ///< false: ε = 0 from the start, with the line search; the homotopy if that fails
  StopRequest stop = nullptr;
};

struct ResidualSolution {
  Status status = Status::not_converged;
  std::string message;
  Vector X;
  double residual = 0;  ///< max |F| of the law itself
  int iterations = 0;
  double condition = 0;         ///< of the Jacobian
  std::vector<double> history;  ///< max |F| of each iteration
};

ResidualSolution solve_residual(PeriodicEquations& problem, const Vector& start, const ResidualNewtonOptions& options);

}  // namespace stickslip
