// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/sparse_ldl.hpp"

#include <gtest/gtest.h>

#include "tests/unit/matrix_samples.hpp"

namespace stickslip::sparse_ldl_test {
namespace {

using samples::Engine;

TEST(SparseLdl, SolvesWhatDenseEliminationSolvesWithAnyCoordinatesPinned) {
  Engine engine(3);
  for (int trial = 0; trial < 60; ++trial) {
    const Index n = 1 + static_cast<Index>(engine() % 60);
    const SparseMatrix A = samples::random_sparse(engine, n, 1 + trial % 4);
    SparseLdl ldl;
    ldl.analyze(A);
    for (const double share : {0.0, 0.3, 0.8, 1.0}) {  // one analysis serves every choice of pinned coordinates
      const std::vector<char> pinned = samples::random_pins(engine, n, share);
      const Vector b = samples::random_vector(engine, n);
      Vector expected, x = b;
      ASSERT_TRUE(samples::eliminate(samples::pin(DenseMatrix(A), pinned), b, expected));
      ASSERT_TRUE(ldl.factorize(A, pinned));
      ldl.solve(x);
      // Smallest eigenvalue >= 0.1, entries below 10: condition below 1e3.
      EXPECT_LE((x - expected).lpNorm<Eigen::Infinity>(), 1e-12 * (1 + expected.lpNorm<Eigen::Infinity>()));
      for (Index i = 0; i < n; ++i)
        if (pinned[i]) {
          EXPECT_EQ(x[i], b[i]);
        }
    }
  }
}

TEST(SparseLdl, RefusesAnIndefiniteMatrixAndSolvesTheNextOne) {
  Engine engine(4);
  const SparseMatrix A = samples::random_sparse(engine, 30, 2);
  SparseMatrix indefinite = A;
  indefinite.coeffRef(17, 17) = -1;
  const std::vector<char> none(30, 0);
  SparseLdl ldl;
  ldl.analyze(A);
  EXPECT_FALSE(ldl.factorize(indefinite, none));
  ASSERT_TRUE(ldl.factorize(A, none));
  const Vector b = samples::random_vector(engine, 30);
  Vector x = b;
  ldl.solve(x);
  EXPECT_LE((A * x - b).lpNorm<Eigen::Infinity>(), 1e-13);
}

}  // namespace
}  // namespace stickslip::sparse_ldl_test
