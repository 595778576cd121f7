// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/branch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/periodic/branch_follower.hpp"
#include "stickslip/periodic/require_branch.hpp"
#include "stickslip/periodic/residual_path.hpp"

namespace stickslip {

void require_branch(const BranchOptions& options) {
  const double from = options.from, to = options.to, step = options.step;
  if (!std::isfinite(from) || !std::isfinite(to) || from == to)
    throw InputError(fmt::format("a branch from {} to {}: give two different finite numbers", from, to));
  if (step < 0 && to > from)
    throw InputError(fmt::format("a branch from {} to {} with the step {}: it leads away from {}; give a step > 0",
                                 from, to, step, to));
  if (!(std::abs(step) <= std::abs(to - from)))
    throw InputError(
        fmt::format("a branch from {} to {} with the step {}: the first step may be as long as the way, {}", from, to,
                    step, std::abs(to - from)));
}

void require_resumable(const BranchOptions& options, const BranchResume& resume) {
  const double at = resume.points.back().value;
  if (at >= std::min(options.from, options.to) && at <= std::max(options.from, options.to)) return;
  throw InputError(fmt::format(
      "the branch to go on with is at {} = {:.9g} already, outside {:.9g} .. {:.9g}; give an end beyond it, or "
      "begin anew",
      options.parameter, at, options.from, options.to));
}

PathOptions path_options(const BranchOptions& options, double from, double heading, StopRequest stop) {
  PathOptions path;
  path.from = from;
  path.to = options.to == from ? options.from : options.to;
  path.lowest = std::min(options.from, options.to);
  path.highest = std::max(options.from, options.to);
  path.heading = heading;
  const double way = std::abs(options.to - options.from);
  const double step = options.step != 0 ? std::abs(options.step) : 0.01 * way;
  path.step = std::min(step, std::abs(path.to - from));
  path.largest_step = 2 * step / way;
  path.tolerance = 1e-9;
  path.max_corrections = 15;
  path.easy_corrections = 6;
  path.largest_turn = 0.7;
  path.stop = stop;
  return path;
}

namespace {

std::string special_kind(const SpecialPoint& special) {
  if (special.kind == SpecialPoint::Kind::fold) return "fold";
  if (special.kind == SpecialPoint::Kind::branch_point) return "branch_point";
  return std::string(bifurcation_name(special.test));
}

}  // namespace

Path BranchFollower::follow(OrbitPath& problem, const Vector& x, double from, double heading, int number, bool skip,
                            const std::function<bool(const PeriodicSolution&, double s)>& watch) {
  bool first = skip;
  const PathHook on_point = [&](const PathPoint& point, Index) {
    if (std::exchange(first, false)) return true;
    const PeriodicSolution& solution = problem.solution(point.x, point.s);
    if (raised(stop_)) return false;            // it may be half done: the branch is gone on with from the point before
    if (solution.orbit.t.empty()) return true;  // not polished and not judged: the path itself goes on
    return !(watch && watch(solution, point.s)) && add(solution, point.s, number);
  };
  PathOptions along = path_options(options_, from, heading, stop_);
  along.on_special = [&](const SpecialPoint& special) {
    if (problem.confirms(special)) add({special_kind(special), special.point.s, number});
  };
  return follow_path(problem, x, along, on_point);
}

bool BranchFollower::add(const PeriodicSolution& solution, double value, int number) {
  BranchPoint point = branch_point(value, solution);
  point.branch = number;
  if (!point.rejected.empty() && rejected_.empty()) rejected_ = fmt::format("{} at {:.9g}", point.rejected, value);
  branch_.points.push_back(std::move(point));
  if (number == 0) branch_.last = solution;
  return !hooks_.on_point || hooks_.on_point(branch_.points.back(), solution.orbit);
}

void BranchFollower::add(Bifurcation found) {
  // Where a path in harmonics ends and one of event orbits goes on both come past it.
  constexpr double kSamePlace = 1e-6;  // of the way
  if (!branch_.bifurcations.empty()) {
    const Bifurcation& last = branch_.bifurcations.back();
    if (last.kind == found.kind && last.branch == found.branch &&
        std::abs(last.value - found.value) <= kSamePlace * way())
      return;
  }
  if (hooks_.on_bifurcation) hooks_.on_bifurcation(found);
  branch_.bifurcations.push_back(std::move(found));
}

bool BranchFollower::conclude(const Path& path, const OrbitPath& problem) {
  branch_.status = path.status;
  branch_.message = path.message;
  if (raised(stop_)) branch_.status = Status::interrupted, branch_.message = "stopped on request";
  if (path.status == Status::not_converged && !problem.message.empty())
    branch_.message += fmt::format("; the model says: {}", problem.message);
  return path.status == Status::success;
}

void BranchFollower::end(Status status, std::string message) {
  branch_.status = status;
  branch_.message = std::move(message);
}

void BranchFollower::judge() {
  if (branch_.status != Status::success || rejected_.empty()) return;
  branch_.status = Status::audit_failed;
  branch_.message = fmt::format("a certificate failed on the branch: {}", rejected_);
}

namespace {

/// Which no basis of smooth functions holds: a path in its coefficients has folds and branch points of its own.
bool has_impacts(const PeriodicSolution& solution) { return solution.polished && impacts(solution.orbit) > 0; }

void follow_residual(BranchFollower& follower, const PeriodicSolution& first, double from, double heading,
                     bool resumed) {
  ResidualPath problem(follower.build_, follower.stop_, follower.way(), first.coefficients);
  const auto friction = static_cast<Index>(follower.build_(from).system->laws().friction().size());
  // A motion that begins to touch is gone on with as an event orbit, from the last one that did not.
  PeriodicSolution last;
  double place = from;
  bool struck = false;
  const Path path = follower.follow(
      problem, first.coefficients, from, heading, 0, resumed, [&](const PeriodicSolution& solution, double s) {
        struck = has_impacts(solution) || (!solution.polished && last.polished && last.orbit.gap[0].size() > friction);
        if (!struck || !last.polished) last = solution, place = s;
        return struck;
      });
  if (struck && !raised(follower.stop_)) {
    const std::size_t n = path.points.size();
    const double way = n > 1 ? path.points[n - 1].s - path.points[n - 2].s : path.points[0].tangent[problem.size()];
    follow_events(follower, last, place, way > 0 ? 1 : -1, !has_impacts(last));
    follower.branch_.last.notes.push_back(fmt::format(
        "followed as event orbits from {} = {:.9g} on: harmonics hold no impact", follower.options_.parameter, place));
    return;
  }
  if (!follower.conclude(path, problem) || follower.further_ == 0) return;
  look_further(follower, problem, path.points, [&](double value) {
    const Vector linear = problem.linear_start(value);
    std::vector<Vector> list{linear, 0.1 * linear, 3 * linear, -1 * linear};
    for (const double factor : {3.0, -3.0, 10.0}) {
      Vector start = problem.run_start(linear, factor, value);
      if (start.size() > 0) list.push_back(std::move(start));
    }
    return list;
  });
}

}  // namespace

Branch follow_branch(const BranchBuilder& build, const BranchOptions& options, const BranchHooks& branch_hooks,
                     const BranchResume* resume, int further) {
  require_branch(options);
  Branch branch;
  double from = options.from, heading = 0;
  if (resume) {
    require_resumable(options, *resume);
    branch.points = resume->points;
    branch.bifurcations = resume->bifurcations;
    from = branch.points.back().value;
    if (branch.points.size() > 1) heading = from > branch.points[branch.points.size() - 2].value ? 1 : -1;
    if (from == options.to) return branch;
  }
  const BranchCase parts = build(from);
  PeriodicProblem problem{*parts.system, parts.initial, parts.options, parts.run_length, parts.event, nullptr, {}};
  if (resume) problem.start = &resume->last;
  PeriodicHooks hooks;
  hooks.stop = branch_hooks.stop;
  hooks.certify = false;
  PeriodicSolution first = solve_periodic(problem, hooks);
  if (first.status != Status::success) {
    if (first.status == Status::interrupted && first.message.empty()) first.message = "stopped on request";
    branch.status = first.status;
    branch.message = fmt::format("{} = {:.9g}, where the branch begins: {}", options.parameter, from, first.message);
    branch.last = std::move(first);
    return branch;
  }
  branch.last = first;
  BranchFollower follower(build, options, branch_hooks, further, branch);
  const bool events = first.method == to_string(PeriodicMethod::event) || has_impacts(first);
  if (events && parts.options.autonomous && parts.options.condition) {
    walk_events(follower, first, from, resume != nullptr);
  } else if (events) {
    follow_events(follower, first, from, heading, resume != nullptr);
  } else {
    follow_residual(follower, first, from, heading, resume != nullptr);
  }
  follower.judge();
  return branch;
}

}  // namespace stickslip
