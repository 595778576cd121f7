// SPDX-License-Identifier: Apache-2.0
// A path whose points are periodic motions: what path following asks of any of them, and how special points are told.
#pragma once

#include <string>

#include "stickslip/continuation/path_following.hpp"
#include "stickslip/periodic/branch.hpp"

namespace stickslip {

class OrbitPath : public PathProblem {
 public:
  /// The point as a periodic motion: orbit, multipliers, stability. Its status says whether there is one.
  virtual PeriodicSolution solve(const Vector& x, double s) = 0;
  /// The same, kept for the last point.
  const PeriodicSolution& solution(const Vector& x, double s);

  /// A change by the whole motion is as long as half the way of the parameter.
  double magnitude(const Vector& x, double s) final;

  /// Roots: Π (1 + λ); the largest modulus of a complex pair minus 1. Counts: laws that stick at some time; impacts.
  Index tests() const override { return 4; }
  TestKind test_kind(Index k) const override;
  bool test(const Vector& x, double s, Vector& values) override;
  std::string_view test_name(Index k) const override;

  /// Another branch crosses only where a multiplier of the motion is 1: equations of a coarse basis have singular
  /// points of their own. Other special points are read off the motions themselves.
  bool confirms(const SpecialPoint& special);

  std::string message;  ///< why a value of the parameter could not be built

 protected:
  virtual bool autonomous() const = 0;
  /// Of the motion, over the unit of x.
  virtual double motion_size(const Vector& x, double s) = 0;
  /// How far multipliers of the motion may be from those of the equations that are followed.
  virtual double multiplier_error() const = 0;

 private:
  Vector x_;
  double s_ = NAN;
  PeriodicSolution last_;
};

BranchPoint branch_point(double value, const PeriodicSolution& solution);
std::ptrdiff_t impacts(const Orbit& orbit);
/// NaN where a test has no value.
Vector bifurcation_tests(const PeriodicSolution& solution);
TestKind bifurcation_test_kind(Index test);
std::string_view bifurcation_name(Index test);

}  // namespace stickslip
