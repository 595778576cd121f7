// SPDX-License-Identifier: Apache-2.0
// Systems of equations and least squares with bounds, for few unknowns and residuals that are dear:
//
//   minimise ½ ‖F(x)‖²  over  low <= x <= high,      F: Rⁿ → Rᵐ semismooth
//
// Newton's method in the trust region of Levenberg and Marquardt (Moré, The Levenberg-Marquardt algorithm, 1978). The
// step is
//
//   p(λ) = argmin ‖J p + F‖² + λ ‖D p‖²  with  ‖D p‖ <= Δ  and  low <= x + p <= high
//
//   J   an element of the generalised Jacobian of F
//   D   diagonal, D_j = largest ‖J_j‖ so far: x may be given in any units; or as given
//   Δ   grows and shrinks with actual over predicted reduction of ‖F‖²
//   λ   0 wherever that step is short enough. With m = n the step is then the one of the semismooth Newton method, and
//       convergence near a regular solution is quadratic; where J is nearly singular λ > 0 bounds the change.
//
// J D⁻¹ is decomposed by its singular values, so that a rank below n is no special case: of all steps the shortest is
// taken. Unknowns whose step leaves the bounds are put there, and the others are computed anew.
//
// Departure from the source: bounds; singular values in place of QR (n is small, and they say what is undetermined);
// points where F has no value are rejected like those that do not reduce it.
#pragma once

#include <functional>
#include <string_view>

#include "stickslip/common/vector.hpp"

namespace stickslip {

struct LeastSquaresProblem {
  Vector low, high;    ///< per unknown; may be infinite
  Vector metric = {};  ///< D, where it is given and not to follow from J (fewer equations than unknowns)
  Vector share = {};   ///< factors of D, where it follows from J: what has a small one may move far; empty: 1
  /// Largest change of each unknown in one step from x; empty: as the region allows.
  std::function<Vector(const Vector& x)> longest = {};
  /// F(x); false: there is none at x.
  std::function<bool(const Vector& x, Vector& F)> value;
  /// J at an x where value() was true; `F` is its result. Likewise.
  std::function<bool(const Vector& x, const Vector& F, DenseMatrix& J)> slope;
  /// x moved by p, for unknowns that are no plain numbers (orientations, in x behind the
  /// plain numbers); empty: x + p. Bounds are for plain numbers.
  std::function<Vector(const Vector& x, const Vector& p)> moved = {};
  /// A point to take in place of a trial x whose F is given (empty: it has none), where the problem knows a better one:
  /// unknowns that others determine, put to where these have them. True: both were replaced.
  std::function<bool(Vector& x, Vector& F)> better = {};
  /// F is small enough; asked after slope(). Empty: never, a minimum is looked for.
  std::function<bool(const Vector& x, const Vector& F)> solved = {};
  /// Every point that is taken, the start included, with its slope known.
  std::function<void(const Vector& x, const Vector& F)> taken = {};
  /// Asked before every evaluation; true ends it.
  std::function<bool()> stop = {};
};

struct LeastSquaresOptions {
  int max_iterations = 50;
  double step_tolerance = 1e-12;       ///< ‖D p‖ over ‖D x‖ at which nothing changes any more
  double reduction_tolerance = 1e-15;  ///< predicted reduction over ‖F‖² that counts as none
  double first_radius = 10;            ///< Δ at the start over ‖D x‖
  void validate() const;
};

enum class LeastSquaresOutcome {
  solved,      ///< by the problem's own test
  minimum,     ///< no step reduces ‖F‖ in the linear model, or it is too short to matter
  no_descent,  ///< J promises a reduction that F does not keep, however short the step
  iterations,  ///< the limit was reached
  undefined,   ///< no value or slope at the start
  stopped      ///< on request
};
std::string_view to_string(LeastSquaresOutcome outcome);

struct LeastSquaresSolution {
  LeastSquaresOutcome outcome = LeastSquaresOutcome::undefined;
  Vector x, F;
  DenseMatrix J;  ///< at x
  int iterations = 0;
  long evaluations = 0;  ///< of F
};

LeastSquaresSolution solve_least_squares(const LeastSquaresProblem& problem, const Vector& start,
                                         const LeastSquaresOptions& options = {});

/// The step p of above. `low`, `high`: room of p. Unknowns with D = 0 stay.
Vector trust_region_step(const DenseMatrix& J, const Vector& F, const Vector& D, double radius, const Vector& low,
                         const Vector& high);

}  // namespace stickslip
