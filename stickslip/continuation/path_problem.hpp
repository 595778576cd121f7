// SPDX-License-Identifier: Apache-2.0
// F(x, s) = 0 with n unknowns x and one parameter s: what a path is made of. No mechanics here.
//
//   F: R^n × R → R^n, piecewise smooth. At a kink the Jacobian is that of one of the pieces.
//   x, s and F come in the unit that the problem chooses; `x_scale` and `s_scale` of PathOptions say what is large.
#pragma once

#include <string_view>

#include "stickslip/common/vector.hpp"

namespace stickslip {

/// What a test function tells by changing.
enum class TestKind {
  root,  ///< continuous: it passes through 0
  count  ///< a number of something: it changes by a jump
};

class PathProblem {
 public:
  virtual ~PathProblem() = default;
  virtual Index size() const = 0;
  /// False: F has no value there (the model is left); a step is then shortened.
  virtual bool residual(const Vector& x, double s, Vector& F) = 0;
  /// ∂F/∂x and ∂F/∂s.
  virtual bool jacobian(const Vector& x, double s, DenseMatrix& by_x, Vector& by_s) = 0;

  /// How large x is there, over `x_scale`: arc length counts changes of x over both, so that steps stay of one size
  /// where the solution grows by orders of magnitude. 1: x_scale says all. Asked for at points of the path alone, after
  /// tests.
  virtual double magnitude(const Vector& /*x*/, double /*s*/) { return 1; }

  /// Functions whose roots or changes along the path are located beside folds and branch points (a multiplier that
  /// leaves the unit circle, a phase of the motion that appears). Evaluated at points of the path alone; NaN: no value
  /// there.
  virtual Index tests() const { return 0; }
  virtual TestKind test_kind(Index /*k*/) const { return TestKind::root; }
  virtual bool test(const Vector& /*x*/, double /*s*/, Vector& /*values*/) { return true; }
  virtual std::string_view test_name(Index /*k*/) const { return ""; }
};

}  // namespace stickslip
