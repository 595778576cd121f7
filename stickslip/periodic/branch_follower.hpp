// SPDX-License-Identifier: Apache-2.0
// What the ways to follow a branch share (branch.hpp): paths become points of the branch, and their ends a message.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "stickslip/periodic/branch.hpp"
#include "stickslip/periodic/orbit_path.hpp"

namespace stickslip {

inline constexpr double kBranchLocation = 1e-8;  ///< of special points, of the way

using PathPoints = std::vector<PathPoint>;

/// Of a path in the range of the branch that begins at `from`; heading 0: towards `to`.
PathOptions path_options(const BranchOptions& options, double from, double heading, StopRequest stop);

class BranchFollower {
 public:
  BranchFollower(const BranchBuilder& build, const BranchOptions& options, const BranchHooks& hooks, int further,
                 Branch& branch)
      : build_(build), options_(options), stop_(hooks.stop), further_(further), hooks_(hooks), branch_(branch) {}

  double lowest() const { return std::min(options_.from, options_.to); }
  double highest() const { return std::max(options_.from, options_.to); }
  double way() const { return highest() - lowest(); }

  /// From x at `from`; `skip`: the first point is known already; `watch`: true ends the path before
  /// its point. The path's end is returned.
  Path follow(OrbitPath& problem, const Vector& x, double from, double heading, int number, bool skip,
              const std::function<bool(const PeriodicSolution&, double s)>& watch = {});
  bool add(const PeriodicSolution& solution, double value, int number);
  void add(Bifurcation found);
  /// Why the path ended goes into the branch; true: it reached its end.
  bool conclude(const Path& path, const OrbitPath& problem);
  void end(Status status, std::string message);
  void judge();

  const BranchBuilder& build_;
  const BranchOptions& options_;
  StopRequest stop_;
  int further_;  ///< branches that are looked for beside the first
  const BranchHooks& hooks_;
  Branch& branch_;

 private:
  std::string rejected_;
};

/// In state and period of event orbits, from instant to instant (branch_events.cpp).
void follow_events(BranchFollower& follower, const PeriodicSolution& first, double from, double heading, bool resumed);
/// Families with a condition: from value to value.
void walk_events(BranchFollower& follower, const PeriodicSolution& first, double from, bool resumed);

/// Branches beside the path that `points` are of (branch_further.cpp). starts: guesses at a value, beside those from
/// what is known.
void look_further(BranchFollower& follower, OrbitPath& problem, const PathPoints& points,
                  const std::function<std::vector<Vector>(double)>& starts);

}  // namespace stickslip
