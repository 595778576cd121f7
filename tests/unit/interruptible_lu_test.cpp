// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/interruptible_lu.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace stickslip::interruptible_lu_test {
namespace {

/// Numbers between -1 and 1 that are the same everywhere.
DenseMatrix scattered(Index n) {
  DenseMatrix A(n, n);
  double x = 0.3;
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      x = std::fmod(997 * x + 0.1234567, 1.0);
      A(i, j) = 2 * x - 1;
    }
  return A;
}

TEST(InterruptibleLu, SolvesBothWaysOverSeveralPanels) {
  for (const Index n : {1, 2, 63, 64, 65, 200}) {
    const DenseMatrix A = scattered(n);
    InterruptibleLu lu;
    ASSERT_TRUE(lu.compute(A));
    const DenseMatrix b = scattered(n).leftCols(1);
    EXPECT_LT((A * lu.solve(b) - b).norm(), 1e-10) << n;
    EXPECT_LT((A.transpose() * lu.solve_transposed(b) - b).norm(), 1e-10) << n;
    if (n == 2) {
      EXPECT_EQ(lu.determinant_sign(), A(0, 0) * A(1, 1) > A(0, 1) * A(1, 0) ? 1 : -1);
    }
  }
}

TEST(InterruptibleLu, SignOfTheDeterminantTurnsWithTwoRows) {
  DenseMatrix A = scattered(70);
  InterruptibleLu lu;
  ASSERT_TRUE(lu.compute(A));
  const double sign = lu.determinant_sign();
  A.row(3).swap(A.row(66));
  ASSERT_TRUE(lu.compute(A));
  EXPECT_EQ(lu.determinant_sign(), -sign);
}

TEST(InterruptibleLu, ConditionIsEstimated) {
  Vector d = Vector::Ones(100);
  d[40] = 1e-6;
  InterruptibleLu lu;
  ASSERT_TRUE(lu.compute(d.asDiagonal()));
  EXPECT_NEAR(lu.rcond(), 1e-6, 1e-12);
  d[40] = 0;
  EXPECT_FALSE(lu.compute(d.asDiagonal()));
}

TEST(InterruptibleLu, StopsOnRequest) {
  const std::atomic<bool> stop = true;
  InterruptibleLu lu;
  EXPECT_FALSE(lu.compute(scattered(10), &stop));
}

}  // namespace
}  // namespace stickslip::interruptible_lu_test
