// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/residual.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/solver_samples.hpp"

namespace stickslip::residual_test {
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
}

TEST(Certificate, OfAContactPushesAlongTheNormalOnly) {
  const DualProblem held = problem(DenseMatrix::Zero(3, 3), vec({-1, 0, 0}), {friction_cone_set(0.5, 3)});
  EXPECT_TRUE(certifies_no_solution(held, vec({1, 0, 0})));
  EXPECT_FALSE(certifies_no_solution(held, vec({-1, 0, 0})));
  EXPECT_FALSE(certifies_no_solution(held, vec({1, 0.2, 0})));  // in the cone, but u_T may be anything
  // b·y < 0 with y in K, and yet there is a solution: r = 0, sliding. Coulomb's law is not associated.
  const DualProblem sliding = problem(DenseMatrix::Zero(3, 3), vec({0, -3, 0}), {friction_cone_set(0.5, 3)});
  EXPECT_FALSE(certifies_no_solution(sliding, vec({1, 0.5, 0})));
  EXPECT_EQ(residuals(sliding, vec({0, 0, 0})).strict_error, 0);
}

TEST(Certificate, OfTwoOppositeContactsNeedsWallsThatClose) {
  // One mass between two walls, normals ±z: D_ij = n_i·n_j on the normals, the same tangents.
  DenseMatrix D = DenseMatrix::Zero(6, 6);
  D.topLeftCorner(3, 3) = D.bottomRightCorner(3, 3) = DenseMatrix::Identity(3, 3);
  D.topRightCorner(3, 3) = D.bottomLeftCorner(3, 3) = DenseMatrix(vec({-1, 1, 1}).asDiagonal());
  const std::vector<Set> two(2, friction_cone_set(0.7, 3));
  const Vector y = vec({1, 0, 0, 1, 0, 0});
  EXPECT_TRUE(certifies_no_solution(problem(D, vec({-1, 2, 0, -1, 2, 0}), two), y));
  EXPECT_FALSE(certifies_no_solution(problem(D, vec({-1, 2, 0, 1, 2, 0}), two), y));
  const DualProblem blocks{BlockSparseMatrix({3, 3}, D.sparseView()), vec({-1, 2, 0, -1, 2, 0}), two};
  EXPECT_TRUE(certifies_no_solution(blocks, y));
  EXPECT_FALSE(certifies_no_solution(blocks, vec({1, 0, 0, 0.5, 0, 0})));  // moves the mass
}

TEST(Residuals, CarryThePeersErrorTheStrictOneAndOneWithoutUnits) {
  // One contact, D = diag(2, 4, 4), b = (-2, 3, 0), μ = 0.5, r = (1, 0, 0): u = (0, 3, 0).
  DenseMatrix D = DenseMatrix::Zero(3, 3);
  D.diagonal() << 2, 4, 4;
  const DualProblem p = problem(D, vec({-2, 3, 0}), {friction_cone_set(0.5, 3)});
  const Residuals found = residuals(p, vec({1, 0, 0}));
  // ρ = 1: z = (1 - 1.5, -3, 0), t = 3: n = (-0.5 + 1.5)/1.25 = 0.8, P = (0.8, -0.4, 0), e = (0.2, 0.4, 0)
  EXPECT_NEAR(found.strict_error, std::hypot(0.2, 0.4) / std::sqrt(13.0), kRounding);
  EXPECT_NEAR(found.error, found.strict_error, kRounding);  // |b| is the largest of the three norms
  // ρ = 3/10: z = (1 - 0.45, -0.9, 0): n = (0.55 + 0.45)/1.25 = 0.8, P = (0.8, -0.4, 0), the same e, over ρ
  EXPECT_NEAR(found.unit_free, std::hypot(0.2, 0.4) / 0.3 / std::sqrt(13.0), 4 * kRounding);

  // Another unit of force: r scales by 1000 and D by 1/1000. Only the last error stays.
  const Residuals other = residuals(problem(DenseMatrix(D / 1000), p.b, p.sets), vec({1000, 0, 0}));
  EXPECT_NEAR(other.unit_free, found.unit_free, 1e-13);
  EXPECT_GT(std::abs(other.strict_error - found.strict_error), 0.1);

  // Where |r| >> |b| the division by |r| hides digits.
  const Residuals hidden = residuals(problem(DenseMatrix(D / 1e6), p.b, p.sets), vec({1e6, 0, 0}));
  EXPECT_LT(hidden.error, 1e-5);
  EXPECT_GT(hidden.strict_error, 0.1);
}

}  // namespace
}  // namespace stickslip::residual_test
