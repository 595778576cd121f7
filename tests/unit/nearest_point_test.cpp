// SPDX-License-Identifier: Apache-2.0
// The nearest point of a linear system within bounds, by the conditions that make it so.
#include "stickslip/common/nearest_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "stickslip/common/decompositions.hpp"

namespace stickslip::nearest_point_test {
namespace {

TEST(NearestPoint, WithoutBoundsIsTheShortest) {
  const DenseMatrix A{{1, 2, 2}};
  const Vector free = Vector::Constant(3, HUGE_VAL);
  const auto y = nearest_point(A, Vector{{9}}, Vector::Ones(3), -free, free);
  ASSERT_TRUE(y);
  EXPECT_LT((*y - Vector{{1, 2, 2}}).norm(), 1e-14);
}

TEST(NearestPoint, HoldsItsConditionsOnRandomProblemsInAnyUnits) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> number(-1, 1);
  for (int trial = 0; trial < 300; ++trial) {
    const Index m = 1 + trial % 3, n = 2 + trial % 7 + m;
    DenseMatrix A(m, n);
    Vector inside(n), low(n), high(n), D(n);
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < m; ++i) A(i, j) = number(random);
      low[j] = trial % 5 == 0 ? -HUGE_VAL : -std::abs(number(random));
      high[j] = std::abs(number(random));
      inside[j] = 0.9 * (number(random) > 0 ? high[j] : std::max(low[j], -1.0));
      D[j] = std::pow(10, 6 * number(random));
    }
    // y in other units: A, bounds and D scale with it.
    const Vector b = A * inside;
    const auto y = nearest_point(A * D.asDiagonal(), b, D, low.cwiseQuotient(D), high.cwiseQuotient(D));
    ASSERT_TRUE(y) << trial;
    const Vector at = D.cwiseProduct(*y);
    EXPECT_LT((A * at - b).norm(), 1e-11) << trial;
    // Where it is free, D y is a combination of the rows, and elsewhere that combination lies beyond the bound.
    std::vector<Index> free;
    for (Index j = 0; j < n; ++j)
      if (at[j] > low[j] + 1e-9 && at[j] < high[j] - 1e-9) free.push_back(j);
    const DenseMatrix rows = A(Eigen::all, free);
    const Vector gradient = at(free);
    const Vector nu = rows.transpose().completeOrthogonalDecomposition().solve(gradient);
    EXPECT_LT((rows.transpose() * nu - gradient).norm(), 1e-8) << trial;
    if (static_cast<Index>(free.size()) < m) continue;
    const Vector force = A.transpose() * nu;
    for (Index j = 0; j < n; ++j) {
      if (at[j] <= low[j] + 1e-9) {
        EXPECT_LE(force[j], low[j] + 1e-7) << trial;
      }
      if (at[j] >= high[j] - 1e-9) {
        EXPECT_GE(force[j], high[j] - 1e-7) << trial;
      }
    }
  }
}

TEST(NearestPoint, SaysWhereBoundsLeaveNone) {
  const DenseMatrix A{{1, 1}};
  EXPECT_FALSE(nearest_point(A, Vector{{3}}, Vector::Ones(2), Vector::Constant(2, -1), Vector::Constant(2, 1)));
}

}  // namespace
}  // namespace stickslip::nearest_point_test
