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
};

struct Bifurcation {
  std::string kind;  ///< fold, branch_point, period_doubling, neimark_sacker, stick_onset, grazing
  double value = 0;
};

struct Branch {
  Status status = Status::success;
  std::string message;
  std::vector<BranchPoint> points;
  std::vector<Bifurcation> bifurcations;  ///< folds among them
  PeriodicSolution last;
};

/// Called with every point as soon as it is known; false ends the branch.
using BranchHook = std::function<bool(const BranchPoint&)>;

Branch follow_branch(const BranchBuilder& build, const BranchOptions& options, StopRequest stop,
                     const BranchHook& hook);

}  // namespace stickslip
