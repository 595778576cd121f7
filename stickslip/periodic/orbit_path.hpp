// SPDX-License-Identifier: Apache-2.0
// A path whose points are periodic motions: what path following asks of any of them, and how special points are told.
#pragma once

#include <string>

#include "stickslip/continuation/path_problem.hpp"
#include "stickslip/periodic/branch.hpp"

namespace stickslip {

class OrbitPath : public PathProblem {
 public:
  /// The point as a periodic motion: orbit, multipliers, stability. Its status says whether there is one.
  virtual PeriodicSolution solve(const Vector& x, double s) = 0;
  /// The same, kept for the last point.
  const PeriodicSolution& solution(const Vector& x, double s);

  /// Π (1 + λ); the largest modulus of a complex pair minus 1; sticking or not; an even or odd number of impacts.
  Index tests() const override { return 4; }
  bool test(const Vector& x, double s, Vector& values) override;
  std::string_view test_name(Index k) const override;

  std::string message;  ///< why a value of the parameter could not be built

 private:
  Vector x_;
  double s_ = NAN;
  PeriodicSolution last_;
};

BranchPoint branch_point(double value, const PeriodicSolution& solution);
/// NaN where a test has no value.
Vector bifurcation_tests(const PeriodicSolution& solution);
std::string_view bifurcation_name(Index test);

}  // namespace stickslip
