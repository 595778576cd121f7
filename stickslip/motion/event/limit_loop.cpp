// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/limit_loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stickslip {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kFar = 0x1p30;      // of the loop's own forces: beyond, a norm is its asymptote to round-off
constexpr int kOctaves = 30;         // around those forces, in which changes of sign are looked for
constexpr double kSameRoot = 1e-9;   // of the root
constexpr int kMostSteps = 200;      // Newton's iteration takes a few; bisection 60 to the last bit
constexpr double kAccepted = 1e-10;  // of the largest limit on the way: where round-off ends the iteration before

/// Not a slope at the kink of a root sqrt(0): any one of the two sides serves.
double usable(double slope) { return std::isfinite(slope) ? slope : 0.0; }

}  // namespace

const Vector& LimitLoop::reactions(const Vector& c) {
  R_ = R0;
  R_.noalias() += R1 * c;
  return R_;
}

LimitLoop::Point LimitLoop::at(FollowingLimits& limits, double c) {
  R_ = R0 + c * R1.col(0);
  dR_ = R1.col(0);
  const Dual f = limits.along(laws[0], R_, dR_);
  return {c, c - f.value, 1 - usable(f.slope)};
}

/// Where the limit without friction, and the signs of the reactions, would place a root.
double LimitLoop::scale(FollowingLimits& limits) const {
  double size = limits.limit(laws[0], R0);
  for (Index i = 0; i < R0.size(); ++i)
    if (limits.names(laws[0], i) && R1(i, 0) != 0) size = std::max(size, std::abs(R0[i] / R1(i, 0)));
  return size;
}

/// A root between two points where F has different signs: Newton's step where it stays inside, else half of the way.
bool LimitLoop::between(FollowingLimits& limits, Point low, Point high, double& root) {
  Point p = std::abs(low.F) < std::abs(high.F) ? low : high;
  for (int step = 0; step < kMostSteps; ++step) {
    if (p.F == 0 || high.c - low.c <= kEpsilon * std::abs(high.c)) break;
    double next = p.slope != 0 ? p.c - p.F / p.slope : low.c;
    if (!(next > low.c && next < high.c)) next = 0.5 * (low.c + high.c);
    if (!(next > low.c && next < high.c)) break;
    const double before = p.c;
    p = at(limits, next);
    if ((p.F < 0) == (low.F < 0)) {
      low = p;
    } else {
      high = p;
    }
    if (std::abs(next - before) <= kEpsilon * next) break;
  }
  root = p.c;
  return true;
}

bool LimitLoop::first(FollowingLimits& limits, double& root) {
  Point p = at(limits, 0);
  if (p.F > 0) limits.limit(laws[0], R0);  // says what is wrong
  for (int step = 0; step < kMostSteps; ++step) {
    root = p.c;
    if (p.F >= 0 || !std::isfinite(p.F)) return p.F == 0;
    if (!(p.slope > 0)) {  // no root, if f is convex
      const Point far = at(limits, kFar * scale(limits));
      return far.F > 0 && far.c > p.c && between(limits, p, far, root);
    }
    const double next = p.c - p.F / p.slope;
    if (!(next > p.c * (1 + kEpsilon))) return true;
    const Point q = at(limits, next);
    if (q.F > 0) return between(limits, p, q, root);  // round-off, or f is not convex
    p = q;
  }
  return false;
}

bool LimitLoop::last(FollowingLimits& limits, double& root) {
  Point p = at(limits, kFar * scale(limits));
  for (int step = 0; step < kMostSteps && p.F < 0 && p.slope < 0; ++step) {
    root = p.c;
    const double next = p.c - p.F / p.slope;
    if (!(next < p.c * (1 - kEpsilon))) return true;
    if (!(next >= 0)) return false;
    const Point q = at(limits, next);
    if (q.F >= 0) return between(limits, q, p, root);
    p = q;
  }
  return false;
}

void LimitLoop::residual(FollowingLimits& limits, const Vector& c) {
  const Index n = c.size();
  reactions(c);
  F_.resize(n);
  f_.resize(n);
  J_.resize(n, n);
  for (Index j = 0; j < n; ++j)
    for (Index k = 0; k < n; ++k) {
      dR_ = R1.col(k);
      const Dual f = limits.along(laws[static_cast<std::size_t>(j)], R_, dR_);
      f_[j] = f.value;
      J_(j, k) = (j == k) - usable(f.slope);
    }
  F_ = c - f_;
}

/// Largest |F_j| beside the largest limit of law j on the way: no unit is compared with another.
double LimitLoop::relative_residual(const Vector& c) {
  double worst = 0;
  for (Index j = 0; j < c.size(); ++j) {
    size_[j] = std::max({size_[j], std::abs(f_[j]), c[j]});
    if (F_[j] != 0) worst = std::max(worst, std::abs(F_[j]) / size_[j]);
  }
  return worst;
}

bool LimitLoop::newton(FollowingLimits& limits, Vector& c) {
  double least = HUGE_VAL;
  size_.setZero(c.size());
  trial_ = c;
  for (int step = 0; step < kMostSteps; ++step) {
    residual(limits, trial_);
    if (!F_.allFinite() || !J_.allFinite()) return false;
    const double error = relative_residual(trial_);
    if (error < least) {
      c = trial_;
      if (error <= kEpsilon) return true;
    } else if (least <= kAccepted) {
      return true;  // round-off
    }
    least = std::min(least, error);
    lu_.compute(J_);
    step_ = lu_.solve(F_);
    if (!step_.allFinite()) return false;
    trial_ -= step_;
    trial_ = trial_.cwiseMax(0.0);
  }
  return false;
}

double LimitLoop::regularity_at(FollowingLimits& limits, const Vector& c) {
  if (laws.empty()) return 1;
  if (laws.size() == 1) return at(limits, c[0]).slope;
  residual(limits, c);
  return J_.determinant();
}

bool LimitLoop::solve(FollowingLimits& limits, Vector& c) {
  const auto n = static_cast<Index>(laws.size());
  regularity_ = 1;
  bool found = true;
  if (n == 1) {
    c.resize(1);
    found = first(limits, c[0]);
  } else if (n > 1) {
    found = c.size() == n && c.allFinite() && newton(limits, c);
    if (!found) {
      c.setZero(n);
      found = newton(limits, c);
    }
    if (!found) {  // from afar, as solve_all() does
      residual(limits, Vector::Zero(n));
      c = kFar * f_;
      found = newton(limits, c) && newton(limits, c);
    }
  }
  if (!found) return false;
  if (n > 0) regularity_ = regularity_at(limits, c);
  return c.size() == 0 || c.minCoeff() >= 0;
}

void LimitLoop::solve_all(FollowingLimits& limits, std::vector<Vector>& roots) {
  const auto n = static_cast<Index>(laws.size());
  roots.clear();
  auto add = [&](const Vector& c) {
    const bool known = std::any_of(roots.begin(), roots.end(), [&](const Vector& root) {
      return ((root - c).array().abs() <= kSameRoot * c.array()).all();
    });
    if (!known) roots.push_back(c);
  };
  if (n == 0) return roots.push_back(Vector());
  if (n > 1) {
    const Vector none = Vector::Zero(n);
    residual(limits, none);
    const Vector far = kFar * f_;
    // Twice: what is found from afar is as exact as the distance allows.
    for (const Vector* start : {&none, &far})
      if (Vector c = *start; newton(limits, c) && newton(limits, c)) add(c);
    return;
  }
  double c = 0;
  if (first(limits, c)) add(Vector::Constant(1, c));
  if (last(limits, c)) add(Vector::Constant(1, c));
  const double size = scale(limits);
  Point before = at(limits, 0);
  for (int octave = -kOctaves; octave <= kOctaves; ++octave) {
    const Point now = at(limits, std::ldexp(size, octave));
    if (before.F * now.F < 0 && between(limits, before, now, c)) add(Vector::Constant(1, c));
    before = now;
  }
}

}  // namespace stickslip
