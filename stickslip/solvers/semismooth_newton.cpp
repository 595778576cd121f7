// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/semismooth_newton.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>

#include "stickslip/common/deadline.hpp"
#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

void SemismoothNewtonOptions::validate() const {
  if (!(tolerance > 0)) throw InputError(fmt::format("semismooth_newton: tolerance = {} must be > 0", tolerance));
  if (max_iterations < 1)
    throw InputError(fmt::format("semismooth_newton: max_iterations = {} must be >= 1", max_iterations));
  if (memory < 1) throw InputError(fmt::format("semismooth_newton: memory = {} must be >= 1", memory));
}

namespace {
struct NaturalMap {
  const DualProblem& problem;
  const DenseMatrix D;
  const Vector rho;
  Vector u;

  void evaluate(const Vector& r, Vector& F) {
    u.noalias() = D * r;
    u += problem.b;
    Index first = 0;
    for (std::size_t k = 0; k < problem.sets.size(); ++k) {
      const Set& set = problem.sets[k];
      const std::size_t n = static_cast<std::size_t>(set.size);
      std::array<double, 3> s, z, p;
      shift(set, {u.data() + first, n}, {s.data(), n});
      for (std::size_t i = 0; i < n; ++i) z[i] = r[first + i] - rho[k] * (u[first + i] + s[i]);
      project(set, {z.data(), n}, {p.data(), n});
      for (std::size_t i = 0; i < n; ++i) F[first + i] = r[first + i] - p[i];
      first += set.size;
    }
  }

  /// u must be that of r.
  void jacobian(const Vector& r, DenseMatrix& V) const {
    V.setIdentity();
    Index first = 0;
    for (std::size_t k = 0; k < problem.sets.size(); ++k) {
      const Set& set = problem.sets[k];
      const Index n = set.size;
      std::array<double, 3> s, z;
      std::array<double, 9> J;
      const std::size_t size = static_cast<std::size_t>(n);
      shift(set, {u.data() + first, size}, {s.data(), size});
      for (Index i = 0; i < n; ++i) z[i] = r[first + i] - rho[k] * (u[first + i] + s[i]);
      projection_jacobian(set, {z.data(), size}, {J.data(), static_cast<std::size_t>(n * n)});
      Eigen::Matrix3d slope = Eigen::Matrix3d::Identity();  // I + s'(u)
      if (is_cone(set.kind)) {
        // s is positively homogeneous in u_T; its gradient by differences is exact on the smooth pieces.
        const double speed = u.segment(first + 1, n - 1).norm();
        for (Index j = 1; j < n && speed > 0; ++j) {
          std::array<double, 3> ahead, s_ahead;
          for (Index i = 0; i < n; ++i) ahead[i] = u[first + i];
          const double delta = 1e-7 * speed;
          ahead[j] += delta;
          shift(set, {ahead.data(), size}, {s_ahead.data(), size});
          slope(0, j) = (s_ahead[0] - s[0]) / delta;
        }
      }
      const Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> jacobian_block(J.data(),
                                                                                                              n, n);
      V.middleRows(first, n) += jacobian_block * (rho[k] * slope.topLeftCorner(n, n) * D.middleRows(first, n));
      V.block(first, first, n, n) -= jacobian_block;
      first += n;
    }
  }
};
}  // namespace

void solve_semismooth_newton(const DualProblem& problem, const SemismoothNewtonOptions& options,
                             InclusionSolution& solution) {
  const Index m = problem.b.size();
  NaturalMap map{problem, to_dense(problem.D), natural_weights(problem), Vector(m)};
  Vector& r = solution.r;
  Vector F(m), trial(m), F_trial(m), direction(m);
  DenseMatrix V(m, m);
  std::deque<double> merits;
  solution.solver = "semismooth_newton";
  solution.status = Status::not_converged;
  solution.history.clear();
  map.evaluate(r, F);
  Vector best = r;
  double best_residual = HUGE_VAL;
  const Deadline deadline(options.max_seconds);
  for (solution.iterations = 0; solution.iterations <= options.max_iterations; ++solution.iterations) {
    const double residual = residuals(problem, r).inclusion;
    solution.history.push_back(residual);
    if (residual < best_residual) {
      best_residual = residual;
      best = r;
    }
    if (residual <= options.tolerance) {
      solution.status = Status::success;
      break;
    }
    if (deadline.passed()) break;
    merits.push_back(F.squaredNorm());
    if (static_cast<int>(merits.size()) > options.memory) merits.pop_front();
    const double reference = *std::max_element(merits.begin(), merits.end());

    map.jacobian(r, V);
    Eigen::PartialPivLU<DenseMatrix> lu(V);
    direction = lu.solve(-F);
    if (!direction.allFinite() || (V * direction + F).norm() > 1e-6 * F.norm()) {
      // Levenberg: V is singular to working precision, the damped least-squares direction always descends.
      DenseMatrix normal = V.transpose() * V;
      normal.diagonal().array() += 1e-10 * normal.diagonal().maxCoeff();
      direction = Eigen::PartialPivLU<DenseMatrix>(normal).solve(-V.transpose() * F);
      if (!direction.allFinite()) break;
    }
    constexpr double kShortestStep = 1e-10,
                     kArmijo = 1e-4;  // of Newton's step; of the decrease that its slope promises
    bool accepted = false;
    for (double t = 1; t > kShortestStep; t *= 0.5) {
      trial = r + t * direction;
      map.evaluate(trial, F_trial);
      if (F_trial.squaredNorm() <= (1 - kArmijo * t) * reference) {
        accepted = true;
        break;
      }
    }
    if (!accepted) break;
    r = trial;
    F = F_trial;
  }
  solution.iterations = std::min(solution.iterations, options.max_iterations);
  r = best;
  Index first = 0;  // the iterates need not be in C, the answer must
  for (const Set& set : problem.sets) {
    const std::size_t n = static_cast<std::size_t>(set.size);
    project(set, {r.data() + first, n}, {r.data() + first, n});
    first += set.size;
  }
  solution.residuals = residuals(problem, r);
  if (solution.residuals.inclusion <= options.tolerance) solution.status = Status::success;
  solution.u.resize(m);
  multiply(problem.D, r, solution.u);
  solution.u += problem.b;
  solution.message = solution.status == Status::success
                         ? ""
                         : fmt::format(
                               "semismooth_newton: stalled at residual {:.3g} after {} iterations; use the default "
                               "solver or raise max_iterations",
                               solution.residuals.inclusion, solution.iterations);
}

InclusionSolution solve_semismooth_newton(const DualProblem& problem, const SemismoothNewtonOptions& options,
                                          const Vector& start) {
  validate(problem);
  options.validate();
  InclusionSolution solution;
  solution.r = start_reactions(problem, start);
  solve_semismooth_newton(problem, options, solution);
  return solution;
}

}  // namespace stickslip
