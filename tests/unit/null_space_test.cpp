// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/null_space.hpp"

#include <gtest/gtest.h>

#include <random>

#include "stickslip/common/least_norm.hpp"

namespace stickslip::null_space_test {
namespace {

DenseMatrix random_matrix(Index rows, Index cols, std::mt19937& engine) {
  std::normal_distribution<double> normal;
  DenseMatrix A(rows, cols);
  for (Index i = 0; i < A.size(); ++i) A.data()[i] = normal(engine);
  return A;
}

// Products of matrices whose condition is below 1e4 here: 1e-16 · 1e4 · size.
constexpr double kRoundoff = 1e-10;

void expect_decomposition(const DenseMatrix& A, const NullSpace& found, int rank) {
  const Index m = A.rows(), n = A.cols();
  const double size = std::max(1.0, A.norm());
  ASSERT_EQ(found.rank, rank);
  ASSERT_EQ(found.V2.rows(), n);
  ASSERT_EQ(found.V2.cols(), n - rank);
  ASSERT_EQ(found.pseudo_inverse.rows(), n);
  ASSERT_EQ(found.pseudo_inverse.cols(), m);
  EXPECT_LT((A * found.V2).norm(), kRoundoff * size);
  EXPECT_LT((found.V2.transpose() * found.V2 - DenseMatrix::Identity(n - rank, n - rank)).norm(), kRoundoff);
  const DenseMatrix& P = found.pseudo_inverse;
  const DenseMatrix AP = A * P, PA = P * A;
  EXPECT_LT((A * P * A - A).norm(), kRoundoff * size);
  EXPECT_LT((P * A * P - P).norm(), kRoundoff * std::max(1.0, P.norm()));
  EXPECT_LT((AP - AP.transpose()).norm(), kRoundoff);
  EXPECT_LT((PA - PA.transpose()).norm(), kRoundoff);
  if (n > 0 && m > 0) {
    EXPECT_LT((PA + found.V2 * found.V2.transpose() - DenseMatrix::Identity(n, n)).norm(), kRoundoff)
        << "the row space and the null space fill the whole";
  }
}

TEST(NullSpace, FreeDirectionsAndMoorePenroseIdentitiesHoldForEveryRankAndShape) {
  std::mt19937 engine(11);
  for (const Index m : {1, 2, 3, 5, 8, 40})
    for (const Index n : {1, 2, 4, 6, 45})
      for (Index rank = 0; rank <= std::min({m, n, Index{34}}); rank += std::max<Index>(1, rank)) {
        const DenseMatrix A = random_matrix(m, rank, engine) * random_matrix(rank, n, engine);
        SCOPED_TRACE(testing::Message() << m << " x " << n << " of rank " << rank);
        expect_decomposition(A, null_space(A), static_cast<int>(rank));
        EXPECT_EQ(dependent_rows(A).size(), static_cast<std::size_t>(m - rank));
      }
}

TEST(NullSpace, WithoutConstraintsEveryDirectionIsFree) {
  const NullSpace found = null_space(DenseMatrix(0, 3));
  EXPECT_EQ(found.rank, 0);
  EXPECT_EQ(found.V2, DenseMatrix::Identity(3, 3));
  EXPECT_EQ(found.pseudo_inverse.cols(), 0);
  const NullSpace zero_rows = null_space(DenseMatrix::Zero(2, 3));
  EXPECT_EQ(zero_rows.rank, 0);
  EXPECT_EQ(zero_rows.V2.cols(), 3);
  EXPECT_EQ(zero_rows.pseudo_inverse, DenseMatrix::Zero(3, 2));
}

TEST(NullSpace, RankDoesNotDependOnTheUnitOfAConstraint) {
  std::mt19937 engine(12);
  DenseMatrix A = random_matrix(3, 5, engine);
  A.row(1) *= 1e-7;  // a constraint written in other units, far from being redundant
  const NullSpace found = null_space(A, {.relative_tolerance = 1e-8});
  EXPECT_EQ(found.rank, 3);
  EXPECT_LT((A * found.pseudo_inverse - DenseMatrix::Identity(3, 3)).norm(), 1e-8);  // condition 1e7
  EXPECT_GT(found.singular_values[2], 0.01);
}

TEST(NullSpace, ShortestSolutionSatisfiesConsistentRedundantConstraints) {
  DenseMatrix A(3, 3);
  A << 1, 0, 0, 0, 1, 1, 2, 0, 0;
  const Vector b = (Vector(3) << 3, 4, 6).finished();
  const Vector x = null_space(A).pseudo_inverse * b;
  EXPECT_LT((x - (Vector(3) << 3, 2, 2).finished()).norm(), 1e-14);
}

TEST(NullSpace, ARowOfRoundoffIsNoConstraint) {
  DenseMatrix A(2, 2);
  A << 1, 0, 1e-17, -3e-17;
  EXPECT_EQ(null_space(A).rank, 1);
  EXPECT_EQ(dependent_rows(A), std::vector<Index>{1});
}

TEST(NullSpace, SingularValuesJustAboveAndBelowTheStatedToleranceAreToldApart) {
  for (const double angle : {1e-7, 1e-13}) {
    DenseMatrix A(2, 2);
    A << 1, 0, std::cos(angle), std::sin(angle);
    const NullSpace found = null_space(A);
    EXPECT_EQ(found.rank, angle > 1e-10 ? 2 : 1);
    // Two unit rows at a small angle: σ = √2 and angle/√2.
    EXPECT_NEAR(found.singular_values[0], std::sqrt(2.0), 1e-12);
    EXPECT_NEAR(found.singular_values[1], angle / std::sqrt(2.0), 1e-15);
    EXPECT_NEAR(found.tolerance, 1e-10 * std::sqrt(2.0), 1e-20);
  }
}

TEST(NullSpace, DependentRowsAreTheLaterOnesAndTheRestSpansTheSame) {
  std::mt19937 engine(13);
  for (int trial = 0; trial < 100; ++trial) {
    const DenseMatrix base = random_matrix(4, 7, engine);
    DenseMatrix A(7, 7);
    A.row(0) = base.row(0);
    A.row(1) = 3 * base.row(0);
    A.row(2) = base.row(1);
    A.row(3) = base.row(0) - 2 * base.row(1);
    A.row(4) = base.row(2);
    A.row(5) = base.row(3);
    A.row(6) = base.row(0) + base.row(1) + base.row(2) - base.row(3);
    EXPECT_EQ(dependent_rows(A), (std::vector<Index>{1, 3, 6}));
  }
}

/// A x = b of full rank; of less, the x that has no part in the null space and leaves a residual outside the range.
TEST(LeastNorm, SolvesRegularMatricesAndGivesTheShortestSolutionOfOthers) {
  std::mt19937 engine(5);
  LeastNorm solver;
  Vector x;
  for (const Index n : {1, 2, 5, 9})
    for (const Index rank : {n, std::max<Index>(1, n - 1)}) {
      const DenseMatrix half = random_matrix(n, rank, engine);
      const DenseMatrix A = half * half.transpose();
      const Vector b = random_matrix(n, 1, engine);
      solver.factor(A);
      solver.solve(b, x);
      const double size = A.norm() * x.norm() + b.norm();
      EXPECT_LT((A.transpose() * (A * x - b)).norm(), kRoundoff * A.norm() * size) << n << " " << rank;
      if (rank == n) {
        EXPECT_LT((A * x - b).norm(), kRoundoff * size) << n;
      }
      if (rank < n) {
        const DenseMatrix N = null_space(A).V2;
        EXPECT_LT((N.transpose() * x).norm(), 100 * kRoundoff * x.norm()) << n;  // A is a square: its condition, too
      }
    }
}

}  // namespace
}  // namespace stickslip::null_space_test
