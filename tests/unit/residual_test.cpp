// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/residual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/solver_samples.hpp"

namespace stickslip {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kRounding = 1e-15;  // numbers of order 1, a handful of operations

Vector vec(std::initializer_list<double> values) {
  Vector x(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}

double one_law(const Set& set, std::initializer_list<double> r, std::initializer_list<double> u, double rho = 1.0) {
  return natural_map_residual({set}, vec(r), vec(u), vec({rho}));
}

TEST(NaturalMap, IsZeroExactlyForSolutionsOfOneLaw) {
  EXPECT_EQ(one_law(line_set(), {5}, {0}), 0);
  EXPECT_EQ(one_law(line_set(), {5}, {0.25}), 0.25);
  EXPECT_EQ(one_law(interval_set(2), {1}, {0}), 0);
  EXPECT_EQ(one_law(interval_set(2), {-2}, {3}), 0);  // slides forwards, friction backwards
  EXPECT_EQ(one_law(interval_set(2), {2}, {-3}), 0);
  EXPECT_EQ(one_law(interval_set(2), {2}, {3}), 3);   // 2 - clamp(-1)
  EXPECT_EQ(one_law(interval_set(2), {2}, {30}), 4);  // 2 - (-2)
  EXPECT_EQ(one_law(interval_set(2), {2.5}, {0}), 0.5);
  EXPECT_EQ(one_law(half_line_set(), {0}, {4}), 0);
  EXPECT_EQ(one_law(half_line_set(), {4}, {0}), 0);
  EXPECT_EQ(one_law(half_line_set(), {1}, {4}), 1);
  EXPECT_EQ(one_law(half_line_set(), {0}, {-2}, 0.5), 1);
  EXPECT_NEAR(one_law(disk_set(5), {-3, -4}, {6, 8}), 0, kRounding);
  EXPECT_NEAR(one_law(disk_set(5), {3, 4}, {6, 8}), 10, 4 * kRounding);  // the antipode
  EXPECT_EQ(one_law(box_set(1), {-1, 0.5}, {7, 0}), 0);
  EXPECT_EQ(one_law(box_set(1), {-1, 0.5}, {7, 0.25}), 0.25);
  // Sliding contact: r_T = μ r_N against u_T, u_N = 0; the shift is in the residual.
  EXPECT_NEAR(one_law(friction_cone_set(0.5, 3), {2, -1, 0}, {0, 3, 0}), 0, 4 * kRounding);
  EXPECT_GT(one_law(friction_cone_set(0.5, 3), {2, -0.5, 0}, {0, 3, 0}), 0.1);
}

TEST(NaturalMap, IsTheLargestOverTheLawsAndShowsNaN) {
  const std::vector<Set> sets{interval_set(2), disk_set(5), half_line_set()};
  EXPECT_EQ(natural_map_residual(sets, vec({2.5, 1, 1, 0}), vec({0, 0, 0, -0.75}), vec({1, 1, 1})), 0.75);
  for (Index bad = 0; bad < 4; ++bad) {
    Vector r = vec({1, 1, 1, 1}), u = vec({0, 0, 0, 0});
    r[bad] = kNaN;
    EXPECT_TRUE(std::isnan(natural_map_residual(sets, r, u, vec({1, 1, 1})))) << bad;
    EXPECT_TRUE(std::isnan(membership_residual(sets, r))) << bad;
  }
}

TEST(Membership, IsTheLargestDistanceToASet) {
  EXPECT_EQ(membership_residual({interval_set(2), half_line_set(), line_set()}, vec({-1.5, 3, -7})), 0);
  EXPECT_EQ(membership_residual({interval_set(2), half_line_set()}, vec({-2.25, -0.125})), 0.25);
  EXPECT_EQ(membership_residual({half_line_set(), interval_set(2)}, vec({-0.5, 1})), 0.5);
  EXPECT_NEAR(membership_residual({disk_set(5)}, vec({6, 8})), 5, 4 * kRounding);
  EXPECT_EQ(membership_residual({}, Vector()), 0);
}

TEST(NaturalWeights, AreInverseMeanDiagonalsAndRepairedWhereThereIsNone) {
  DenseMatrix D = DenseMatrix::Zero(4, 4);
  D.diagonal() << 2, 1, 3, 0;
  const std::vector<Set> sets{interval_set(1), disk_set(1), interval_set(1)};
  EXPECT_EQ(natural_weights(DualProblem{D, Vector::Zero(4), sets}), vec({0.5, 0.5, 0.5}));
  EXPECT_EQ(natural_weights(DualProblem{BlockSparseMatrix({1, 2, 1}, D.sparseView()), Vector::Zero(4), sets}),
            vec({0.5, 0.5, 0.5}));
  EXPECT_EQ(natural_weights(DualProblem{DenseMatrix(DenseMatrix::Zero(4, 4)), Vector::Zero(4), sets}), vec({1, 1, 1}));

  const SystemMatrix A(DenseMatrix(vec({2, 4}).asDiagonal()));
  PrimalProblem primal{&A, 1, Vector::Zero(2), SparseMatrix(2, 2), Vector::Zero(2), {interval_set(1), interval_set(1)}};
  primal.Wt.insert(0, 0) = 1;
  primal.Wt.insert(1, 0) = 2;
  primal.Wt.insert(1, 1) = 2;
  EXPECT_EQ(natural_weights(primal), vec({2, 1.0 / 3}));
}

TEST(Residuals, OfAHandComputedProblem) {
  // D = [2 1; 1 2], b = (-3, 0): law 1 slips backwards with r = 1 (u = -1.5), law 2 sticks with r = -0.5.
  DenseMatrix D(2, 2);
  D << 2, 1, 1, 2;
  const DualProblem dual{D, vec({-3, 0}), {interval_set(1), interval_set(1)}};
  EXPECT_EQ(residuals(dual, vec({1, -0.5})).inclusion, 0);
  const Residuals wrong = residuals(dual, vec({1, 0}));  // u = (-1, 1), ρ = 1/2: e = (0, 0.5), scale max(1, 0.5)
  EXPECT_EQ(wrong.inclusion, 0.5);
  EXPECT_EQ(wrong.membership, 0);
  EXPECT_EQ(residuals(dual, vec({1.5, -0.5})).membership, 0.5);

  const SystemMatrix A(DenseMatrix(D.inverse()));  // the same as A v = g + r
  const PrimalProblem primal{&A,       1, A.dense() * dual.b, samples::coordinate_rows({0, 1}, 2), Vector::Zero(2),
                             dual.sets};
  const Residuals right = residuals(primal, vec({-1.5, 0}), vec({1, -0.5}));
  EXPECT_LE(right.equation, 4 * kRounding);
  EXPECT_LE(right.inclusion, kRounding);
  EXPECT_NEAR(residuals(primal, vec({-1.5, 0.5}), vec({1, -0.5})).equation, (1.0 / 3) / 2.0, 4 * kRounding);
}

DualProblem problem(DenseMatrix D, Vector b, std::vector<Set> sets) {
  return {std::move(D), std::move(b), std::move(sets)};
}

TEST(Certificate, ProvesThatAnUnloadedConstraintCannotBeMet) {
  const DenseMatrix zero = DenseMatrix::Zero(1, 1);
  EXPECT_TRUE(certifies_no_solution(problem(zero, vec({3}), {line_set()}), vec({-1})));
  EXPECT_FALSE(certifies_no_solution(problem(zero, vec({3}), {line_set()}), vec({1})));
  EXPECT_FALSE(certifies_no_solution(problem(zero, vec({0}), {line_set()}), vec({-1})));
  EXPECT_TRUE(certifies_no_solution(problem(zero, vec({-2}), {half_line_set()}), vec({1})));
  EXPECT_FALSE(certifies_no_solution(problem(zero, vec({2}), {half_line_set()}), vec({-1})));  // not in the cone
  EXPECT_FALSE(
      certifies_no_solution(problem(zero, vec({-2}), {interval_set(1)}), vec({1})));  // bounded: always solvable
}

TEST(Certificate, ProvesThatTwoConstraintsContradictEachOther) {
  DenseMatrix same = DenseMatrix::Ones(2, 2);
  const DualProblem contradiction = problem(same, vec({0, 1}), {line_set(), line_set()});
  EXPECT_TRUE(certifies_no_solution(contradiction, vec({1, -1})));
  EXPECT_FALSE(certifies_no_solution(contradiction, vec({-1, 1})));
  EXPECT_FALSE(certifies_no_solution(contradiction, vec({1, 1})));
  EXPECT_FALSE(certifies_no_solution(problem(same, vec({1, 1}), {line_set(), line_set()}), vec({1, -1})));
}

TEST(Certificate, CountsTheHelpOfBoundedLaws) {
  // Law 1 must push for ever unless friction (limit c, through D_21 = 1) can carry b = -2: it can for c >= 2.
  DenseMatrix D(2, 2);
  D << 0, 0, 1, 1;
  D(0, 1) = 1;
  EXPECT_TRUE(certifies_no_solution(problem(D, vec({-2, 0}), {half_line_set(), interval_set(1)}), vec({1, 0})));
  EXPECT_FALSE(certifies_no_solution(problem(D, vec({-2, 0}), {half_line_set(), interval_set(2.5)}), vec({1, 0})));
}

TEST(Certificate, RefusesNonsense) {
  const DenseMatrix zero = DenseMatrix::Zero(1, 1);
  const DualProblem p = problem(zero, vec({3}), {line_set()});
  EXPECT_FALSE(certifies_no_solution(p, vec({0})));
  EXPECT_FALSE(certifies_no_solution(p, vec({kNaN})));
  EXPECT_FALSE(certifies_no_solution(p, vec({-1, 0})));
  EXPECT_FALSE(certifies_no_solution(problem(DenseMatrix::Zero(3, 3), vec({-1, 0, 0}), {friction_cone_set(0.5, 3)}),
                                     vec({1, 0, 0})));
}

}  // namespace
}  // namespace stickslip
