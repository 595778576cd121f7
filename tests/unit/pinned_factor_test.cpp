// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/pinned_factor.hpp"

#include <gtest/gtest.h>

#include "tests/unit/matrix_samples.hpp"

namespace stickslip::pinned_factor_test {
namespace {

using samples::Engine;

void expect_solves(PinnedFactor& factor, const SystemMatrix& A, Engine& engine, double share) {
  const Index n = A.size();
  const std::vector<char> pinned = samples::random_pins(engine, n, share);
  const Vector b = samples::random_vector(engine, n);
  Vector expected, x = b;
  ASSERT_TRUE(samples::eliminate(samples::pin(A.to_dense(), pinned), b, expected));
  ASSERT_TRUE(factor.factorize(A, pinned));
  factor.solve(x);
  // Condition below 1e4 in all samples.
  EXPECT_LE((x - expected).lpNorm<Eigen::Infinity>(), 1e-11 * (1 + expected.lpNorm<Eigen::Infinity>())) << "n " << n;
  for (Index i = 0; i < n; ++i)
    if (pinned[i]) {
      EXPECT_EQ(x[i], b[i]);
    }
}

TEST(PinnedFactor, SolvesEveryStorageAndReturnsPinnedValuesToTheLastBit) {
  Engine engine(5);
  for (int trial = 0; trial < 25; ++trial) {
    const Index n = 1 + static_cast<Index>(engine() % 40);
    DenseMatrix symmetric = samples::random_spd(engine, n), skewed = symmetric;
    samples::add_skew(engine, skewed, 0.5);
    const SystemMatrix matrices[] = {SystemMatrix(symmetric),
                                     SystemMatrix(skewed),
                                     SystemMatrix(samples::random_banded(engine, n, 1, 1)),
                                     SystemMatrix(samples::random_banded(engine, n, 3, 2)),
                                     SystemMatrix(samples::random_sparse(engine, n, 2)),
                                     SystemMatrix(samples::random_sparse(engine, n, 2, 0.5))};
    for (const SystemMatrix& A : matrices) {
      PinnedFactor factor;
      for (const double share : {0.0, 0.4, 1.0}) expect_solves(factor, A, engine, share);
    }
  }
}

TEST(PinnedFactor, OneFactorServesMatricesOfAnyStorageSizeAndPatternInTurn) {
  Engine engine(6);
  PinnedFactor factor;
  for (int trial = 0; trial < 200; ++trial) {
    const Index n = 1 + static_cast<Index>(engine() % 12);
    switch (engine() % 4) {
      case 0:
        expect_solves(factor, SystemMatrix(samples::random_spd(engine, n)), engine, 0.4);
        break;
      case 1:
        expect_solves(factor, SystemMatrix(samples::random_banded(engine, n, 2, 1)), engine, 0.4);
        break;
      case 2:
        expect_solves(factor, SystemMatrix(samples::random_sparse(engine, n, 1)), engine, 0.4);
        break;
      default:
        expect_solves(factor, SystemMatrix(samples::random_sparse(engine, n, 1, 0.3)), engine, 0.4);
        break;
    }
  }
}

TEST(PinnedFactor, NoticesThatASparseMatrixOfTheSamePatternLostItsSymmetry) {
  Engine engine(7);
  const SparseMatrix symmetric = samples::random_sparse(engine, 20, 2);
  SparseMatrix skewed = symmetric;
  for (Index i = 0; i < 20; ++i)
    for (SparseMatrix::InnerIterator entry(skewed, i); entry; ++entry)
      if (entry.col() != i) entry.valueRef() += entry.col() > i ? 0.3 : -0.3;
  PinnedFactor factor;
  expect_solves(factor, SystemMatrix(symmetric), engine, 0.2);
  expect_solves(factor, SystemMatrix(skewed), engine, 0.2);
  expect_solves(factor, SystemMatrix(symmetric), engine, 0.2);
}

TEST(PinnedFactor, NoticesThatEntriesMovedWhileTheirNumberStayed) {
  auto arrow = [](int tip) {
    std::vector<Eigen::Triplet<double, int>> entries;
    for (int i = 0; i < 9; ++i) {
      entries.emplace_back(i, i, 10.0 + i);
      if (i == tip) continue;
      entries.emplace_back(i, tip, -1.0);
      entries.emplace_back(tip, i, -1.0);
    }
    SparseMatrix A(9, 9);
    A.setFromTriplets(entries.begin(), entries.end());
    return SystemMatrix(A);
  };
  Engine engine(8);
  PinnedFactor factor;
  for (const int tip : {0, 8, 3, 5}) expect_solves(factor, arrow(tip), engine, 0.2);
}

TEST(PinnedFactor, RefusesSingularAndIndefiniteMatricesUnlessTheCulpritIsPinned) {
  DenseMatrix twice(3, 3);  // the first two laws are the same one; 1/3 makes their elimination inexact
  twice << 1.0 / 3, 1.0 / 3, 0.1, 1.0 / 3, 1.0 / 3, 0.1, 0.1, 0.1, 1;
  PinnedFactor factor;
  EXPECT_FALSE(factor.factorize(twice, std::vector<char>{0, 0, 0}));
  EXPECT_TRUE(factor.factorize(twice, std::vector<char>{1, 0, 0}));
  DenseMatrix indefinite = DenseMatrix::Identity(3, 3);
  indefinite(0, 1) = indefinite(1, 0) = 2;
  for (const SystemMatrix& A : {SystemMatrix(indefinite), SystemMatrix(SparseMatrix(indefinite.sparseView()))}) {
    EXPECT_FALSE(factor.factorize(A, std::vector<char>{0, 0, 0}));
    EXPECT_TRUE(factor.factorize(A, std::vector<char>{0, 1, 0}));
  }
}

TEST(PinnedFactor, RefusesARankDeficientProductOfAnySizeDespiteRoundOff) {
  Engine engine(9);
  for (const Index n : {2, 5, 20, 80}) {
    DenseMatrix W = DenseMatrix::Zero(n, n);
    for (Index k = 0; k < W.size(); ++k) W.data()[k] = samples::draw(engine, -1, 1);
    W.col(n - 1) = W.col(0);
    PinnedFactor factor;
    EXPECT_FALSE(factor.factorize(DenseMatrix(W.transpose() * W), std::vector<char>(n, 0))) << n;
  }
}

}  // namespace
}  // namespace stickslip::pinned_factor_test
