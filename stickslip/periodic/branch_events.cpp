// SPDX-License-Identifier: Apache-2.0
// Branches of event orbits: follow_events() and walk_events() of branch_follower.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/periodic/branch_follower.hpp"
#include "stickslip/periodic/event_path.hpp"
#include "stickslip/periodic/orbit_scales.hpp"
#include "stickslip/periodic/touching_orbit.hpp"

namespace stickslip {

namespace {

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
        problem.initial.z = spring_lengths(*parts.system, start->r[0]);
        problem.initial.modes.clear();
      }
      problem.options.method = PeriodicMethod::event;
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
              const Vector& after, BranchFollower& follower) {
    for (Index k = 0; k < before.size(); ++k) {
      const bool count = bifurcation_test_kind(k) == TestKind::count;
      const auto same = [&](double value) { return count ? value == before[k] : (value > 0) == (before[k] > 0); };
      if (!std::isfinite(before[k]) || !std::isfinite(after[k]) || same(after[k])) continue;
      double low = from, high = to, at_low = before[k], at_high = after[k];
      PeriodicSolution start = a, middle;
      std::string message;
      bool located = true;
      while (located && std::abs(high - low) > kBranchLocation * std::abs(options.to - options.from)) {
        const double value = 0.5 * (low + high);
        located = solve(value, &start.orbit, middle, message);
        if (!located) break;
        const double test = bifurcation_tests(middle)[k];
        if (same(test)) {
          low = value, at_low = test, start = middle;
        } else {
          high = value, at_high = test;
        }
      }
      // A jump is no root (path_following.hpp).
      const double left = std::max(std::abs(at_low), std::abs(at_high)),
                   size = std::max(std::abs(before[k]), std::abs(after[k]));
      if (located && (count || left <= PathOptions{}.largest_jump * size))
        follower.add({std::string(bifurcation_name(k)), 0.5 * (low + high), 0});
    }
  }

 private:
  const BranchBuilder& build_;
  StopRequest stop_;
};

/// Of the extremes of two motions, over the size of the second.
double distance(const Orbit& a, const Orbit& b) {
  const double size = (b.maximum - b.minimum).maxCoeff();
  return std::max((a.maximum - b.maximum).cwiseAbs().maxCoeff(), (a.minimum - b.minimum).cwiseAbs().maxCoeff()) /
         std::max(size, std::numeric_limits<double>::min());
}

/// Where motions with the touches of `orbit`, known at `value`, end before `beyond`.
double grazing_between(const BranchFollower& follower, EventWalk& walk, Orbit orbit, double value, double beyond) {
  const std::ptrdiff_t touches = impacts(orbit);
  PeriodicSolution middle;
  std::string message;
  while (std::abs(beyond - value) > kBranchLocation * follower.way() && !raised(follower.stop_)) {
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

/// A contact comes to less than a thousandth of the motion's size, and leaves again without a blow.
bool nearly_touches(const Orbit& orbit) {
  constexpr double kNearly = 1e-3, kSameTime = 1e-9;  // of the size, and of the period
  const double size = (orbit.maximum - orbit.minimum).maxCoeff();
  const auto struck = [&](double t, Index law) {
    return std::any_of(orbit.events.begin(), orbit.events.end(), [&](const Event& event) {
      return event.law == law && event.kind == EventKind::impact && std::abs(event.t - t) <= kSameTime * orbit.period;
    });
  };
  for (std::size_t j = 1; j + 1 < orbit.gap.size(); ++j)
    for (Index k = 0; k < orbit.gap[j].size(); ++k) {
      const double gap = orbit.gap[j][k];
      const bool turns = orbit.gap[j - 1][k] >= gap && orbit.gap[j + 1][k] >= gap;
      const bool open = orbit.modes[j][static_cast<std::size_t>(k)] == Mode::open;
      if (open && turns && gap < kNearly * size && !struck(orbit.t[j], k)) return true;
    }
  return false;
}

/// All rows moved away from zero by a part of themselves.
Orbit larger(const Orbit& orbit, double by) {
  Orbit grown = orbit;
  for (std::size_t k = 0; k < grown.q.size(); ++k) {
    grown.q[k] *= 1 + by;
    grown.v[k] *= 1 + by;
  }
  return grown;
}

constexpr double kSquareRoot = 10,
                 kNear = 0.2;  // of the motion's size: it changes with the root of the way, and is connected

/// With one blow more, on either side of the place where the motion of `orbit` begins to touch.
bool begin_to_touch(BranchFollower& follower, EventWalk& walk, double& value, double& heading, Orbit& orbit) {
  EventPath path(follower.build_, follower.stop_, follower.way(), orbit, value);
  if (!path.usable()) return false;
  for (const double part : {1e-4, 1e-3, 1e-2}) {  // of the way
    const double beyond = value + heading * part * follower.way();
    const std::optional<TouchingOrbit> touching = solve_touching_orbit(path, value, beyond, follower.stop_);
    if (!touching || touching->s < follower.lowest() || touching->s > follower.highest()) continue;
    const PeriodicSolution& solution = path.solution(touching->x, touching->s);
    if (solution.status != Status::success ||
        distance(solution.orbit, orbit) > std::min(kNear, kSquareRoot * std::sqrt(part)))
      continue;
    const double grazing = grazing_between(follower, walk, orbit, value, beyond);
    follower.add({"grazing", grazing, 0});
    value = touching->s;
    heading = value > grazing ? 1 : -1;
    orbit = solution.orbit;
    return true;
  }
  return false;
}

/// A contact that begins to touch makes the derivative of the motion infinite on one side (grazing), and no path goes
/// through. The motion beyond has another sequence of phases: with one blow more (touching_orbit.hpp), else what is
/// found a little further on, or a little before with a larger motion, because the branch may turn back there. False:
/// none was found next to it. Sets value, heading and orbit.
bool cross_grazing(BranchFollower& follower, EventWalk& walk, double& value, double& heading, Orbit& orbit) {
  if (begin_to_touch(follower, walk, value, heading, orbit)) return true;
  for (const bool back : {false, true})
    for (const double part : {1e-4, 1e-3, 3e-3, 1e-2}) {  // of the way
      const double direction = back ? -heading : heading, next = value + direction * part * follower.way();
      if (next < follower.lowest() || next > follower.highest() || raised(follower.stop_)) continue;
      const std::vector<double> growths =
          back ? std::vector{0.3 * part, part, 3 * part, 10 * part, 0.1} : std::vector{0.0};
      PeriodicSolution beyond;
      std::string message;
      bool found = false, other = false;
      for (std::size_t k = 0; k < growths.size() && !found; ++k) {
        const Orbit guess = larger(orbit, growths[k]);
        if (!walk.solve(next, &guess, beyond, message)) continue;
        other = impacts(beyond.orbit) != impacts(orbit);
        found = (other || !back) &&  // back: not the branch that it came on
                distance(beyond.orbit, orbit) <= std::min(kNear, kSquareRoot * std::sqrt(part));
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

/// No motion is next to that of `orbit`, where the branch ends. Told where it is, what runs beyond lead to, and what
/// the model says to values beyond.
void end_branch(BranchFollower& follower, EventWalk& walk, double value, double heading, const Orbit& orbit,
                const std::string& reason) {
  constexpr double kBeyond = 1e-2;  // of the way
  if (raised(follower.stop_)) return;
  const std::string& name = follower.options_.parameter;
  std::string where = fmt::format(
      "the branch ends at {} = {:.9g}: no periodic motion was found next to the last one, on either side", name, value);
  if (nearly_touches(orbit))
    where += "; a contact is grazed there, and where grazing leaves no motion nearby the branch has an end";
  const double next = std::clamp(value + heading * kBeyond * follower.way(), follower.lowest(), follower.highest());
  PeriodicSolution beyond;
  std::string message;
  if (walk.solve(next, &orbit, beyond, message) && distance(beyond.orbit, orbit) > kBeyond)
    where += fmt::format(
        "; runs lead to another motion, with {} impacts per period at {} = {:.9g}: begin a branch there with start = "
        "\"run\"",
        impacts(beyond.orbit), name, next);
  if (!reason.empty()) where += fmt::format("; the model says: {}", reason);
  follower.end(Status::not_converged, where);
}

}  // namespace

/// Where a path cannot go on because the motion at its instant changes, another instant is taken.
void follow_events(BranchFollower& follower, const PeriodicSolution& first, double from, double heading, bool resumed) {
  Orbit orbit = first.orbit;
  double value = from;
  if (heading == 0) heading = follower.options_.to > from ? 1 : -1;
  int crossings = 0;
  std::unique_ptr<EventPath> problem;
  std::vector<PathPoint> points;
  for (bool known = resumed;;) {
    problem = std::make_unique<EventPath>(follower.build_, follower.stop_, follower.way(), orbit, value);
    if (!problem->usable() &&
        !at_rest(orbit)) {  // laws hold everything: they leave no state to choose, whatever moves them
      EventWalk walk(follower.build_, follower.stop_);
      PeriodicSolution held;
      std::string message;
      if (walk.solve(value, &orbit, held, message)) return walk_events(follower, held, value, known);
    }
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
    EventWalk walk(follower.build_, follower.stop_);
    if (++crossings > kMostCrossings || !cross_grazing(follower, walk, value, heading, orbit)) {
      end_branch(follower, walk, value, heading, orbit, problem->message);
      break;
    }
    known = false;
  }
  if (follower.branch_.status == Status::success && follower.further_ > 0)
    look_further(follower, *problem, points, [](double) { return std::vector<Vector>{}; });
}

/// Families with a condition: from value to value.
void walk_events(BranchFollower& follower, const PeriodicSolution& first, double from, bool resumed) {
  const BranchOptions& options = follower.options_;
  Branch& branch = follower.branch_;
  EventWalk walk(follower.build_, follower.stop_);
  const double way = options.to - options.from;
  const double largest = (options.step != 0 ? std::abs(options.step) : 0.01 * std::abs(way)) * (way > 0 ? 1 : -1);
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

}  // namespace stickslip
