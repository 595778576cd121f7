// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/system_matrix.hpp"

#include <gtest/gtest.h>

#include <array>

#include "tests/unit/matrix_samples.hpp"

namespace stickslip::system_matrix_test {
namespace {

using samples::Engine;

SparseMatrix tridiagonal(Index n) {
  std::vector<Eigen::Triplet<double, int>> entries;
  for (int i = 0; i < static_cast<int>(n); ++i) {
    entries.emplace_back(i, i, 2.0);
    if (i > 0) entries.emplace_back(i, i - 1, -1.0);
    if (i > 0) entries.emplace_back(i - 1, i, -1.0);
  }
  SparseMatrix A(n, n);
  A.setFromTriplets(entries.begin(), entries.end());
  return A;
}

std::vector<SystemMatrix> every_storage(Engine& engine, Index n) {
  std::vector<SystemMatrix> matrices;
  DenseMatrix dense = samples::random_spd(engine, n);
  samples::add_skew(engine, dense, 0.5);
  matrices.emplace_back(dense);
  matrices.emplace_back(samples::random_banded(engine, n, 1, 1));
  matrices.emplace_back(samples::random_banded(engine, n, 2, 4));
  matrices.emplace_back(samples::random_sparse(engine, n, 2, 0.5));
  return matrices;
}

TEST(SystemMatrix, StorageFollowsTheContent) {
  Engine engine(10);
  EXPECT_EQ(SystemMatrix::compact(tridiagonal(8)).storage(), Storage::dense);
  EXPECT_EQ(SystemMatrix::compact(tridiagonal(9)).storage(), Storage::banded);
  EXPECT_EQ(SystemMatrix::compact(tridiagonal(1000)).storage(), Storage::banded);
  EXPECT_EQ(SystemMatrix::compact(samples::random_spd(engine, 20).sparseView()).storage(), Storage::dense);
  SparseMatrix arrow = tridiagonal(100);  // one far corner widens the band to everything
  arrow.coeffRef(0, 99) = arrow.coeffRef(99, 0) = -0.5;
  EXPECT_EQ(SystemMatrix::compact(arrow).storage(), Storage::sparse);
  SparseMatrix zero_corner = tridiagonal(100);  // a stored zero does not
  zero_corner.coeffRef(0, 99) = 0;
  EXPECT_EQ(SystemMatrix::compact(zero_corner).storage(), Storage::banded);
}

TEST(SystemMatrix, CompactingChangesNoNumber) {
  Engine engine(11);
  for (const Index n : {3, 12, 60})
    for (const SparseMatrix& A : {tridiagonal(n), samples::random_sparse(engine, n, 3, 0.2)})
      EXPECT_EQ(SystemMatrix::compact(A).to_dense(), DenseMatrix(A));
}

TEST(SystemMatrix, ProductsAgreeWithTheDenseMatrixInEveryStorage) {
  Engine engine(12);
  for (const Index n : {2, 8, 9, 40})
    for (const SystemMatrix& A : every_storage(engine, n)) {
      const DenseMatrix dense = A.to_dense();
      EXPECT_EQ(DenseMatrix(A.to_sparse()), dense);
      const Vector x = samples::random_vector(engine, n), y0 = samples::random_vector(engine, n);
      Vector y = y0, z(n);
      A.add_product(1.5, x, y);
      A.product(x, z);
      const double rounding = 1e-14 * static_cast<double>(n) * dense.lpNorm<Eigen::Infinity>();
      EXPECT_LE((y - y0 - 1.5 * (dense * x)).lpNorm<Eigen::Infinity>(), rounding);
      EXPECT_LE((z - dense * x).lpNorm<Eigen::Infinity>(), rounding);
      for (Index i = 0; i < n; ++i) {
        EXPECT_NEAR(A.row_product(i, x), dense.row(i).dot(x), rounding);
        EXPECT_NEAR(A.row_size(i, x), dense.row(i).cwiseAbs().dot(x.cwiseAbs()), rounding);
        for (Index j = 0; j < n; ++j) EXPECT_EQ(A(i, j), dense(i, j));
      }
      EXPECT_EQ(A.max_abs(), dense.cwiseAbs().maxCoeff());
      EXPECT_DOUBLE_EQ(A.asymmetry(), (dense - dense.transpose()).cwiseAbs().maxCoeff() / A.max_abs());
    }
}

TEST(SystemMatrix, ZeroIsZeroAndSymmetric) {
  const SystemMatrix zero = SystemMatrix::zero(5);
  EXPECT_EQ(zero.size(), 5);
  EXPECT_TRUE(zero.is_zero());
  EXPECT_EQ(zero.asymmetry(), 0.0);
}

TEST(MatrixSum, IsTheWeightedSumForEveryMixOfStorages) {
  Engine engine(13);
  for (const Index n : {2, 15}) {
    const std::vector<SystemMatrix> m = every_storage(engine, n);
    const std::vector<std::vector<const SystemMatrix*>> mixes{
        {&m[1]}, {&m[1], &m[2]}, {&m[0], &m[1]}, {&m[2], &m[3]}, {&m[3], &m[1], &m[2]}, {&m[0], &m[3], &m[2]}};
    for (const auto& terms : mixes) {
      MatrixSum sum(terms);
      for (int refresh = 0; refresh < 3; ++refresh) {
        std::vector<double> alpha;
        DenseMatrix expected = DenseMatrix::Zero(n, n);
        for (const SystemMatrix* term : terms) {
          alpha.push_back(samples::draw(engine, -2, 2));
          expected += alpha.back() * term->to_dense();
        }
        const SystemMatrix& value = sum.evaluate(alpha);
        EXPECT_LE((value.to_dense() - expected).cwiseAbs().maxCoeff(), 1e-14 * (1 + expected.cwiseAbs().maxCoeff()));
        EXPECT_EQ(&value, &sum.value());
      }
    }
  }
}

TEST(MatrixSum, OfBandedMatricesStaysBanded) {
  const SystemMatrix M = SystemMatrix::zero(50), K = SystemMatrix::compact(tridiagonal(50));
  MatrixSum sum({&M, &K});
  EXPECT_EQ(sum.evaluate(std::array<double, 2>{1.0, 0.5}).storage(), Storage::banded);
  EXPECT_EQ(sum.value().banded().width(), 3);
}

}  // namespace
}  // namespace stickslip::system_matrix_test
