// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/residual_newton.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/decompositions.hpp"

namespace stickslip {

namespace {

constexpr int kStageIterations = 40;

class Newton {
 public:
  Newton(PeriodicEquations& problem, const ResidualNewtonOptions& options, ResidualSolution& solution)
      : problem_(problem), options_(options), solution_(solution) {}

  /// True where max |F| falls below the tolerance of the stage; X is the best point found in any case.
  bool stage(double smoothing, double tolerance, Vector& X) {
    if (!problem_.linearize(X, smoothing, F_)) return false;
    for (int k = 0; k < kStageIterations; ++k) {
      const double size = F_.lpNorm<Eigen::Infinity>();
      solution_.history.push_back(size);
      if (size <= tolerance) return true;
      if (out_of_budget()) return false;
      ++solution_.iterations;
      if (!newton_step(smoothing, X) && !levenberg_step(smoothing, X)) return false;
      if (!problem_.linearize(X, smoothing, F_)) return false;
    }
    return F_.lpNorm<Eigen::Infinity>() <= tolerance;
  }

  bool out_of_budget() const { return raised(options_.stop) || solution_.iterations >= options_.max_iterations; }

  void finish(const Vector& X) {
    solution_.X = X;
    if (!problem_.linearize(X, 0, F_)) return;
    solution_.residual = F_.lpNorm<Eigen::Infinity>();
    solution_.condition = problem_.condition();
  }

 private:
  bool descend(const Vector& step, double smoothing, Vector& X, int halvings) {
    const double before = F_.norm();
    double length = 1;
    for (int k = 0; k <= halvings; ++k, length *= 0.5) {
      trial_ = X + length * step;
      if (!trial_.allFinite() || !problem_.residual(trial_, smoothing, next_)) continue;
      if (next_.norm() < (1 - 1e-3 * length) * before) {
        X = trial_;
        return true;
      }
    }
    return false;
  }

  bool newton_step(double smoothing, Vector& X) {
    return problem_.newton_step(F_, step_) && descend(step_, smoothing, X, 10);
  }

  bool levenberg_step(double smoothing, Vector& X) {
    for (double damping = 1e-8; damping < 10; damping *= 30)
      if (problem_.damped_step(F_, damping, step_) && descend(step_, smoothing, X, 2)) return true;
    return false;
  }

  PeriodicEquations& problem_;
  const ResidualNewtonOptions& options_;
  ResidualSolution& solution_;
  Vector F_, next_, trial_, step_;
};

/// From large to small ε. True: the law itself is solved.
bool follow_homotopy(Newton& newton, const ResidualNewtonOptions& options, Vector& X) {
  constexpr double kFirst = 0.3, kTryLaw = 1e-3, kLast = 1e-9;
  double smoothing = kFirst, factor = 1.0 / 3;
  while (!newton.stage(smoothing, 1e-3, X)) {  // a rounder law is easier
    if (smoothing > 30 || newton.out_of_budget()) return false;
    smoothing *= 4;
  }
  Vector trial = X;
  while (smoothing > kLast && !newton.out_of_budget()) {
    if (smoothing <= kTryLaw) {
      trial = X;
      if (newton.stage(0, options.tolerance, trial)) {
        X = trial;
        return true;
      }
    }
    const double next = smoothing * factor;
    trial = X;
    if (newton.stage(next, std::min(1e-3, 0.1 * next), trial)) {
      X = trial;
      smoothing = next;
      factor = std::max(0.3 * factor, 0.1);
    } else {
      factor = std::sqrt(factor);
      if (factor > 0.97) return false;
    }
  }
  trial = X;
  if (!newton.stage(0, options.tolerance, trial)) return false;
  X = trial;
  return true;
}

}  // namespace

ResidualSolution solve_residual(PeriodicEquations& problem, const Vector& start, const ResidualNewtonOptions& options) {
  ResidualSolution solution;
  problem.set_stop(options.stop);
  Newton newton(problem, options, solution);
  Vector X = start;
  bool found = !options.homotopy && newton.stage(0, options.tolerance, X);
  if (!found && !newton.out_of_budget()) {
    X = start;
    found = follow_homotopy(newton, options, X);
  }
  newton.finish(X);
  solution.status = found ? Status::success : raised(options.stop) ? Status::interrupted : Status::not_converged;
  if (solution.status == Status::not_converged)
    solution.message = fmt::format(
        "Newton's iteration ended after {} steps with a residual of {:.2g}; try other {}, start = \"run\", or "
        "method = \"event\"",
        solution.iterations, solution.residual, problem.resolution());
  return solution;
}

}  // namespace stickslip
