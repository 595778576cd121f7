// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/dense_kernel.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "tests/unit/matrix_samples.hpp"

namespace stickslip::dense_kernel_test {
namespace {

using Matrix = Eigen::MatrixXd;

Matrix sample(samples::Engine& engine, int rows, int columns) {
  Matrix A(rows, columns);
  for (double& value : A.reshaped()) value = samples::draw(engine, -1, 1);
  return A;
}

// Sizes on both sides of every tile, of the depth and of the columns that are copied at once.
TEST(DenseKernel, ProductsOfAllSizesAreThoseOfTheDefinition) {
  samples::Engine engine(77);
  for (const int m : {1, 7, 11, 12, 13, 24, 25, 37, 48})
    for (const int n : {1, 3, 4, 5, 6, 8, 60, 61, 63, 64, 70})
      for (const int k : {1, 11, 12, 50, 128, 129, 300})
        for (const bool transposed : {false, true}) {
          const Matrix A = sample(engine, m + 2, k), B = sample(engine, transposed ? n : k, transposed ? k : n);
          const Matrix before = sample(engine, m + 3, n);
          Matrix C = before;
          const int ldb = static_cast<int>(B.rows());
          dense_kernel::subtract_product(m, n, k, A.data() + 1, m + 2, B.data(), transposed ? ldb : 1,
                                         transposed ? 1 : ldb, C.data() + 2, m + 3);
          Matrix expected = before;
          expected.middleRows(2, m) -= A.middleRows(1, m) * (transposed ? Matrix(B.transpose()) : B);
          // k products of numbers up to 1, each rounded.
          EXPECT_LE((C - expected).lpNorm<Eigen::Infinity>(), 2e-16 * (k + 2)) << m << ' ' << n << ' ' << k;
          EXPECT_EQ(C.topRows(2), before.topRows(2));
          EXPECT_EQ(C.bottomRows(1), before.bottomRows(1));
        }
}

TEST(DenseKernel, ProductsWithVectorsAreThoseOfTheDefinition) {
  samples::Engine engine(79);
  for (const int m : {0, 1, 7, 8, 9, 40})
    for (const int n : {1, 3, 4, 5, 12}) {
      const Matrix A = sample(engine, m + 2, n), x = sample(engine, n, 1), z = sample(engine, m, 1);
      const Matrix before = sample(engine, m + 1, 1), other = sample(engine, n, 1);
      Matrix y = before, w = other;
      dense_kernel::subtract_columns(m, n, A.data() + 1, m + 2, x.data(), y.data());
      dense_kernel::subtract_inner(m, n, A.data() + 1, m + 2, z.data(), w.data());
      Matrix expected = before;
      expected.topRows(m) -= A.middleRows(1, m) * x;
      // n, or m, products of numbers up to 1, each rounded.
      EXPECT_LE((y - expected).lpNorm<Eigen::Infinity>(), 2e-16 * (n + 2)) << m << ' ' << n;
      EXPECT_EQ(y(m), before(m));
      EXPECT_LE((w - other + A.middleRows(1, m).transpose() * z).lpNorm<Eigen::Infinity>(), 2e-16 * (m + 2));
    }
}

TEST(DenseKernel, FactorsMultiplyToTheMatrixWithItsRowsExchanged) {
  samples::Engine engine(78);
  for (const int n : {1, 2, 8, 9, 16, 17, 40, 131}) {
    const Matrix A = sample(engine, n, n);
    Matrix LU = A, P = A;
    std::vector<int> pivots(static_cast<std::size_t>(n));
    ASSERT_TRUE(dense_kernel::lu(n, LU.data(), n, pivots.data()));
    for (int i = 0; i < n; ++i) P.row(i).swap(P.row(pivots[static_cast<std::size_t>(i)]));
    const Matrix L = LU.triangularView<Eigen::UnitLower>(), U = LU.triangularView<Eigen::Upper>();
    EXPECT_LE(L.cwiseAbs().maxCoeff(), 1.0);  // pivots are the largest of their columns
    // Growth of partial pivoting on random matrices stays below n.
    EXPECT_LE((L * U - P).lpNorm<Eigen::Infinity>(), 2e-16 * n * n) << n;
  }
}

}  // namespace
}  // namespace stickslip::dense_kernel_test
