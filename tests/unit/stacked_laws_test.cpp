// SPDX-License-Identifier: Apache-2.0
// Friction and stops along one direction (solvers/stacked_laws.hpp) against the inclusion itself, on coordinates and
// not.
#include <gtest/gtest.h>

#include <random>

#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip::stacked_laws_test {
namespace {

/// n coordinates with friction each, some with a lower or upper stop at its own velocity, some with both laws at rest.
struct Sample {
  explicit Sample(unsigned seed, Index n, bool turned) : random(seed) {
    DenseMatrix B = DenseMatrix::NullaryExpr(n, n, [&] { return normal(random); });
    DenseMatrix M = B * B.transpose() + 0.1 * DenseMatrix::Identity(n, n) + 0.05 * (B - B.transpose());
    A = SystemMatrix(M);
    problem.A = &A;
    problem.A_version = seed + 1;
    problem.g = Vector::NullaryExpr(n, [&] { return 3 * normal(random); });
    DenseMatrix directions = DenseMatrix::Identity(n, n);
    if (turned) directions += 0.3 * B;
    std::vector<Eigen::Triplet<double>> entries;
    std::vector<double> w;
    const auto add = [&](Index i, double a, double at, Set set) {
      for (Index j = 0; j < n; ++j)
        if (directions(i, j) != 0)
          entries.emplace_back(static_cast<int>(w.size()), static_cast<int>(j), a * directions(i, j));
      w.push_back(a * at);
      problem.sets.push_back(set);
    };
    for (Index i = 0; i < n; ++i) add(i, 1.0, 0.0, interval_set(std::abs(normal(random))));
    for (Index i = 0; i < n; ++i) {
      if (i % 3 == 0) add(i, 1.0, i % 2 ? 0.0 : 0.3 * normal(random), half_line_set());
      if (i % 3 == 1) add(i, -1.0, i % 2 ? 0.0 : 0.3 * normal(random), half_line_set());
    }
    problem.Wt.resize(static_cast<Index>(w.size()), n);
    problem.Wt.setFromTriplets(entries.begin(), entries.end());
    problem.w = Eigen::Map<Vector>(w.data(), static_cast<Index>(w.size()));
  }
  std::mt19937 random;
  std::normal_distribution<double> normal;
  SystemMatrix A;
  PrimalProblem problem;
};

TEST(StackedLaws, FrictionAndStopsAlongOneDirectionHoldTheirLawsToRoundOff) {
  for (unsigned seed = 0; seed < 200; ++seed)
    for (const bool turned : {false, true}) {
      const Sample sample(seed, 2 + seed % 11, turned);
      const InclusionSolution solution = solve(sample.problem);
      ASSERT_EQ(solution.status, Status::success) << seed << " " << turned << " " << solution.message;
      EXPECT_EQ(solution.solver, "stacked_laws");
      const Residuals found = residuals(sample.problem, solution.v, solution.r);
      EXPECT_LE(found.inclusion, 1e-10) << seed << " " << turned;
      EXPECT_LE(found.equation, 1e-12) << seed << " " << turned;
    }
}

TEST(StackedLaws, WhatRestsOnACoordinateHasItsVelocityToTheLastBit) {
  int resting = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Sample sample(seed, 6, false);
    const InclusionSolution solution = solve(sample.problem);
    ASSERT_EQ(solution.status, Status::success);
    for (Index i = 0; i < 6; ++i)
      if (solution.u[i] == 0) {
        EXPECT_EQ(solution.v[i], 0.0);
        ++resting;
      }
  }
  EXPECT_GT(resting, 20);
}

}  // namespace
}  // namespace stickslip::stacked_laws_test
