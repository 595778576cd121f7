// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/least_squares.hpp"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/common/words.hpp"

namespace stickslip {

namespace {

constexpr Words<LeastSquaresOutcome, 6> kOutcomes{
    "outcome", {"solved", "minimum", "no descent", "iteration limit", "undefined at the start", "stopped"}};

constexpr double kEpsilon = 2.2e-16;
constexpr double kAccepted = 1e-4;   ///< actual over predicted reduction from which on a step is taken
constexpr double kPoor = 0.25;       ///< below: the region shrinks
constexpr double kGood = 0.75;       ///< above: it grows
constexpr double kRadiusFit = 1e-3;  ///< ‖D p‖ - Δ over Δ that is good enough

/// argmin ‖A y + F‖² + λ ‖y‖², ‖y‖ <= radius, from the singular values of A.
Vector regularised_step(const DenseMatrix& A, const Vector& F, double radius) {
  const Eigen::BDCSVD<DenseMatrix> svd(A, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Vector& sigma = svd.singularValues();
  const Vector c = svd.matrixU().transpose() * F;
  const double least = sigma.size() > 0 ? sigma[0] * kEpsilon * static_cast<double>(std::max(A.rows(), A.cols())) : 0;
  Index rank = 0;
  while (rank < sigma.size() && sigma[rank] > least) ++rank;
  const auto s = sigma.head(rank).array();
  double lambda = 0;
  Vector y(rank);
  constexpr int kMostRefinements = 60;
  for (int k = 0; k < kMostRefinements; ++k) {
    y = -(s * c.head(rank).array()) / (s.square() + lambda);
    const double length = y.norm();
    if (length <= (1 + kRadiusFit) * radius) break;
    // Newton's method on 1/‖y(λ)‖ = 1/Δ, monotone from the left
    const double slope = (y.array().square() / (s.square() + lambda)).sum();
    lambda += length * length / slope * (length - radius) / radius;
  }
  return svd.matrixV().leftCols(rank) * y;
}

double length(const Vector& D, const Vector& p) { return D.cwiseProduct(p).norm(); }

}  // namespace

void LeastSquaresOptions::validate() const {
  if (max_iterations < 1) throw InputError(fmt::format("max_iterations = {} must be >= 1", max_iterations));
  if (!(step_tolerance > 0)) throw InputError(fmt::format("step_tolerance = {} must be > 0", step_tolerance));
  if (!(reduction_tolerance >= 0))
    throw InputError(fmt::format("reduction_tolerance = {} must be >= 0", reduction_tolerance));
  if (!(first_radius > 0)) throw InputError(fmt::format("first_radius = {} must be > 0", first_radius));
}

std::string_view to_string(LeastSquaresOutcome outcome) { return kOutcomes.of(outcome); }

Vector trust_region_step(const DenseMatrix& J, const Vector& F, const Vector& D, double radius, const Vector& low,
                         const Vector& high) {
  const Index n = J.cols();
  Vector p = Vector::Zero(n), rest = F;
  std::vector<Index> free;
  for (Index j = 0; j < n; ++j)
    if (D[j] > 0) free.push_back(j);
  while (!free.empty()) {
    DenseMatrix A(J.rows(), static_cast<Index>(free.size()));
    for (std::size_t k = 0; k < free.size(); ++k) A.col(static_cast<Index>(k)) = J.col(free[k]) / D[free[k]];
    const Vector y = regularised_step(A, rest, radius);
    std::vector<Index> inside;
    for (std::size_t k = 0; k < free.size(); ++k) {
      const Index j = free[k];
      p[j] = y[static_cast<Index>(k)] / D[j];
      if (p[j] >= low[j] && p[j] <= high[j]) {
        inside.push_back(j);
        continue;
      }
      p[j] = std::clamp(p[j], low[j], high[j]);
      rest += J.col(j) * p[j];
    }
    if (inside.size() == free.size()) break;
    free = std::move(inside);
  }
  return p;
}

LeastSquaresSolution solve_least_squares(const LeastSquaresProblem& problem, const Vector& start,
                                         const LeastSquaresOptions& options) {
  options.validate();
  LeastSquaresSolution now;
  now.x = start;
  const auto ends = [&](LeastSquaresOutcome outcome) {
    now.outcome = outcome;
    return now;
  };
  ++now.evaluations;
  if (!problem.value(now.x, now.F) || !now.F.allFinite() || !problem.slope(now.x, now.F, now.J))
    return ends(LeastSquaresOutcome::undefined);
  const Index n = problem.low.size();
  const bool given = problem.metric.size() > 0;
  const auto metric = [&](const DenseMatrix& J) {
    const Vector norms = J.colwise().norm();
    return problem.share.size() > 0 ? Vector(norms.cwiseProduct(problem.share)) : norms;
  };
  Vector D = given ? problem.metric : metric(now.J), trial_F;
  const double extent = length(D, now.x.head(n));
  double radius = options.first_radius * (extent > 0 ? extent : now.F.norm());
  while (true) {
    if (problem.taken) problem.taken(now.x, now.F);
    if (problem.solved && problem.solved(now.x, now.F)) return ends(LeastSquaresOutcome::solved);
    if (now.iterations >= options.max_iterations) return ends(LeastSquaresOutcome::iterations);
    const double before = now.F.squaredNorm();
    bool accepted = false, first = true;
    Vector low = problem.low - now.x.head(n), high = problem.high - now.x.head(n);
    if (problem.longest) {
      const Vector most = problem.longest(now.x);
      low = low.cwiseMax(-most);
      high = high.cwiseMin(most);
    }
    while (!accepted) {
      const Vector x = now.x.head(n);
      const Vector p = trust_region_step(now.J, now.F, D, radius, low, high);
      const double predicted = before - (now.F + now.J * p).squaredNorm(), size = length(D, p);
      const bool short_step = size <= options.step_tolerance * length(D, x);
      if (predicted <= options.reduction_tolerance * before || (short_step && first))
        return ends(LeastSquaresOutcome::minimum);
      if (short_step || radius == 0) return ends(LeastSquaresOutcome::no_descent);
      if (problem.stop && problem.stop()) return ends(LeastSquaresOutcome::stopped);
      first = false;
      Vector trial = problem.moved ? problem.moved(now.x, p) : Vector(now.x + p);
      ++now.evaluations;
      bool defined = problem.value(trial, trial_F) && trial_F.allFinite();
      if (!defined) trial_F.resize(0);
      if (problem.better && problem.better(trial, trial_F)) defined = trial_F.allFinite();
      const double ratio = defined ? (before - trial_F.squaredNorm()) / predicted : -1;
      accepted = ratio >= kAccepted;
      if (ratio < kPoor) {
        radius = (ratio < 0 ? 0.1 : 0.5) * std::min(radius, size);
      } else if (ratio > kGood) {
        radius = std::max(radius, 2 * size);
      }
      if (accepted) {
        now.x = trial;
        now.F = trial_F;
      }
    }
    ++now.iterations;
    if (!problem.slope(now.x, now.F, now.J)) return ends(LeastSquaresOutcome::no_descent);
    if (!given) D = D.cwiseMax(metric(now.J));
  }
}

}  // namespace stickslip
