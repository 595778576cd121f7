// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/touching_orbit.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/common/decompositions.hpp"

namespace stickslip {

namespace {

class Touching {
 public:
  Touching(EventPath& path, double way) : path_(path), way_(way) {}

  /// One blow more than at the motion before; sets its impulse.
  bool begin(double before, double beyond) {
    const Vector x = Vector::Zero(path_.size());
    std::vector<double> impulses;
    if (!path_.residual_with_blows(x, before, F_, impulses)) return false;
    blows_ = impulses.size() + 1;
    if (!path_.residual_with_blows(x, beyond, F_, impulses) || impulses.size() != blows_) return false;
    impulse_ = *std::min_element(impulses.begin(), impulses.end());
    return impulse_ > 0;
  }

  /// y = (x, s over the way).
  bool evaluate(const Vector& y, Vector& G) {
    std::vector<double> impulses;
    const Index n = path_.size();
    if (!path_.residual_with_blows(y.head(n), y[n] * way_, F_, impulses) || impulses.size() != blows_) return false;
    const double p = *std::min_element(impulses.begin(), impulses.end());
    G.resize(n + 1);
    G << F_, p * p / (impulse_ * impulse_) - 1;
    return G.allFinite();
  }

  bool slopes(const Vector& y, DenseMatrix& J) {
    constexpr double kStep = 1e-7;
    Vector plus, minus;
    J.resize(y.size(), y.size());
    for (Index k = 0; k < y.size(); ++k) {
      Vector moved = y;
      moved[k] += kStep;
      if (!evaluate(moved, plus)) return false;
      moved[k] -= 2 * kStep;
      if (!evaluate(moved, minus)) return false;
      J.col(k) = (plus - minus) / (2 * kStep);
    }
    return true;
  }

 private:
  EventPath& path_;
  double way_, impulse_ = 0;
  std::size_t blows_ = 0;
  Vector F_;
};

}  // namespace

std::optional<TouchingOrbit> solve_touching_orbit(EventPath& path, double value, double beyond, StopRequest stop) {
  constexpr int kMost = 40;
  constexpr double kSolved = 1e-9, kShortest = 1e-4;
  const Index n = path.size();
  const double way = std::abs(beyond - value);
  Touching problem(path, way);
  Vector y = Vector::Zero(n + 1), G, next_G;
  y[n] = beyond / way;
  if (!problem.begin(value, beyond) || !problem.evaluate(y, G)) return std::nullopt;
  DenseMatrix J;
  for (int k = 0; k < kMost && G.lpNorm<Eigen::Infinity>() > kSolved; ++k) {
    if (raised(stop) || !problem.slopes(y, J)) return std::nullopt;
    const Vector step = J.completeOrthogonalDecomposition().solve(-G);
    if (!step.allFinite()) return std::nullopt;
    bool better = false;
    for (double length = 1; length > kShortest && !better; length *= 0.5) {
      const Vector trial = y + length * step;
      better = problem.evaluate(trial, next_G) && next_G.norm() < (1 - 1e-3 * length) * G.norm();
      if (better) y = trial, G = next_G;
    }
    if (!better) return std::nullopt;
  }
  if (!(G.lpNorm<Eigen::Infinity>() <= kSolved)) return std::nullopt;
  return TouchingOrbit{y.head(n), y[n] * way};
}

}  // namespace stickslip
