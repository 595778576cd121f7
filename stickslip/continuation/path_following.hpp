// SPDX-License-Identifier: Apache-2.0
// Pseudo arc-length path following for F(x, s) = 0.
//
//   z = (x/(x_scale size), s/s_scale)  scaled point; arc length and angles are those of z. `size` is that of x at the
//   last
//               point (PathProblem::magnitude): the same step leads over a resonance and along the foot of it
//   tangent     [F_x F_s] t = 0, |t| = 1, oriented along the path by t·t_before > 0
//   predictor   z_p = z + h t
//   corrector   Newton on F(z) = 0, t·(z - z_p) = 0: regular at folds, where F_x is singular
//   step        longer after few corrections, shorter after many, after a failure, or where the tangent turns by more
//               than `largest_turn`. At the smallest step a turn is accepted: paths of piecewise smooth F have kinks
//
// Located on the way, each to `location_tolerance` of the step in which it lies, by bisection with corrections onto the
// path:
//   fold           t_s changes sign, and s turns there; on paths with kinks also where s turns over three points
//   branch point   det [F_x F_s; tᵀ] passes through 0: another branch crosses; `across` is a second direction in the
//   null
//                  space of [F_x F_s] there, orthogonal to t
//   test functions of the problem: roots, or changes of a count
// A function that changes its sign by a jump has no root: at kinks of F the determinant does so, and tests where what
// they are read off changes. It is a root where what is left on either side of the place is less than `largest_jump` of
// the values that it was looked for between.
//
// The path ends where s reaches `to` (solved there exactly), leaves [lowest, highest], closes on itself, after
// max_points, on a stop request, or where no step works any more.
//
// Sources: H.B. Keller 1977 (arc length), E. Allgower, K. Georg, Introduction to Numerical Continuation Methods, 2003.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/status.hpp"
#include "stickslip/continuation/path_problem.hpp"

namespace stickslip {

struct SpecialPoint;

struct PathOptions {
  double from = 0, to = 1;             ///< of s
  double lowest = NAN, highest = NAN;  ///< the path ends where s leaves these; NAN: `from` and `to`
  double step = 0;                     ///< first, in s; 0: a hundredth of the way
  double smallest_step = 1e-6;         ///< of the way from `from` to `to`, likewise the next
  double largest_step = 0.05;
  double largest_turn = 0.35;  ///< of the tangent in one step [rad]
  double tolerance = 1e-10;    ///< of max |F|, in the unit of F
  int max_corrections = 10;
  int easy_corrections = 4;  ///< up to so many the next step is longer
  long max_points = 10000;
  double location_tolerance = 1e-7;
  double largest_jump = 1e-2;  ///< roots of square-root type leave the root of location_tolerance
  double heading = 0;          ///< sign of the first step in s; 0: from `from` towards `to`
  bool first_along_s = true;   ///< false: the first tangent is `direction`
  Vector direction = {};       ///< n + 1 numbers (x, s), with first_along_s = false
  Vector x_scale = {};         ///< size of each unknown, > 0; empty: 1
  StopRequest stop = nullptr;
  std::function<void(const SpecialPoint&)> on_special = {};  ///< called with each as soon as it is located
  /// Throws InputError with value and relation.
  void validate() const;
};

struct PathPoint {
  Vector x;
  double s = 0;
  Vector tangent;   ///< of z, n + 1 numbers, the last one that of s
  double size = 1;  ///< of x, that z was made with
  int corrections = 0;
  double residual = 0;  ///< max |F|
};

struct SpecialPoint {
  enum class Kind { fold, branch_point, test } kind = Kind::fold;
  Index test = -1;  ///< which test function
  Index after = 0;  ///< lies between this point of the path and the next
  PathPoint point;
  Vector across;  ///< of a branch point, unscaled (x, s)
};

struct Path {
  Status status = Status::success;
  std::string message;  ///< why it ended, with the remedy; empty where `to` was reached
  std::vector<PathPoint> points;
  std::vector<SpecialPoint> special;
  bool closed = false;  ///< it came back to its first point
};

/// Called with every point as soon as it is known; false ends the path.
using PathHook = std::function<bool(const PathPoint&, Index number)>;

/// `start` is a guess of x at s = from; it is corrected there first (direction given: along that plane).
Path follow_path(PathProblem& problem, const Vector& start, const PathOptions& options, const PathHook& hook = {});

/// Newton with a line search on |F| at a fixed s; `tolerance`, `max_corrections` (ten times as many) and `stop` of the
/// options hold. False: x is as far as it came.
bool solve_at(PathProblem& problem, double s, const PathOptions& options, Vector& x);

}  // namespace stickslip
