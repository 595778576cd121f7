// SPDX-License-Identifier: Apache-2.0
// Periodic motions over a parameter: a branch, by pseudo arc length through its folds (path_following.hpp).
//
//   fourier, spline, stepping   in the coefficients (residual_path.hpp); every point polished where options say so
//   event                       in state and period at one instant (event_path.hpp), another one where the modes there
//                               change. Families with a condition: from value to value, without folds
//                               (event_orbit.hpp)
//
// Located: folds and branch points of the path, period doublings (a multiplier at -1), Neimark-Sacker (a pair on the
// unit circle), onset and end of sticking, grazing (an impact appears or vanishes).
//
// Further branches: known solutions at both ends and in the middle of the range are made repulsive
// (deflation.hpp) and others looked for from several starts; each is followed both ways. That none is found proves
// nothing.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stickslip/periodic/solve_periodic.hpp"

namespace stickslip {

/// Keys of periodic.continue.
struct BranchOptions {
  std::string parameter;  ///< as in --set, or the name of a parameter; empty: no branch
  double from = 0, to = 0;
  double step = 0;  ///< first; 0: a hundredth of the way
  bool operator==(const BranchOptions&) const = default;
};

/// What a value of the parameter makes of the model.
struct BranchCase {
  std::shared_ptr<const System> system;
  State initial;
  PeriodicOptions options;
  double run_length = 0;
  EventOptions event = {};
};
using BranchBuilder = std::function<BranchCase(double value)>;

struct BranchPoint {
  double value = 0, period = 0, residual = 0;
  Vector amplitude, minimum, maximum, stick_fraction;
  std::optional<bool> stable;
  Eigen::VectorXcd multipliers;
  bool polished = false;
  int branch = 0;        ///< 0: the first; others by deflation
  std::string rejected;  ///< certificate of the laws that failed; empty: none
};

struct Bifurcation {
  std::string kind;  ///< fold, branch_point, period_doubling, neimark_sacker, stick_onset, grazing
  double value = 0;
  int branch = 0;
};

/// What is known of a branch that was not finished, to go on from there.
struct BranchResume {
  std::vector<BranchPoint> points;  ///< at least one, all of branch 0
  std::vector<Bifurcation> bifurcations;
  Orbit last;  ///< of the last point, or of one near it
};

struct Branch {
  Status status = Status::success;
  std::string message;
  std::vector<BranchPoint> points;
  std::vector<Bifurcation> bifurcations;  ///< folds among them
  PeriodicSolution last;
};

struct BranchHooks {
  StopRequest stop = nullptr;
  /// Called with every point and its orbit as soon as it is known; false ends the branch.
  std::function<bool(const BranchPoint&, const Orbit&)> on_point = {};
  std::function<void(const Bifurcation&)> on_bifurcation = {};
};

/// Points and bifurcations of `resume` come first and are not handed to the hooks again. further: so many branches are
/// looked for beside the first.
Branch follow_branch(const BranchBuilder& build, const BranchOptions& options, const BranchHooks& hooks = {},
                     const BranchResume* resume = nullptr, int further = 0);

}  // namespace stickslip
