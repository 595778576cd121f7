// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/branch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/continuation/further_solutions.hpp"
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
  Follower(const BranchBuilder& build, const BranchOptions& options, const BranchHooks& hooks, int further,
           Branch& branch)
      : build_(build), options_(options), stop_(hooks.stop), further_(further), hooks_(hooks), branch_(branch) {}

  double way() const { return std::abs(options_.to - options_.from); }

  /// From x at `from`; `skip`: the first point is known already. The path's end is returned.
  Path follow(OrbitPath& problem, const Vector& x, double from, double heading, int number, bool skip) {
    bool first = skip;
    const PathHook on_point = [&](const PathPoint& point, Index) {
      if (std::exchange(first, false)) return true;
      const PeriodicSolution& solution = problem.solution(point.x, point.s);
      if (solution.orbit.t.empty()) return true;  // not polished and not judged: the path itself goes on
      return add(solution, point.s, number);
    };
    PathOptions along = path_options(options_, from, heading, stop_);
    along.on_special = [&](const SpecialPoint& special) { add({special_kind(special), special.point.s, number}); };
    return follow_path(problem, x, along, on_point);
  }

  bool add(const PeriodicSolution& solution, double value, int number) {
    BranchPoint point = branch_point(value, solution);
    point.branch = number;
    if (!point.rejected.empty() && rejected_.empty()) rejected_ = fmt::format("{} at {:.9g}", point.rejected, value);
    branch_.points.push_back(std::move(point));
    if (number == 0) branch_.last = solution;
    return !hooks_.on_point || hooks_.on_point(branch_.points.back(), solution.orbit);
  }
  void add(Bifurcation found) {
    if (hooks_.on_bifurcation) hooks_.on_bifurcation(found);
    branch_.bifurcations.push_back(std::move(found));
  }

  /// Why the path ended goes into the branch; true: it reached its end.
  bool conclude(const Path& path, const OrbitPath& problem) {
    branch_.status = path.status;
    branch_.message = path.message;
    if (raised(stop_)) branch_.status = Status::interrupted, branch_.message = "stopped on request";
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
  int further_;
  const BranchHooks& hooks_;
  Branch& branch_;

 private:
  std::string rejected_;
};

using PathPoints = std::vector<PathPoint>;

/// Where paths pass `value`, solved there.
std::vector<Vector> solutions_at(OrbitPath& problem, const std::vector<PathPoints>& paths, const PathOptions& options,
                                 double value) {
  std::vector<Vector> found;
  for (const PathPoints& points : paths)
    for (std::size_t k = 0; k + 1 < points.size(); ++k) {
      const double a = points[k].s - value, b = points[k + 1].s - value;
      if (a * b > 0) continue;
      Vector x = points[k].x + (b == a ? 0.0 : -a / (b - a)) * (points[k + 1].x - points[k].x);
      if (solve_at(problem, value, options, x)) found.push_back(x);
    }
  return found;
}

/// Further solutions at `value` beside those of known paths, from several starts; each followed both ways.
void follow_further(Follower& follower, OrbitPath& problem, std::vector<PathPoints>& paths,
                    const std::vector<Vector>& more_starts, double value, int& number) {
  constexpr Index kDirections = 4;  // unknowns that starts are moved along, by parts of their size
  const BranchOptions& range = follower.options_;
  const PathOptions options = path_options(range, value, 0, follower.stop_);
  std::vector<Vector> known = solutions_at(problem, paths, options, value), starts = more_starts;
  if (known.empty() || number > follower.further_) return;
  for (const Vector& x : known) {
    for (const double factor : {1.5, 0.5, 3.0, -1.0}) starts.push_back(factor * x);
    for (Index k = 0; k < std::min<Index>(x.size(), kDirections); ++k)
      for (const double way : {0.5, -0.5, 2.0, -2.0}) starts.push_back(x + way * Vector::Unit(x.size(), k));
  }
  std::vector<Vector> found;
  find_further_solutions(problem, value, options, std::move(starts), known, [&](const Vector& x) {
    found.push_back(x);
    return number + static_cast<int>(found.size()) <= follower.further_;
  });
  for (const Vector& x : found) {
    if (raised(follower.stop_)) return;
    // The path of one found before may have come here already.
    const std::vector<Vector> passed = solutions_at(problem, paths, options, value);
    constexpr double kSame = 1e-4;
    const auto same = [&](const Vector& k) { return (x - k).norm() < kSame * (1 + k.norm()); };
    if (std::any_of(passed.begin(), passed.end(), same)) continue;
    bool again = false;
    for (const double heading : {1.0, -1.0}) {
      if (value == (heading > 0 ? std::max(range.from, range.to) : std::min(range.from, range.to))) continue;
      paths.push_back(follower.follow(problem, x, value, heading, number, again).points);
      again = true;
    }
    ++number;
  }
}

void look_further(Follower& follower, OrbitPath& problem, const PathPoints& points,
                  const std::function<std::vector<Vector>(double)>& starts) {
  const BranchOptions& options = follower.options_;
  std::vector<PathPoints> paths{points};
  int number = 1;
  for (const double value : {options.from, options.to, 0.5 * (options.from + options.to)})
    follow_further(follower, problem, paths, starts(value), value, number);
}

void follow_residual(Follower& follower, const PeriodicSolution& first, double from, double heading, bool resumed) {
  ResidualPath problem(follower.build_, follower.stop_, follower.way(), first.coefficients);
  const Path path = follower.follow(problem, first.coefficients, from, heading, 0, resumed);
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

bool at_rest(const Orbit& orbit) {
  return std::all_of(orbit.v.begin(), orbit.v.end(), [](const Vector& v) { return v.isZero(0); });
}

/// Orbit by orbit.
class EventWalk {
 public:
  EventWalk(const BranchBuilder& build, StopRequest stop) : build_(build), stop_(stop) {}

  bool solve(double value, const Orbit* start, PeriodicSolution& solution, std::string& message) {
    try {
      const BranchCase parts = build_(value);
      PeriodicProblem problem{*parts.system, parts.initial, parts.options, parts.run_length, parts.event, start, {}};
      if (start && at_rest(*start)) {  // nothing says how large a motion may become: a run does
        problem.start = nullptr;
        problem.initial.q = start->q[0];
        problem.initial.v.setZero();
        problem.initial.modes.clear();
      }
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
              const Vector& after, Follower& follower) {
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
      follower.add({std::string(bifurcation_name(k)), 0.5 * (low + high), 0});
    }
  }

 private:
  const BranchBuilder& build_;
  StopRequest stop_;
};

std::ptrdiff_t impacts(const Orbit& orbit) {
  return std::count_if(orbit.events.begin(), orbit.events.end(),
                       [](const Event& event) { return event.kind == EventKind::impact; });
}

/// Of the extremes of two motions, over the size of the second.
double distance(const Orbit& a, const Orbit& b) {
  const double size = (b.maximum - b.minimum).maxCoeff();
  return std::max((a.maximum - b.maximum).cwiseAbs().maxCoeff(), (a.minimum - b.minimum).cwiseAbs().maxCoeff()) /
         std::max(size, std::numeric_limits<double>::min());
}

/// Where motions with the touches of `orbit`, known at `value`, end before `beyond`.
double grazing_between(const Follower& follower, EventWalk& walk, Orbit orbit, double value, double beyond) {
  const std::ptrdiff_t touches = impacts(orbit);
  PeriodicSolution middle;
  std::string message;
  while (std::abs(beyond - value) > kLocation * follower.way() && !raised(follower.stop_)) {
    const double s = 0.5 * (value + beyond);
    if (walk.solve(s, &orbit, middle, message) && impacts(middle.orbit) == touches) {
      value = s;
      orbit = middle.orbit;
    } else {
      beyond = s;
    }
  }
  return value;
}

/// A contact that begins to touch makes the derivative of the motion infinite on one side (grazing), and no path goes
/// through. The motion beyond has another sequence of phases: looked for a little further on, then, because the branch
/// may turn back there, a little before with a larger motion. False: none was found. Sets value, heading and orbit.
bool cross_grazing(Follower& follower, double& value, double& heading, Orbit& orbit) {
  constexpr double kNear = 0.2;  // of the motion's size
  const double low = std::min(follower.options_.from, follower.options_.to),
               high = std::max(follower.options_.from, follower.options_.to);
  EventWalk walk(follower.build_, follower.stop_);
  const auto larger = [&](double by) {  // about zero, by a part of itself
    Orbit grown = orbit;
    for (std::size_t k = 0; k < grown.q.size(); ++k) {
      grown.q[k] *= 1 + by;
      grown.v[k] *= 1 + by;
    }
    return grown;
  };
  // The connected motion first; a motion far away, where runs lead, last.
  for (const auto& [back, far] : {std::pair{false, false}, {true, false}, {false, true}})
    for (const double part : {1e-4, 1e-3, 3e-3, 1e-2}) {  // of the way
      const double direction = back ? -heading : heading, next = value + direction * part * follower.way();
      if (next < low || next > high || raised(follower.stop_)) continue;
      const std::vector<double> growths =
          back ? std::vector{0.3 * part, part, 3 * part, 10 * part, 0.1} : std::vector{0.0};
      PeriodicSolution beyond;
      std::string message;
      bool found = false, other = false;
      for (std::size_t k = 0; k < growths.size() && !found; ++k) {
        const Orbit guess = larger(growths[k]);
        if (!walk.solve(next, &guess, beyond, message)) continue;
        other = impacts(beyond.orbit) != impacts(orbit);
        found = (other || !back) &&
                (far || distance(beyond.orbit, orbit) <= kNear);  // back: not the branch that it came on
      }
      if (!found) continue;
      if (other)
        follower.add(
            {"grazing", grazing_between(follower, walk, orbit, value, value + heading * part * follower.way()), 0});
      value = next;
      heading = direction;
      orbit = beyond.orbit;
      return true;
    }
  return false;
}

/// Where a path cannot go on because the motion at its instant changes, another instant is taken.
void follow_events(Follower& follower, const PeriodicSolution& first, double from, double heading, bool resumed) {
  Orbit orbit = first.orbit;
  double value = from;
  if (heading == 0) heading = follower.options_.to > from ? 1 : -1;
  int crossings = 0;
  std::unique_ptr<EventPath> problem;
  std::vector<PathPoint> points;
  for (bool known = resumed;;) {
    problem = std::make_unique<EventPath>(follower.build_, follower.stop_, follower.way(), orbit, value);
    if (!problem->usable()) {
      follower.branch_.status = Status::not_converged;
      follower.branch_.message = fmt::format(
          "nothing moves at {} = {:.9g}, and a path in the state begins with a motion; use method = \"fourier\", or "
          "begin where something moves",
          follower.options_.parameter, value);
      return;
    }
    const Path path = follower.follow(*problem, Vector::Zero(problem->size()), value, heading, 0, known);
    known = true;
    points = path.points;
    const bool ended = follower.conclude(path, *problem) || path.status == Status::interrupted;
    if (ended) break;
    if (!path.points.empty()) {
      orbit = follower.branch_.last.orbit;
      value = path.points.back().s;
    }
    // The way it came, and not the tangent, which may be that of the other side of the place where the path ends.
    if (path.points.size() > 1) heading = path.points.back().s > path.points[path.points.size() - 2].s ? 1 : -1;
    constexpr int kMostCrossings = 100;
    constexpr std::size_t kProgress = 3;  // points: another instant of the same motion led on
    if (path.points.size() >= kProgress) continue;
    if (++crossings > kMostCrossings || !cross_grazing(follower, value, heading, orbit)) break;
    known = false;
  }
  if (follower.branch_.status == Status::success && follower.further_ > 0)
    look_further(follower, *problem, points, [](double) { return std::vector<Vector>{}; });
}

/// Families with a condition: from value to value.
void walk_events(Follower& follower, const PeriodicSolution& first, double from, bool resumed) {
  const BranchOptions& options = follower.options_;
  Branch& branch = follower.branch_;
  EventWalk walk(follower.build_, follower.stop_);
  const double way = options.to - options.from;
  const double largest = (options.step > 0 ? options.step : 0.01 * std::abs(way)) * (way > 0 ? 1 : -1);
  double value = from, step = largest;
  branch.last = first;
  if (!resumed && !follower.add(first, value, 0)) return;
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
    walk.locate(options, branch.last, value, next, bifurcation_tests(branch.last), bifurcation_tests(solution),
                follower);
    value = next;
    step = std::abs(step) < std::abs(largest) ? 2 * step : step;
    if (!follower.add(solution, next, 0)) {
      branch.status = Status::interrupted;
      branch.message = "stopped on request";
      return;
    }
  }
}

}  // namespace

Branch follow_branch(const BranchBuilder& build, const BranchOptions& options, const BranchHooks& branch_hooks,
                     const BranchResume* resume, int further) {
  Branch branch;
  double from = options.from, heading = 0;
  if (resume) {
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
  Follower follower(build, options, branch_hooks, further, branch);
  const bool events = first.method == to_string(PeriodicMethod::event);
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
