// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/solvers/active_set.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

namespace {

constexpr Index kLargest = 300;  // components of the dense problem that a certificate is looked for in

/// May y be other than 0 there, and of which sign? (The set T of residual.hpp.)
bool admits(const Set& set, int component, double y) {
  if (set.kind == SetKind::line) return true;
  return (set.kind == SetKind::half_line || (is_cone(set.kind) && component == 0)) && y > 0;
}

/// The direction with what T forbids removed, as far as that is small.
Vector admissible_part(const std::vector<Set>& sets, const Vector& direction) {
  constexpr double kSmall = 1e-6;
  Vector y = direction;
  const double largest = y.lpNorm<Eigen::Infinity>();
  Index first = 0;
  for (const Set& set : sets)
    for (int c = 0; c < set.size; ++c, ++first)
      if (!admits(set, c, y[first]) || std::abs(y[first]) <= kSmall * largest) y[first] = 0;
  return y;
}

/// The part of y in the null space of the block of D that y pushes on, in units in which its diagonal is 1.
Vector null_space_part(const DenseMatrix& D, const Vector& y) {
  constexpr double kNull = 1e-12;  // of the largest singular value
  std::vector<Index> kept;
  for (Index i = 0; i < y.size(); ++i)
    if (y[i] != 0 && D(i, i) > 0) kept.push_back(i);
  const auto n = static_cast<Index>(kept.size());
  if (n == 0) return y;
  DenseMatrix block(n, n);
  Vector unit(n), part(n);
  for (Index i = 0; i < n; ++i) unit[i] = std::sqrt(D(kept[i], kept[i]));
  for (Index i = 0; i < n; ++i) {
    part[i] = y[kept[i]] * unit[i];
    for (Index j = 0; j < n; ++j) block(i, j) = D(kept[j], kept[i]) / (unit[i] * unit[j]);
  }
  const Eigen::BDCSVD<DenseMatrix> svd(block, Eigen::ComputeFullV);
  Vector inside = svd.matrixV().transpose() * part;
  for (Index k = 0; k < n; ++k)
    if (svd.singularValues()[k] > kNull * svd.singularValues()[0]) inside[k] = 0;
  part = svd.matrixV() * inside;
  Vector result = y;
  for (Index i = 0; i < n; ++i) result[kept[i]] = part[i] / unit[i];
  return result;
}

/// `direction`, or what is left of it on the null space, if that is a proof.
bool becomes_certificate(const DualProblem& problem, const DenseMatrix& D, const Vector& direction, Vector& y) {
  const double size = direction.lpNorm<Eigen::Infinity>();
  if (!(size > 0) || !std::isfinite(size)) return false;
  y = admissible_part(problem.sets, direction / size);
  if (y.isZero(0)) return false;
  if (certifies_no_solution(problem, y)) return true;
  y = admissible_part(problem.sets, null_space_part(D, y));
  return certifies_no_solution(problem, y);
}

}  // namespace

const char* no_solution_message() {
  return "the laws have no solution: the certificate is a set of reactions that would have to push for ever";
}

void solve_proximal_active_set(const DualProblem& problem, double tolerance, InclusionSolution& solution,
                               StopRequest stop) {
  const Index m = problem.b.size();
  DualProblem proximal = problem;
  const DenseMatrix D = to_dense(problem.D);
  const Vector rho = natural_weights(problem);
  double alpha = 1e-2;
  Vector r = Vector::Zero(m), best = r;
  double best_residual = HUGE_VAL;
  DualActiveSet workspace;
  InclusionSolution inner;
  int iterations = 0;
  solution.status = Status::not_converged;
  for (int outer = 0; outer < 100; ++outer) {
    DenseMatrix shifted = D;
    shifted.diagonal() += alpha * rho.cwiseInverse();
    proximal.D = std::move(shifted);
    proximal.b = problem.b - alpha * r.cwiseQuotient(rho);
    solve_active_set(proximal, {.stop = stop}, workspace, inner);
    iterations += inner.iterations;
    if (inner.status == Status::interrupted) {
      solution.status = inner.status;
      solution.message = inner.message;
      break;
    }
    if (inner.status != Status::success) {
      alpha *= 10;  // an indefinite D (printed digits) needs a larger shift
      if (alpha > 1e3) break;
      continue;
    }
    const Vector step = inner.r - r;
    r = inner.r;
    const double residual = residuals(problem, r).inclusion;
    if (residual < best_residual) {
      best_residual = residual;
      best = r;
    }
    if (residual <= tolerance) {
      solution.status = Status::success;
      break;
    }
    // Without a solution the steps do not tend to zero but to a direction of the recession cone: try it as certificate.
    if (outer > 3 && becomes_certificate(problem, D, step, solution.certificate)) {
      solution.status = Status::no_solution;
      break;
    }
    alpha = std::max(1e-8, alpha * 0.2);
  }
  solution.r = best;
  solution.u.resize(m);
  multiply(problem.D, solution.r, solution.u);
  solution.u += problem.b;
  solution.iterations = iterations;
  solution.residuals = residuals(problem, solution.r);
  solution.solver = "active_set+proximal";
  if (solution.status == Status::success) solution.message.clear();
  if (solution.status == Status::no_solution) solution.message = no_solution_message();
  if (solution.status == Status::not_converged)
    solution.message =
        fmt::format("default solver: residual {:.3g} after {} exchanges; check the data for contradictory constraints",
                    best_residual, iterations);
}

bool find_immovable_law(const BlockSparseMatrix& D, const Vector& b, const std::vector<Set>& sets, Vector& y) {
  for (int k = 0; k < D.blocks(); ++k) {
    const Set& set = sets[static_cast<std::size_t>(k)];
    const double free = b[D.start(k)];
    if (D.diagonal(k)[0] != 0 || free == 0 || !admits(set, 0, -free)) continue;
    bool moved = false;
    for (const auto& entry : D.row(k))
      for (int j = 0; j < D.block_size(entry.column); ++j) moved |= D.values(entry)[j] != 0;
    if (moved) continue;
    y = Vector::Zero(b.size());
    y[D.start(k)] = std::copysign(1.0, -free);
    return true;
  }
  return false;
}

bool find_certificate(const DualProblem& problem, Vector& y) {
  std::vector<Index> kept;
  DualProblem normal;
  Index first = 0;
  for (const Set& set : problem.sets) {
    if (set.kind == SetKind::line || set.kind == SetKind::half_line || is_cone(set.kind)) {
      kept.push_back(first);
      normal.sets.push_back(set.kind == SetKind::line ? line_set() : half_line_set());
    }
    first += set.size;
  }
  const Index m = static_cast<Index>(kept.size());
  if (m == 0 || m > kLargest) return false;
  DenseMatrix D(m, m);
  normal.b.resize(m);
  const DenseMatrix whole = to_dense(problem.D);
  for (Index i = 0; i < m; ++i) {
    normal.b[i] = problem.b[kept[i]];
    for (Index j = 0; j < m; ++j) D(i, j) = whole(kept[i], kept[j]);
  }
  normal.D = std::move(D);
  InclusionSolution found;
  constexpr double kSolved = 1e-12;
  solve_proximal_active_set(normal, kSolved, found);
  if (found.status != Status::no_solution) return false;
  y = Vector::Zero(problem.b.size());
  for (Index i = 0; i < m; ++i) y[kept[i]] = found.certificate[i];
  return certifies_no_solution(problem, y);
}

}  // namespace stickslip
