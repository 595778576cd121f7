// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/banded_matrix.hpp"

#include <gtest/gtest.h>

#include "tests/unit/matrix_samples.hpp"

namespace stickslip::banded_matrix_test {
namespace {

using samples::Engine;

// Diagonally dominant matrices up to n = 60: errors of either elimination stay below n² ε of the solution.
constexpr double kSolve = 1e-12;

TEST(BandedMatrix, SolvesWhatDenseEliminationSolvesForEveryBandwidth) {
  Engine engine(1);
  for (const Index n : {1, 2, 3, 7, 60})
    for (Index lower = 0; lower <= 4; ++lower)
      for (Index upper = 0; upper <= 4; ++upper) {
        const BandedMatrix A = samples::random_banded(engine, n, lower, upper);
        const Vector b = samples::random_vector(engine, n);
        Vector expected;
        ASSERT_TRUE(samples::eliminate(samples::expand(A), b, expected));
        BandedMatrix factors = A;
        ASSERT_TRUE(factors.factorize());
        Vector x = b;
        factors.solve_factored(x);
        EXPECT_LE((x - expected).lpNorm<Eigen::Infinity>(), kSolve * (1 + expected.lpNorm<Eigen::Infinity>()))
            << "n " << n << " lower " << lower << " upper " << upper;
      }
}

TEST(BandedMatrix, MultipliesLikeTheDenseMatrix) {
  Engine engine(2);
  for (const Index n : {1, 2, 3, 9, 40})
    for (Index lower = 0; lower <= 3; ++lower)
      for (Index upper = 0; upper <= 3; ++upper) {
        const BandedMatrix A = samples::random_banded(engine, n, lower, upper);
        const Vector x = samples::random_vector(engine, n), y0 = samples::random_vector(engine, n);
        Vector y = y0;
        A.add_product(-0.75, x, y);
        const Vector expected = y0 - 0.75 * (samples::expand(A) * x);
        EXPECT_LE((y - expected).lpNorm<Eigen::Infinity>(), 1e-14 * (lower + upper + 2)) << n << lower << upper;
      }
}

TEST(BandedMatrix, RefusesAMatrixThatIsNotPositiveDefinite) {
  for (const Index width : {1, 2}) {
    BandedMatrix A(3, width, width);
    for (Index i = 0; i < 3; ++i) A(i, i) = 1;
    A(0, 1) = A(1, 0) = 2;  // eigenvalues 3 and -1
    EXPECT_FALSE(A.factorize());
  }
}

TEST(BandedMatrix, OfSizeZeroIsSolved) {
  BandedMatrix A(0, 1, 1);
  EXPECT_TRUE(A.factorize());
  Vector x;
  A.solve_factored(x);
  EXPECT_EQ(x.size(), 0);
}

}  // namespace
}  // namespace stickslip::banded_matrix_test
