// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/branch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/continuation/path_following.hpp"
#include "stickslip/periodic/event_path.hpp"
#include "stickslip/periodic/residual_path.hpp"

namespace stickslip {

namespace {

constexpr double kLocation = 1e-8;  // of the way

PathOptions path_options(const BranchOptions& options, double from, double heading, StopRequest stop) {
  PathOptions path;
  path.from = from;
  path.to = options.to == from ? options.from : options.to;
  path.lowest = std::min(options.from, options.to);
  path.highest = std::max(options.from, options.to);
  path.heading = heading;
  const double way = std::abs(options.to - options.from);
  path.step = std::min(options.step > 0 ? options.step : 0.01 * way, std::abs(path.to - from));
  path.largest_step = options.step > 0 ? 2 * options.step / way : 0.02;
  path.tolerance = 1e-9;
  path.max_corrections = 15;
  path.easy_corrections = 6;
  path.largest_turn = 0.7;
  path.stop = stop;
  return path;
}

std::string special_kind(const SpecialPoint& special) {
  if (special.kind == SpecialPoint::Kind::fold) return "fold";
  if (special.kind == SpecialPoint::Kind::branch_point) return "branch_point";
  return std::string(bifurcation_name(special.test));
}

/// Follows paths into a branch.
class Follower {
 public:
  Follower(const BranchBuilder& build, const BranchOptions& options, StopRequest stop, const BranchHook& hook,
           Branch& branch)
      : build_(build), options_(options), stop_(stop), hook_(hook), branch_(branch) {}

  double way() const { return std::abs(options_.to - options_.from); }

  /// From x at `from`; `skip`: the first point is known already. The path's end is returned.
  Path follow(OrbitPath& problem, const Vector& x, double from, double heading, bool skip) {
    bool first = skip;
    const PathHook on_point = [&](const PathPoint& point, Index) {
      if (std::exchange(first, false)) return true;
      const PeriodicSolution& solution = problem.solution(point.x, point.s);
      if (solution.orbit.t.empty()) return true;  // not polished and not judged: the path itself goes on
      return add(solution, point.s);
    };
    Path path = follow_path(problem, x, path_options(options_, from, heading, stop_), on_point);
    for (const SpecialPoint& special : path.special)
      branch_.bifurcations.push_back({special_kind(special), special.point.s});
    return path;
  }

  bool add(const PeriodicSolution& solution, double value) {
    for (const Certificate& certificate : solution.certificates)
      if (!certificate.ok && rejected_.empty()) rejected_ = fmt::format("{} at {:.9g}", certificate.name, value);
    branch_.points.push_back(branch_point(value, solution));
    branch_.last = solution;
    return !hook_ || hook_(branch_.points.back());
  }

  /// Why the path ended goes into the branch; true: it reached its end.
  bool conclude(const Path& path, const OrbitPath& problem) {
    branch_.status = path.status;
    branch_.message = path.message;
    if (path.status == Status::not_converged && !problem.message.empty())
      branch_.message += fmt::format("; the model says: {}", problem.message);
    return path.status == Status::success;
  }

  void judge() {
    if (branch_.status != Status::success || rejected_.empty()) return;
    branch_.status = Status::audit_failed;
    branch_.message = fmt::format("a certificate failed on the branch: {}", rejected_);
  }

  const BranchBuilder& build_;
  const BranchOptions& options_;
  StopRequest stop_;
  const BranchHook& hook_;
  Branch& branch_;

 private:
  std::string rejected_;
};

void follow_residual(Follower& follower, const PeriodicSolution& first, double from, double heading) {
  ResidualPath problem(follower.build_, follower.stop_, follower.way(), first.coefficients);
  const Path path = follower.follow(problem, first.coefficients, from, heading, false);
  follower.conclude(path, problem);
}

/// Where a path cannot go on because the motion at its instant changes, another instant is taken.
void follow_events(Follower& follower, const PeriodicSolution& first, double from, double heading) {
  Orbit orbit = first.orbit;
  double value = from;
  std::unique_ptr<EventPath> problem;
  for (bool known = false;; known = true) {
    problem = std::make_unique<EventPath>(follower.build_, follower.stop_, follower.way(), orbit, value);
    if (!problem->usable()) {
      follower.branch_.status = Status::not_converged;
      follower.branch_.message = "every law is held at every instant of the orbit: nothing can move";
      return;
    }
    const Path path = follower.follow(*problem, Vector::Zero(problem->size()), value, heading, known);
    const bool ended = follower.conclude(path, *problem) || path.status == Status::interrupted;
    if (ended || path.points.size() < 3) break;
    orbit = follower.branch_.last.orbit;
    value = path.points.back().s;
    heading = path.points.back().tangent[problem->size()] > 0 ? 1 : -1;
  }
}

/// Orbit by orbit.
class EventWalk {
 public:
  EventWalk(const BranchBuilder& build, StopRequest stop) : build_(build), stop_(stop) {}

  bool solve(double value, const Orbit* start, PeriodicSolution& solution, std::string& message) {
    try {
      const BranchCase parts = build_(value);
      const PeriodicProblem problem{
          *parts.system, parts.initial, parts.options, parts.run_length, parts.event, start, {}};
      PeriodicHooks hooks;
      hooks.stop = stop_;
      hooks.certify = false;
      solution = solve_periodic(problem, hooks);
      message = solution.message;
      return solution.status == Status::success;
    } catch (const InputError& error) {
      message = error.what();
      return false;
    }
  }

  void locate(const BranchOptions& options, const PeriodicSolution& a, double from, double to, const Vector& before,
              const Vector& after, Branch& branch) {
    for (Index k = 0; k < before.size(); ++k) {
      if (!std::isfinite(before[k]) || !std::isfinite(after[k]) || (before[k] > 0) == (after[k] > 0)) continue;
      double low = from, high = to;
      PeriodicSolution start = a, middle;
      std::string message;
      while (std::abs(high - low) > kLocation * std::abs(options.to - options.from)) {
        const double value = 0.5 * (low + high);
        if (!solve(value, &start.orbit, middle, message)) break;
        const double test = bifurcation_tests(middle)[k];
        if ((test > 0) == (before[k] > 0)) {
          low = value, start = middle;
        } else {
          high = value;
        }
      }
      branch.bifurcations.push_back({std::string(bifurcation_name(k)), 0.5 * (low + high)});
    }
  }

 private:
  const BranchBuilder& build_;
  StopRequest stop_;
};

/// Families with a condition: from value to value.
void walk_events(Follower& follower, const PeriodicSolution& first, double from) {
  const BranchOptions& options = follower.options_;
  Branch& branch = follower.branch_;
  EventWalk walk(follower.build_, follower.stop_);
  const double way = options.to - options.from;
  const double largest = (options.step > 0 ? options.step : 0.01 * std::abs(way)) * (way > 0 ? 1 : -1);
  double value = from, step = largest;
  branch.last = first;
  if (!follower.add(first, value)) return;
  while (value != options.to) {
    if (raised(follower.stop_)) {
      branch.status = Status::interrupted;
      branch.message = "stopped on request";
      return;
    }
    double next = value + step;
    if ((next - options.to) * way >= 0) next = options.to;
    PeriodicSolution solution;
    std::string message;
    if (!walk.solve(next, &branch.last.orbit, solution, message)) {
      step *= 0.5;
      if (std::abs(step) > 1e-5 * std::abs(way)) continue;
      branch.status = Status::not_converged;
      branch.message =
          fmt::format("the branch could not be followed beyond {} = {:.9g}: {}", options.parameter, value, message);
      return;
    }
    walk.locate(options, branch.last, value, next, bifurcation_tests(branch.last), bifurcation_tests(solution), branch);
    value = next;
    step = std::abs(step) < std::abs(largest) ? 2 * step : step;
    if (!follower.add(solution, next)) {
      branch.status = Status::interrupted;
      branch.message = "stopped on request";
      return;
    }
  }
}

}  // namespace

Branch follow_branch(const BranchBuilder& build, const BranchOptions& options, StopRequest stop,
                     const BranchHook& hook) {
  Branch branch;
  const BranchCase parts = build(options.from);
  const PeriodicProblem problem{
      *parts.system, parts.initial, parts.options, parts.run_length, parts.event, nullptr, {}};
  PeriodicHooks hooks;
  hooks.stop = stop;
  hooks.certify = false;
  PeriodicSolution first = solve_periodic(problem, hooks);
  if (first.status != Status::success) {
    branch.status = first.status;
    branch.message =
        fmt::format("{} = {:.9g}, where the branch begins: {}", options.parameter, options.from, first.message);
    branch.last = std::move(first);
    return branch;
  }
  branch.last = first;
  Follower follower(build, options, stop, hook, branch);
  const bool events = first.method == to_string(PeriodicMethod::event);
  if (events && parts.options.autonomous && parts.options.condition) {
    walk_events(follower, first, options.from);
  } else if (events) {
    follow_events(follower, first, options.from, 0);
  } else {
    follow_residual(follower, first, options.from, 0);
  }
  follower.judge();
  return branch;
}

}  // namespace stickslip
