// SPDX-License-Identifier: Apache-2.0
#include "stickslip/continuation/path_following.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "stickslip/common/error.hpp"
#include "stickslip/common/interruptible_lu.hpp"
#include "stickslip/continuation/arc_length.hpp"

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

/// Scaled coordinates z, and Newton's iterations in them.
class Follower {
 public:
  Follower(PathProblem& problem, const PathOptions& options)
      : problem_(problem), options_(options), n_(problem.size()), scale_(Vector::Ones(n_ + 1)) {
    if (options.x_scale.size() == n_) scale_.head(n_) = options.x_scale;
    scale_[n_] = std::abs(options.to - options.from);
  }

  Vector unscaled(const Vector& z) const { return z.cwiseProduct(scale_); }
  Vector scaled(const Vector& x, double s) const {
    Vector z(n_ + 1);
    z << x, s;
    return z.cwiseQuotient(scale_);
  }

  /// Newton on (F, plane·(z - anchor)) from z. False: it does not converge.
  bool correct(Vector& z, const Vector& plane, const Vector& anchor, PathPoint& point) {
    struct Curve {
      Follower& follower;
      Vector& z;
      const Vector &plane, &anchor;
      PathPoint& point;
      std::optional<double> distance() {
        constexpr double kOnPlane = 1e-12;  // of the scaled unknowns: round-off of the plane's equation
        follower.set(z, point);
        Vector& F = follower.F_;
        if (!follower.problem_.residual(point.x, point.s, F) || !F.allFinite()) return std::nullopt;
        point.residual = F.size() ? F.lpNorm<Eigen::Infinity>() : 0.0;
        const double off = std::abs(plane.dot(z - anchor)) / (kOnPlane * (1 + anchor.norm()));
        const double from_path = point.residual / follower.options_.tolerance;
        return from_path <= 1 && off > 1 ? std::min(off, 2.0) : from_path;
      }
      bool newton_step() {
        if (raised(follower.options_.stop) || !follower.factor(point, plane)) return false;
        Vector& right = follower.right_;
        right.resize(follower.n_ + 1);
        right << -follower.F_, -plane.dot(z - anchor);
        const Vector step = follower.lu_.solve(right).col(0);
        if (!step.allFinite()) return false;
        z += step;
        return true;
      }
    } curve{*this, z, plane, anchor, point};
    constexpr double kWorse = 10;  // a corrector that gets away so fast does not come back
    point.corrections = correct_onto_curve(curve, {.most = options_.max_corrections, .contraction = kWorse});
    return point.corrections >= 0;
  }

  /// Unit tangent at a point of the path, along `before`; sets `sign` to that of det [F_x F_s; tᵀ].
  bool tangent(PathPoint& point, const Vector& before, double& sign) {
    if (!factor(point, before)) return false;
    right_.setZero(n_ + 1);
    right_[n_] = 1;
    Vector t = lu_.solve(right_).col(0);
    if (!t.allFinite() || !(t.norm() > 0)) return false;
    t.normalize();
    if (t.dot(before) < 0) t = -t;
    point.tangent = t;
    if (!factor(point, t)) return false;
    sign = lu_.determinant_sign();
    return true;
  }

  /// The null vector of [F_x F_s] that is orthogonal to the tangent, by inverse iteration. Unscaled.
  Vector across(const PathPoint& point) {
    if (!factor(point, point.tangent)) return {};
    Vector y = Vector::Ones(n_ + 1);
    y -= y.dot(point.tangent) * point.tangent;
    for (int k = 0; k < 4; ++k) {  // of AᵀA: its smallest eigenvalue belongs to the vector that is looked for
      y = lu_.solve(lu_.solve_transposed(y.normalized())).col(0);
      y -= y.dot(point.tangent) * point.tangent;
    }
    return y.normalized().cwiseProduct(scale_);
  }

  bool tests(const PathPoint& point, Vector& values) {
    values.resize(problem_.tests());
    return problem_.tests() == 0 || problem_.test(point.x, point.s, values);
  }

  Index n() const { return n_; }
  double s_scale() const { return scale_[n_]; }

 private:
  void set(const Vector& z, PathPoint& point) const {
    point.x = z.head(n_).cwiseProduct(scale_.head(n_));
    point.s = z[n_] * scale_[n_];
  }
  bool factor(const PathPoint& point, const Vector& last_row) {
    if (!problem_.jacobian(point.x, point.s, by_x_, by_s_)) return false;
    A_.resize(n_ + 1, n_ + 1);
    A_.topLeftCorner(n_, n_) = by_x_;
    A_.col(n_).head(n_) = by_s_;
    for (Index j = 0; j <= n_; ++j) A_.col(j).head(n_) *= scale_[j];
    A_.row(n_) = last_row.transpose();
    if (!A_.allFinite()) return false;
    return lu_.compute(A_, options_.stop);
  }

  PathProblem& problem_;
  const PathOptions& options_;
  Index n_;
  Vector scale_, F_, by_s_, right_;
  DenseMatrix by_x_, A_;
  InterruptibleLu lu_;
};

/// What may change sign along the path.
struct Signs {
  double fold = 0, determinant = 0;
  Vector tests;
};

class Walk {
 public:
  Walk(PathProblem& problem, const PathOptions& options, const PathHook& hook, Path& path)
      : follower_(problem, options), options_(options), hook_(hook), path_(path) {}

  bool begin(const Vector& start);
  void go();

 private:
  bool accept(PathPoint point, const Signs& signs);
  bool try_step(double h, PathPoint& next, Signs& signs);
  bool finish_at(double s, const PathPoint& next);
  bool has_closed(const PathPoint& next, double h) const;
  void locate(const PathPoint& a, const Signs& before, double h, const Signs& after, double s_after);
  void note_turn();
  void found(SpecialPoint special) {
    path_.special.push_back(std::move(special));
    if (options_.on_special) options_.on_special(path_.special.back());
  }
  template <class Value>
  std::optional<PathPoint> bisect(const PathPoint& a, double h, double value_a, Value value);
  bool read_signs(PathPoint& point, const Vector& before, Signs& signs);
  void end(Status status, std::string message) {
    path_.status = status;
    path_.message = std::move(message);
  }

  Follower follower_;
  const PathOptions& options_;
  const PathHook& hook_;
  Path& path_;
  Signs signs_;
};

bool Walk::read_signs(PathPoint& point, const Vector& before, Signs& signs) {
  if (!follower_.tangent(point, before, signs.determinant)) return false;
  signs.fold = point.tangent[follower_.n()];
  return follower_.tests(point, signs.tests);
}

bool Walk::begin(const Vector& start) {
  Vector direction = Vector::Zero(follower_.n() + 1);
  direction[follower_.n()] = (options_.heading != 0 ? options_.heading > 0 : options_.to > options_.from) ? 1 : -1;
  if (!options_.first_along_s)
    direction =
        follower_.scaled(options_.direction.head(follower_.n()), options_.direction[follower_.n()]).normalized();
  Vector z = follower_.scaled(start, options_.from);
  const Vector anchor = z;
  PathPoint first;
  if (!follower_.correct(z, direction, anchor, first) || !read_signs(first, direction, signs_)) {
    end(raised(options_.stop) ? Status::interrupted : Status::not_converged,
        fmt::format("no solution was found at the start of the path, s = {:.9g} (residual {:.2g}); give a better "
                    "start, or begin elsewhere",
                    options_.from, first.residual));
    return false;
  }
  return accept(std::move(first), signs_);
}

bool Walk::accept(PathPoint point, const Signs& signs) {
  signs_ = signs;
  path_.points.push_back(std::move(point));
  note_turn();
  if (hook_ && !hook_(path_.points.back(), static_cast<Index>(path_.points.size()) - 1)) {
    end(Status::interrupted, "stopped on request");
    return false;
  }
  return true;
}

bool Walk::try_step(double h, PathPoint& next, Signs& signs) {
  const PathPoint& last = path_.points.back();
  const Vector anchor = follower_.scaled(last.x, last.s) + h * last.tangent;
  Vector z = anchor;
  return follower_.correct(z, last.tangent, anchor, next) && read_signs(next, last.tangent, signs);
}

bool Walk::finish_at(double s, const PathPoint& next) {
  const PathPoint& last = path_.points.back();
  const double w = next.s == last.s ? 1.0 : (s - last.s) / (next.s - last.s);
  Vector z = follower_.scaled(last.x + w * (next.x - last.x), s);
  Vector plane = Vector::Zero(follower_.n() + 1);
  plane[follower_.n()] = 1;
  const Vector anchor = z;
  PathPoint end_point;
  Signs signs;
  if (!follower_.correct(z, plane, anchor, end_point)) return false;
  end_point.s = s;
  if (!read_signs(end_point, next.tangent, signs)) return false;
  const Vector way = follower_.scaled(end_point.x, s) - follower_.scaled(last.x, last.s);
  locate(last, signs_, way.dot(last.tangent), signs, s);
  accept(std::move(end_point), signs);
  return true;
}

bool Walk::has_closed(const PathPoint& next, double h) const {
  if (path_.points.size() < 4) return false;
  const PathPoint &first = path_.points.front(), &last = path_.points.back();
  const Vector a = follower_.scaled(last.x, last.s), b = follower_.scaled(next.x, next.s),
               c = follower_.scaled(first.x, first.s);
  const double along = (c - a).dot(b - a) / (b - a).squaredNorm();
  return along >= 0 && along <= 1 && (a + along * (b - a) - c).norm() <= 0.2 * h &&
         first.tangent.dot(next.tangent) > 0.8;
}

/// The sign change of value(point) between the point a and the one at h along its tangent.
template <class Value>
std::optional<PathPoint> Walk::bisect(const PathPoint& a, double h, double value_a, Value value) {
  const Vector z0 = follower_.scaled(a.x, a.s);
  double low = 0, high = h;
  PathPoint found;
  while (high - low > options_.location_tolerance * h) {
    const double middle = 0.5 * (low + high);
    const Vector anchor = z0 + middle * a.tangent;
    Vector z = anchor;
    PathPoint point;
    if (!follower_.correct(z, a.tangent, anchor, point)) return std::nullopt;
    Signs signs;
    if (!read_signs(point, a.tangent, signs)) return std::nullopt;
    ((value(signs) > 0) == (value_a > 0) ? low : high) = middle;
    found = std::move(point);
  }
  return found;
}

void Walk::locate(const PathPoint& a, const Signs& before, double h, const Signs& after, double s_after) {
  const Index number = static_cast<Index>(path_.points.size()) - 1;
  const auto add = [&](SpecialPoint::Kind kind, Index test, auto value) {
    if ((value(before) > 0) == (value(after) > 0)) return;
    std::optional<PathPoint> point = bisect(a, h, value(before), value);
    if (!point) return;
    // Between the s of both ends it is a kink, whose tangent on either side may point anywhere, and no turn of the
    // path.
    if (kind == SpecialPoint::Kind::fold && (point->s - a.s) * (point->s - s_after) < 0) return;
    SpecialPoint special{kind, test, number, std::move(*point), {}};
    if (kind == SpecialPoint::Kind::branch_point) special.across = follower_.across(special.point);
    found(std::move(special));
  };
  add(SpecialPoint::Kind::fold, -1, [](const Signs& s) { return s.fold; });
  add(SpecialPoint::Kind::branch_point, -1, [](const Signs& s) { return s.determinant; });
  for (Index k = 0; k < before.tests.size(); ++k)
    if (std::isfinite(before.tests[k]) && std::isfinite(after.tests[k]))
      add(SpecialPoint::Kind::test, k, [k](const Signs& s) { return s.tests[k]; });
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
  const Vector z0 = follower_.scaled(a.x, a.s);
  const double whole = (follower_.scaled(c.x, c.s) - z0).dot(a.tangent);
  PathPoint best = b;
  const auto reach = [&](double way) {
    const Vector anchor = z0 + way * a.tangent;
    Vector z = anchor;
    PathPoint point;
    double determinant = 0;
    if (!follower_.correct(z, a.tangent, anchor, point) || !follower_.tangent(point, a.tangent, determinant))
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
  const double way = follower_.s_scale();
  const double low = std::isnan(options_.lowest) ? std::min(options_.from, options_.to) : options_.lowest;
  const double high = std::isnan(options_.highest) ? std::max(options_.from, options_.to) : options_.highest;
  const double slope = std::abs(path_.points.back().tangent[follower_.n()]);
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
    Signs signs;
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
