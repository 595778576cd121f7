// SPDX-License-Identifier: Apache-2.0
#include "stickslip/continuation/path_following.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "stickslip/common/error.hpp"
#include "stickslip/common/interruptible_lu.hpp"
#include "stickslip/continuation/arc_length.hpp"
#include "stickslip/continuation/path_corrector.hpp"

namespace stickslip {

void PathOptions::validate() const {
  if (!std::isfinite(from) || !std::isfinite(to) || from == to)
    throw InputError(fmt::format("continuation from {} to {}: give two different finite numbers", from, to));
  if (!(step >= 0) || step > std::abs(to - from))
    throw InputError(
        fmt::format("continuation step = {} must lie between 0 and |to - from| = {}", step, std::abs(to - from)));
  if (!(smallest_step > 0) || !(largest_step >= smallest_step))
    throw InputError(fmt::format("continuation steps: 0 < smallest_step = {} <= largest_step = {} must hold",
                                 smallest_step, largest_step));
  if (!(tolerance > 0)) throw InputError(fmt::format("continuation tolerance = {} must be > 0", tolerance));
  if (x_scale.size() > 0 && !(x_scale.minCoeff() > 0)) throw InputError("continuation x_scale must be > 0");
}

namespace {

/// A place between two points of the path, nearer to each other than it is to be known.
struct Bracket {
  PathPoint point;
  PathSigns low, high;
};

class Walk {
 public:
  Walk(PathProblem& problem, const PathOptions& options, const PathHook& hook, Path& path)
      : corrector_(problem, options), options_(options), hook_(hook), path_(path) {}

  bool begin(const Vector& start);
  void go();

 private:
  bool accept(PathPoint point, const PathSigns& signs);
  bool try_step(double h, PathPoint& next, PathSigns& signs);
  bool finish_at(double s, const PathPoint& next);
  bool has_closed(const PathPoint& next, double h) const;
  void locate(const PathPoint& a, const PathSigns& before, double h, const PathSigns& after, double s_after);
  void note_turn();
  void found(SpecialPoint special) {
    path_.special.push_back(std::move(special));
    if (options_.on_special) options_.on_special(path_.special.back());
  }
  template <class Same>
  std::optional<Bracket> bisect(const PathPoint& a, const PathSigns& at_a, double h, const PathSigns& at_end,
                                Same same);
  void end(Status status, std::string message) {
    path_.status = status;
    path_.message = std::move(message);
  }

  PathCorrector corrector_;
  const PathOptions& options_;
  const PathHook& hook_;
  Path& path_;
  PathSigns signs_;
};

bool Walk::begin(const Vector& start) {
  Vector direction = Vector::Zero(corrector_.n() + 1);
  direction[corrector_.n()] = (options_.heading != 0 ? options_.heading > 0 : options_.to > options_.from) ? 1 : -1;
  if (!options_.first_along_s)
    direction =
        corrector_.scaled(options_.direction.head(corrector_.n()), options_.direction[corrector_.n()]).normalized();
  Vector z = corrector_.scaled(start, options_.from);
  const Vector anchor = z;
  PathPoint first;
  if (!corrector_.correct(z, direction, anchor, first) || !corrector_.read(first, direction, signs_)) {
    end(raised(options_.stop) ? Status::interrupted : Status::not_converged,
        fmt::format("no solution was found at the start of the path, s = {:.9g} (residual {:.2g}); give a better "
                    "start, or begin elsewhere",
                    options_.from, first.residual));
    return false;
  }
  return accept(std::move(first), signs_);
}

bool Walk::accept(PathPoint point, const PathSigns& signs) {
  signs_ = signs;
  corrector_.rescale(point);
  path_.points.push_back(std::move(point));
  note_turn();
  if (hook_ && !hook_(path_.points.back(), static_cast<Index>(path_.points.size()) - 1)) {
    end(Status::interrupted, "stopped on request");
    return false;
  }
  return true;
}

bool Walk::try_step(double h, PathPoint& next, PathSigns& signs) {
  const PathPoint& last = path_.points.back();
  const Vector anchor = corrector_.scaled(last.x, last.s) + h * last.tangent;
  Vector z = anchor;
  return corrector_.correct(z, last.tangent, anchor, next) && corrector_.read(next, last.tangent, signs);
}

bool Walk::finish_at(double s, const PathPoint& next) {
  const PathPoint& last = path_.points.back();
  const double w = next.s == last.s ? 1.0 : (s - last.s) / (next.s - last.s);
  Vector z = corrector_.scaled(last.x + w * (next.x - last.x), s);
  Vector plane = Vector::Zero(corrector_.n() + 1);
  plane[corrector_.n()] = 1;
  const Vector anchor = z;
  PathPoint end_point;
  PathSigns signs;
  if (!corrector_.correct(z, plane, anchor, end_point)) return false;
  end_point.s = s;
  if (!corrector_.read(end_point, next.tangent, signs)) return false;
  const Vector way = corrector_.scaled(end_point.x, s) - corrector_.scaled(last.x, last.s);
  locate(last, signs_, way.dot(last.tangent), signs, s);
  accept(std::move(end_point), signs);
  return true;
}

bool Walk::has_closed(const PathPoint& next, double h) const {
  if (path_.points.size() < 4) return false;
  const PathPoint &first = path_.points.front(), &last = path_.points.back();
  const Vector a = corrector_.scaled(last.x, last.s), b = corrector_.scaled(next.x, next.s),
               c = corrector_.scaled(first.x, first.s);
  const double along = (c - a).dot(b - a) / (b - a).squaredNorm();
  return along >= 0 && along <= 1 && (a + along * (b - a) - c).norm() <= 0.2 * h &&
         corrector_.tangent_now(first).dot(next.tangent) > 0.8;
}

/// Between the point a and the one at h along its tangent: where what is the `same` as at a ends.
template <class Same>
std::optional<Bracket> Walk::bisect(const PathPoint& a, const PathSigns& at_a, double h, const PathSigns& at_end,
                                    Same same) {
  const Vector z0 = corrector_.scaled(a.x, a.s);
  double low = 0, high = h;
  Bracket found{a, at_a, at_end};
  while (high - low > options_.location_tolerance * h) {
    const double middle = 0.5 * (low + high);
    const Vector anchor = z0 + middle * a.tangent;
    Vector z = anchor;
    PathPoint point;
    PathSigns signs;
    if (!corrector_.correct(z, a.tangent, anchor, point) || !corrector_.read(point, a.tangent, signs))
      return std::nullopt;
    const bool before = same(signs);
    (before ? low : high) = middle;
    (before ? found.low : found.high) = std::move(signs);
    found.point = std::move(point);
  }
  return found;
}

void Walk::locate(const PathPoint& a, const PathSigns& before, double h, const PathSigns& after, double s_after) {
  using Kind = SpecialPoint::Kind;
  const Index number = static_cast<Index>(path_.points.size()) - 1;
  const auto add = [&](Kind kind, Index test, PathPoint point) {
    SpecialPoint special{kind, test, number, std::move(point), {}};
    if (kind == Kind::branch_point) special.across = corrector_.across(special.point);
    found(std::move(special));
  };
  const auto add_root = [&](Kind kind, Index test, auto value) {
    const double first = value(before), last = value(after);
    if (!std::isfinite(first) || !std::isfinite(last) || (first > 0) == (last > 0)) return;
    auto place = bisect(a, before, h, after, [&](const PathSigns& s) { return (value(s) > 0) == (first > 0); });
    if (!place) return;
    // Between the s of both ends it is a kink, whose tangent on either side may point anywhere, and no turn of the
    // path.
    if (kind == Kind::fold && (place->point.s - a.s) * (place->point.s - s_after) < 0) return;
    const double left = std::max(std::abs(value(place->low)), std::abs(value(place->high)));
    if (kind != Kind::fold && !(left <= options_.largest_jump * std::max(std::abs(first), std::abs(last)))) return;
    add(kind, test, std::move(place->point));
  };
  add_root(Kind::fold, -1, [](const PathSigns& s) { return s.fold; });
  const double unit = std::max(before.determinant.log_size, after.determinant.log_size);
  add_root(Kind::branch_point, -1, [unit](const PathSigns& s) { return s.determinant.over(unit); });
  for (Index k = 0; k < before.tests.size(); ++k) {
    if (corrector_.test_kind(k) == TestKind::root) {
      add_root(Kind::test, k, [k](const PathSigns& s) { return s.tests[k]; });
      continue;
    }
    const double count = before.tests[k];
    if (!std::isfinite(count) || !std::isfinite(after.tests[k]) || count == after.tests[k]) continue;
    if (auto place = bisect(a, before, h, after, [&](const PathSigns& s) { return s.tests[k] == count; }))
      add(Kind::test, k, std::move(place->point));
  }
}

/// A fold between kinks: s has turned over the last three points and no tangent told. The farthest s between them, by
/// golden sections.
void Walk::note_turn() {
  const std::size_t n = path_.points.size();
  if (n < 3) return;
  const PathPoint &a = path_.points[n - 3], &b = path_.points[n - 2], &c = path_.points[n - 1];
  if (!((b.s - a.s) * (c.s - b.s) < 0)) return;
  const Index first = static_cast<Index>(n) - 3;
  for (const SpecialPoint& special : path_.special)
    if (special.kind == SpecialPoint::Kind::fold && special.after >= first) return;
  constexpr double kGolden = 0.6180339887498949;
  const double direction = b.s > a.s ? 1 : -1;
  const Vector z0 = corrector_.scaled(a.x, a.s), along = corrector_.tangent_now(a);
  const double whole = (corrector_.scaled(c.x, c.s) - z0).dot(along);
  PathPoint best = b;
  const auto reach = [&](double way) {
    const Vector anchor = z0 + way * along;
    Vector z = anchor;
    PathPoint point;
    Determinant determinant;
    if (!corrector_.correct(z, along, anchor, point) || !corrector_.tangent(point, along, determinant))
      return -HUGE_VAL;
    const double s = direction * point.s;
    if (s > direction * best.s) best = std::move(point);
    return s;
  };
  double low = 0, high = whole;
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double at_left = reach(left), at_right = reach(right);
  while (high - low > options_.location_tolerance * std::abs(whole)) {
    if (at_left > at_right) {
      high = right;
      right = left;
      at_right = at_left;
      at_left = reach(left = high - kGolden * (high - low));
    } else {
      low = left;
      left = right;
      at_left = at_right;
      at_right = reach(right = low + kGolden * (high - low));
    }
  }
  found({SpecialPoint::Kind::fold, -1, first, std::move(best), {}});
}

void Walk::go() {
  const double way = corrector_.s_scale();
  const double low = std::isnan(options_.lowest) ? std::min(options_.from, options_.to) : options_.lowest;
  const double high = std::isnan(options_.highest) ? std::max(options_.from, options_.to) : options_.highest;
  const double slope = std::abs(path_.points.back().tangent[corrector_.n()]);
  const StepRules steps{.easy = options_.easy_corrections, .hard = options_.easy_corrections + 2};
  double h = (options_.step > 0 ? options_.step / way : 0.01) / std::max(slope, 0.1);
  while (true) {
    if (raised(options_.stop)) return end(Status::interrupted, "stopped on request");
    if (static_cast<long>(path_.points.size()) >= options_.max_points)
      return end(Status::not_converged,
                 fmt::format("the path has {} points and is not at its end; raise the number or the step",
                             options_.max_points));
    h = std::min(h, options_.largest_step);
    PathPoint next;
    PathSigns signs;
    const PathPoint& last = path_.points.back();
    const bool solved = try_step(h, next, signs);
    const bool turned = solved && last.tangent.dot(next.tangent) < std::cos(options_.largest_turn);
    if (!solved || (turned && h > 2 * options_.smallest_step)) {
      h = steps.next(h, -1);
      if (h >= options_.smallest_step) continue;
      return end(raised(options_.stop) ? Status::interrupted : Status::not_converged,
                 fmt::format("the path could not be followed beyond s = {:.9g}: no step above {:.2g} of the way "
                             "converges; the model may end there, or a smaller step may help",
                             last.s, options_.smallest_step));
    }
    if (next.s > high || next.s < low) {
      if (finish_at(next.s > high ? high : low, next)) return;
      h *= 0.5;
      if (h < options_.smallest_step)
        return end(Status::not_converged, fmt::format("the end of the path at s = {:.9g} could not be solved", next.s));
      continue;
    }
    locate(last, signs_, h, signs, next.s);
    const bool closed = has_closed(next, h);
    const int corrections = next.corrections;
    if (!accept(std::move(next), signs)) return;
    if (closed) {
      path_.closed = true;
      return;
    }
    if (!turned || corrections > steps.hard) h = steps.next(h, corrections);
  }
}

}  // namespace

bool solve_at(PathProblem& problem, double s, const PathOptions& options, Vector& x) {
  constexpr int kHalvings = 12;
  constexpr double kArmijo = 1e-4;  // share of the decrease that the slope foretells: any will do, but not none
  Vector F, by_s, trial, next_F;
  DenseMatrix by_x;
  InterruptibleLu lu;
  if (!problem.residual(x, s, F)) return false;
  for (int k = 0; k < 10 * options.max_corrections; ++k) {
    if (!(F.lpNorm<Eigen::Infinity>() > options.tolerance)) return true;
    if (raised(options.stop) || !problem.jacobian(x, s, by_x, by_s)) return false;
    if (!lu.compute(by_x, options.stop)) return false;
    const Vector step = lu.solve(F).col(0);
    double length = 1;
    bool found = false;
    for (int j = 0; j < kHalvings && !found; ++j, length *= 0.5) {
      trial = x - length * step;
      found =
          trial.allFinite() && problem.residual(trial, s, next_F) && next_F.norm() < (1 - kArmijo * length) * F.norm();
    }
    if (!found) return false;
    x = trial;
    F = next_F;
  }
  return false;
}

Path follow_path(PathProblem& problem, const Vector& start, const PathOptions& options, const PathHook& hook) {
  options.validate();
  Path path;
  Walk walk(problem, options, hook, path);
  if (walk.begin(start)) walk.go();
  return path;
}

}  // namespace stickslip
