// SPDX-License-Identifier: Apache-2.0
#include "stickslip/continuation/path_corrector.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "stickslip/continuation/arc_length.hpp"

namespace stickslip {

PathCorrector::PathCorrector(PathProblem& problem, const PathOptions& options)
    : problem_(problem), options_(options), n_(problem.size()), scale_(Vector::Ones(n_ + 1)) {
  if (options.x_scale.size() == n_) scale_.head(n_) = options.x_scale;
  scale_[n_] = std::abs(options.to - options.from);
}

Vector PathCorrector::scaled(const Vector& x, double s) const {
  Vector z(n_ + 1);
  z << x, s;
  return z.cwiseQuotient(scale_);
}

void PathCorrector::rescale(PathPoint& point) {
  const double size = problem_.magnitude(point.x, point.s);
  if (!std::isfinite(size) || !(size > 0)) return;
  scale_.head(n_) *= size / size_;
  size_ = size;
  point.tangent = tangent_now(point);
  point.size = size;
}

Vector PathCorrector::tangent_now(const PathPoint& point) const {
  Vector t = point.tangent;
  t.head(n_) *= point.size / size_;
  return t.normalized();
}

/// The path in a plane, as correct_onto_curve() asks for it.
struct PathCorrector::Plane {
  PathCorrector& path;
  Vector& z;
  const Vector &plane, &anchor;
  PathPoint& point;

  std::optional<double> distance() {
    constexpr double kOnPlane = 1e-12;  // of the scaled unknowns: round-off of the plane's equation
    point.x = z.head(path.n_).cwiseProduct(path.scale_.head(path.n_));
    point.s = z[path.n_] * path.scale_[path.n_];
    Vector& F = path.F_;
    if (!path.problem_.residual(point.x, point.s, F) || !F.allFinite()) return std::nullopt;
    point.residual = F.size() ? F.lpNorm<Eigen::Infinity>() : 0.0;
    const double off = std::abs(plane.dot(z - anchor)) / (kOnPlane * (1 + anchor.norm()));
    const double from_path = point.residual / path.options_.tolerance;
    return from_path <= 1 && off > 1 ? std::min(off, 2.0) : from_path;
  }
  bool newton_step() {
    if (raised(path.options_.stop) || !path.factor(point, plane)) return false;
    Vector& right = path.right_;
    right.resize(path.n_ + 1);
    right << -path.F_, -plane.dot(z - anchor);
    const Vector step = path.lu_.solve(right).col(0);
    if (!step.allFinite()) return false;
    z += step;
    return true;
  }
};

bool PathCorrector::correct(Vector& z, const Vector& plane, const Vector& anchor, PathPoint& point) {
  Plane curve{*this, z, plane, anchor, point};
  constexpr double kWorse = 10;  // a corrector that gets away so fast does not come back
  point.corrections = correct_onto_curve(curve, {.most = options_.max_corrections, .contraction = kWorse});
  return point.corrections >= 0;
}

bool PathCorrector::tangent(PathPoint& point, const Vector& before, Determinant& determinant) {
  if (!factor(point, before)) return false;
  right_.setZero(n_ + 1);
  right_[n_] = 1;
  Vector t = lu_.solve(right_).col(0);
  if (!t.allFinite() || !(t.norm() > 0)) return false;
  t.normalize();
  if (t.dot(before) < 0) t = -t;
  point.tangent = t;
  point.size = size_;
  if (!factor(point, t)) return false;
  determinant = {lu_.determinant_sign(), lu_.log_determinant() - static_cast<double>(n_) * std::log(size_)};
  return true;
}

bool PathCorrector::read(PathPoint& point, const Vector& before, PathSigns& signs) {
  if (!tangent(point, before, signs.determinant)) return false;
  signs.fold = point.tangent[n_];
  signs.tests.resize(problem_.tests());
  return problem_.tests() == 0 || problem_.test(point.x, point.s, signs.tests);
}

Vector PathCorrector::across(const PathPoint& point) {
  if (!factor(point, point.tangent)) return {};
  Vector y = Vector::Ones(n_ + 1);
  y -= y.dot(point.tangent) * point.tangent;
  for (int k = 0; k < 4; ++k) {  // of AᵀA: its smallest eigenvalue belongs to the vector that is looked for
    y = lu_.solve(lu_.solve_transposed(y.normalized())).col(0);
    y -= y.dot(point.tangent) * point.tangent;
  }
  return y.normalized().cwiseProduct(scale_);
}

bool PathCorrector::factor(const PathPoint& point, const Vector& last_row) {
  if (!problem_.jacobian(point.x, point.s, by_x_, by_s_)) return false;
  A_.resize(n_ + 1, n_ + 1);
  A_.topLeftCorner(n_, n_) = by_x_;
  A_.col(n_).head(n_) = by_s_;
  for (Index j = 0; j <= n_; ++j) A_.col(j).head(n_) *= scale_[j];
  A_.row(n_) = last_row.transpose();
  if (!A_.allFinite()) return false;
  return lu_.compute(A_, options_.stop);
}

}  // namespace stickslip
