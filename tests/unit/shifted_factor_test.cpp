// SPDX-License-Identifier: Apache-2.0
#include "stickslip/common/shifted_factor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace stickslip::shifted_factor_test {
namespace {

using Complex = std::complex<double>;

/// A band matrix whose rows and columns are shuffled, and a mass matrix of the same structure.
SlopePencil shuffled_band(Index n, Index half_width, std::mt19937& random) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  SlopePencil pencil;
  for (Index i = 0; i < n; ++i)
    for (Index j = std::max<Index>(0, i - half_width); j <= std::min(n - 1, i + half_width); ++j) {
      const Index a = order[static_cast<std::size_t>(i)], b = order[static_cast<std::size_t>(j)];
      pencil.slope.add(a, b, 1e3 * uniform(random));
      pencil.mass.add(a, b, i == j ? 4.0 : 0.1 * uniform(random));
    }
  return pencil;
}

DenseMatrix dense(const MatrixEntries& matrix, Index n) {
  DenseMatrix full = DenseMatrix::Zero(n, n);
  for (const auto& [i, j, value] : matrix.entries) full(i, j) += value;
  return full;
}

void expect_solves(ShiftedFactor& factor, const SlopePencil& pencil, Index n, std::mt19937& random) {
  const double real = 7;
  const Complex complex(3, 5);
  ASSERT_TRUE(factor.factorise(pencil, real, complex));
  std::uniform_real_distribution<double> uniform(-1, 1);
  Vector r(n), x(n);
  Eigen::VectorXcd rc(n), xc(n);
  for (Index i = 0; i < n; ++i) {
    r[i] = uniform(random);
    rc[i] = {uniform(random), uniform(random)};
  }
  factor.solve(r, x);
  factor.solve(rc, xc);
  const DenseMatrix M = dense(pencil.mass, n), G = dense(pencil.slope, n);
  EXPECT_LT((real * (M * x) - G * x - M * r).norm(), 1e-9 * r.norm());
  EXPECT_LT((complex * (M * xc) - G * xc - M * rc).norm(), 1e-9 * rc.norm());
}

TEST(ShiftedFactor, FindsTheBandOfAShuffledMatrixAndSolvesWithIt) {
  std::mt19937 random(11);
  for (const Index half_width : {1, 3, 7}) {
    const Index n = 200;
    const SlopePencil pencil = shuffled_band(n, half_width, random);
    ShiftedFactor factor;
    factor.resize(n);
    expect_solves(factor, pencil, n, random);
    EXPECT_LE(factor.half_width(), 2 * half_width);
  }
}

TEST(ShiftedFactor, SmallFullAndSparseMatricesAreSolvedTheSame) {
  std::mt19937 random(12);
  for (const auto& [n, half_width] : {std::pair<Index, Index>{1, 0}, {5, 2}, {24, 1}, {40, 30}, {160, 60}}) {
    const SlopePencil pencil = shuffled_band(n, half_width, random);
    ShiftedFactor factor;
    factor.resize(n);
    expect_solves(factor, pencil, n, random);
    EXPECT_EQ(factor.half_width(), n - 1);
  }
}

TEST(ShiftedFactor, PartsThatDoNotTouchAndEntriesThatAppearLaterAreTaken) {
  std::mt19937 random(13);
  const Index n = 120;
  SlopePencil pencil;
  for (Index i = 0; i < n; ++i) {
    pencil.mass.add(i, i, 1);
    pencil.slope.add(i, i, -2);
    if (i % 40 != 0) pencil.slope.add(i, i - 1, 1);
  }
  ShiftedFactor factor;
  factor.resize(n);
  expect_solves(factor, pencil, n, random);
  EXPECT_EQ(factor.half_width(), 1);
  pencil.slope.add(0, 80, 0.5);
  pencil.slope.add(3, 60, 0.5);
  expect_solves(factor, pencil, n, random);
  EXPECT_GT(factor.half_width(), 1);
  EXPECT_LT(factor.half_width(), n / 5);
}

TEST(ShiftedFactor, ASingularMatrixIsRefused) {
  SlopePencil pencil;
  for (Index i = 0; i < 60; ++i) {
    pencil.mass.add(i, i, i == 30 ? 0.0 : 1.0);
    pencil.slope.add(i, i, i == 30 ? 0.0 : -1.0);
  }
  ShiftedFactor factor;
  factor.resize(60);
  EXPECT_FALSE(factor.factorise(pencil, 1.0, {1.0, 1.0}));
}

TEST(BandLu, ExchangesRowsWhereTheDiagonalIsNoPivot) {
  // 0 on the diagonal throughout: only exchanges make this solvable.
  const Index n = 30;
  BandLu<double> lu;
  lu.resize(n, 1);
  for (Index i = 0; i + 1 < n; ++i) lu.at(i, i + 1) = lu.at(i + 1, i) = 1.0 + 0.1 * static_cast<double>(i);
  ASSERT_TRUE(lu.factorise());
  Vector x(n), r = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) x[i] = std::sin(static_cast<double>(i));
  for (Index i = 0; i + 1 < n; ++i) {
    const double a = 1.0 + 0.1 * static_cast<double>(i);
    r[i] += a * x[i + 1];
    r[i + 1] += a * x[i];
  }
  lu.solve(r);
  EXPECT_LT((r - x).norm(), 1e-10);
}

}  // namespace
}  // namespace stickslip::shifted_factor_test
