// SPDX-License-Identifier: Apache-2.0
// Two-point boundary value problems by shooting: numbers x of a case for which conditions at given times hold.
//
//   g_i(columns of the motion at t_i, parameters, x) = 0,      i = 1..m,      n unknowns
//
//   g_i   expression over the columns of trajectory.csv (condition.hpp), at the start, the end or any time between
//   x     start values, parameters, forces, the end time: whatever --set can address (unknown.hpp), within bounds
//
// Single shooting: the motion is one run, F(x) = g. Multiple shooting: the time is cut at nodes t_1 < .. < t_K, the
// states s_k there are further unknowns, and each part is a run of its own,
//
//   Φ_k(x, s_k) ⊖ s_{k+1} = 0      the motion is continuous
//
// so that no run is long enough for an unstable motion to leave the neighbourhood of the solution.
//
// Solved by the semismooth Newton method in a trust region (common/least_squares.hpp): each g_i is a locally Lipschitz,
// piecewise smooth function of x (paper 3 for `compliant`; for `event` away from motions that graze), and derivatives
// of the runs (segment_slopes.hpp) are elements of its generalised Jacobian. m > n: least squares of g_i / scale_i.
//
// Converged: |g_i| <= tolerance Σ_j |∂g_i/∂x_j| s_j for all i, s_j the size of x_j: each condition is met to what a
// relative change `tolerance` of the unknowns makes of it, and to 1e4 tolerance of its own terms; likewise the
// continuity relative to the motion. So the result is the same in any units. Where the runs themselves are less exact
// than that (run.tolerance), a residual of kRunPart run.tolerance that does not fall any more counts, and a note says
// so.
//
// m < n (many values of a control, one coefficient per contact) is refused unless `closest` is asked for: of all x that
// meet the conditions the one nearest to the start x0, ‖S⁻¹ (x - x0)‖ with S the sizes of the unknowns at the start.
// Steps are the shortest in that norm; then x goes, by Gauss-Newton, to the point of the linearised conditions that is
// nearest to x0, until it stays (kNearest). A local answer, as every one of Newton's method.
//
// Derivatives: forward, or by one way back along the run for all conditions where that is cheaper (motion/gradient.hpp;
// single shooting, no conditions on reactions).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stickslip/boundary/condition.hpp"
#include "stickslip/boundary/unknown.hpp"
#include "stickslip/common/deadline.hpp"
#include "stickslip/motion/case.hpp"
#include "stickslip/motion/gradient.hpp"

namespace stickslip {

constexpr double kRunPart = 10;
constexpr double kNearest = 1e-6;  ///< step over the way from the start at which it counts as the nearest solution

struct ShootingProblem {
  Case model;
  std::vector<Unknown> unknowns;
  std::vector<Condition> conditions;  ///< made with ColumnLayout(model.system(), model.parameters(), unknowns)
  double end_time = 0;                ///< [s]; > start_time of the run's options
  int segments = 1;                   ///< parts of equal length; or
  std::vector<double> nodes = {};     ///< [s] where it is cut, ascending, between start and end
};

/// Field names are keys of [shoot] in model files.
struct ShootingOptions {
  double tolerance = 1e-10;
  int max_iterations = 50;
  bool closest = false;  ///< fewer conditions than unknowns: the solution nearest to the start
  DerivativeMethod derivatives = DerivativeMethod::automatic;
  StopRequest stop = nullptr;                 ///< heard inside every run
  std::function<void(double)> progress = {};  ///< fraction, roughly; after every run
  void validate() const;
};

struct ShootingIterate {
  double residual = 0;    ///< largest |g_i|
  double continuity = 0;  ///< largest gap at a node, relative to the motion
  Vector unknowns;
};

struct ShootingSolution {
  Status status = Status::success;
  std::string message;
  Vector unknowns;
  Vector conditions;                    ///< g_i there
  double residual = 0, continuity = 0;  ///< as in the history
  int iterations = 0;
  long runs = 0;                                             ///< simulations, parts counted as such
  bool least_squares = false;                                ///< m > n
  DerivativeMethod derivatives = DerivativeMethod::forward;  ///< that were used
  double distance = 0;                   ///< ‖S⁻¹ (x - x0)‖, where the nearest solution was asked for
  std::vector<ShootingIterate> history;  ///< the start first
  DenseMatrix sensitivity;               ///< ∂g_i/∂x_j, through all parts
  std::vector<State> nodes;              ///< at the cuts; none: one segment was taken
  std::vector<std::string> notes;
};

/// Throws InputError: fewer conditions than unknowns without `closest`, an adjoint that there is none of, unknowns that
/// no condition depends on, bounds that exclude the start, times outside the motion, keys that the case does not know.
ShootingSolution shoot(const ShootingProblem& problem, const ShootingOptions& options = {});

/// The motion of a solution, part by part, with the output of the case's own options. Rows and events go to the hooks
/// and, unless keep_trajectory is false, into one trajectory; of each item of the audit the worst part counts.
Simulation follow(const ShootingProblem& problem, const ShootingSolution& solution, const SimulationHooks& hooks = {});

}  // namespace stickslip
