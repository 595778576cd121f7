// SPDX-License-Identifier: Apache-2.0
// Points of a path in scaled coordinates z = (x/(x_scale size), s/s_scale), and what is read off them: Newton's
// iteration onto the path in a plane, its tangent, and what may change sign along it (path_following.hpp).
#pragma once

#include "stickslip/common/interruptible_lu.hpp"
#include "stickslip/continuation/path_following.hpp"

namespace stickslip {

/// det [F_x F_s; tᵀ] as sign and logarithm: determinants of some hundred unknowns leave the range of numbers. Without
/// the size of x, which changes from point to point.
struct Determinant {
  double sign = 0, log_size = 0;
  /// Over e^log_unit.
  double over(double log_unit) const { return sign * std::exp(log_size - log_unit); }
};

/// What may change sign along the path, or change at all.
struct PathSigns {
  double fold = 0;  ///< t_s
  Determinant determinant;
  Vector tests;
};

class PathCorrector {
 public:
  /// Both must outlive this.
  PathCorrector(PathProblem& problem, const PathOptions& options);

  Vector scaled(const Vector& x, double s) const;
  /// From here on z is made with the size of x at this point; its tangent becomes that of the new z.
  void rescale(PathPoint& point);
  /// The tangent of a point that was found with another size, as one of z.
  Vector tangent_now(const PathPoint& point) const;
  /// Newton on (F, plane·(z - anchor)) from z. False: it does not converge.
  bool correct(Vector& z, const Vector& plane, const Vector& anchor, PathPoint& point);
  /// The unit tangent, along `before`, into the point; false: there is none.
  bool tangent(PathPoint& point, const Vector& before, Determinant& determinant);
  /// Tangent, determinant and test functions.
  bool read(PathPoint& point, const Vector& before, PathSigns& signs);
  /// The null vector of [F_x F_s] that is orthogonal to the tangent, by inverse iteration. Unscaled.
  Vector across(const PathPoint& point);

  TestKind test_kind(Index k) const { return problem_.test_kind(k); }
  Index n() const { return n_; }
  double s_scale() const { return scale_[n_]; }

 private:
  struct Plane;
  bool factor(const PathPoint& point, const Vector& last_row);

  PathProblem& problem_;
  const PathOptions& options_;
  Index n_;
  double size_ = 1;
  Vector scale_, F_, by_s_, right_;
  DenseMatrix by_x_, A_;
  InterruptibleLu lu_;
};

}  // namespace stickslip
