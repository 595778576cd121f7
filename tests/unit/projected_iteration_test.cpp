// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/projected_iteration.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/active_set.hpp"
#include "stickslip/solvers/residual.hpp"
#include "tests/unit/solver_samples.hpp"

namespace stickslip::projected_iteration_test {
namespace {

using samples::Engine;

// Sheet 4.4: M of the benchmark, C = I, τ = 0.003, b = τ (0.3, -0.4), all stick with λ = (0.3, -0.4). The sets hold the
// impulse limits τ c, hence r = -τ λ, S = τ² and β_max = τ² β_d with β_d = 1: the paper's ρ is ours times τ.
constexpr double kTau = 0.003;

struct Sharpness {
  Status status;
  int iterations;
  double error;
};

Sharpness run_sharpness(double rho_tau_beta) {
  DenseMatrix M(2, 2);
  M << 2, 1, 1, 2;
  Vector lambda(2), start(2);
  lambda << 0.3, -0.4;
  start << 0.9, 0.9;
  const DualProblem problem = samples::from_mass(M, kTau * lambda, {interval_set(kTau), interval_set(kTau)});
  const InclusionSolution s =
      solve_projected_iteration(problem, {rho_tau_beta / (kTau * kTau), 1e-12, 2000}, -kTau * start);
  return {s.status, s.iterations, (-s.r / kTau - lambda).lpNorm<Eigen::Infinity>()};
}

TEST(ProjectedIteration, ReproducesTheSharpnessTable) {
  const struct {
    double rho;
    int iterations;
    double error;
  } table[] = {{1.0, 67, 1.5e-12}, {1.5, 41, 5.9e-13}, {1.9, 260, 4.4e-13}};
  for (const auto& row : table) {
    const Sharpness found = run_sharpness(row.rho);
    EXPECT_EQ(found.status, Status::success);
    EXPECT_NEAR(found.iterations, row.iterations, 1) << row.rho;  // one more or less by rounding of the last change
    EXPECT_LE(found.error, 2 * row.error) << row.rho;
    EXPECT_GE(found.error, row.error / 4) << row.rho;
  }
}

TEST(ProjectedIteration, JustBelowTheBoundConvergesTooSlowlyAndAtTheBoundIsRefused) {
  const Sharpness slow = run_sharpness(1.99);
  EXPECT_EQ(slow.status, Status::not_converged);
  EXPECT_EQ(slow.iterations, 2000);
  EXPECT_NEAR(slow.error, 6.5e-10, 1e-10);
  for (const double rho : {2.0 + 1e-9, 2.05, 2.5}) EXPECT_EQ(run_sharpness(rho).status, Status::refused) << rho;
}

TEST(ProjectedIteration, TheBestRhoIsTwoOverTheSumOfTheExtremeEigenvalues) {
  DenseMatrix D(2, 2);
  D << 2, -1, -1, 2;  // 3 M⁻¹ of the benchmark: eigenvalues 1 and 3
  const IterationBound bound =
      iteration_bound([&](const Vector& r, Vector& u) { u = D * r + Vector::Ones(2); }, Vector::Ones(2));
  EXPECT_NEAR(bound.smallest, 1, 1e-14);
  EXPECT_NEAR(bound.largest, 3, 1e-14);
  EXPECT_NEAR(bound.rho_limit(), 2.0 / 3, 1e-14);
  EXPECT_NEAR(bound.rho_best(), 0.5, 1e-14);
}

TEST(ProjectedIteration, LanczosFindsTheEigenvaluesThatDenseAlgebraFinds) {
  Engine engine(60);
  for (const bool drop : {false, true}) {
    const Index m = 260;
    const DenseMatrix D = samples::random_spd(engine, m);
    Vector scaling(m);
    for (double& s : scaling) s = samples::draw(engine, 0.25, 2.25);
    const Index used = drop ? m - 20 : m;
    for (Index i = used; i < m; ++i) scaling[i] = 0;
    const Vector b = samples::random_vector(engine, m);
    const IterationBound bound = iteration_bound([&](const Vector& r, Vector& u) { u = D * r + b; }, scaling);
    const Vector root = scaling.head(used).cwiseSqrt();
    const DenseMatrix scaled = root.asDiagonal() * D.topLeftCorner(used, used) * root.asDiagonal();
    const Vector exact = Eigen::SelfAdjointEigenSolver<DenseMatrix>(scaled).eigenvalues();
    EXPECT_GE(bound.largest, exact.maxCoeff());  // on the safe side
    EXPECT_LE(bound.largest, exact.maxCoeff() * (1 + 1e-6));
    // The smallest one only sharpens rho_best.
    EXPECT_GE(bound.smallest, 0.0);
    EXPECT_LE(bound.smallest, exact.minCoeff() * (1 + 1e-3));
  }
}

TEST(ProjectedIteration, AgreesWithTheActiveSet) {
  Engine engine(61);
  for (int trial = 0; trial < 50; ++trial) {
    const Index d = 1 + trial % 8;
    const DualProblem problem{samples::random_spd(engine, d, 0.2), samples::random_vector(engine, d, 2.0),
                              samples::random_boxes(engine, d)};
    const InclusionSolution iterated = solve_projected_iteration(problem), exact = solve_active_set(problem);
    ASSERT_EQ(iterated.status, Status::success) << iterated.message;
    // A change below 1e-12 leaves an error of that times 1/(1 - contraction), below 1e3 here.
    EXPECT_LE((iterated.r - exact.r).lpNorm<Eigen::Infinity>(), 1e-8 * (1 + exact.r.lpNorm<Eigen::Infinity>()));
    EXPECT_LE(iterated.residuals.inclusion, 1e-9);
  }
}

TEST(ProjectedIteration, StopsAtTheSameIterateInAllUnits) {
  Engine engine(94);
  const DenseMatrix D = samples::random_spd(engine, 6);
  const Vector b = samples::random_vector(engine, 6);
  const std::vector<Set> sets{half_line_set(), half_line_set(), line_set(), half_line_set(), line_set(), line_set()};
  const InclusionSolution expected = solve_projected_iteration(DualProblem{D, b, sets}, {0, 1e-10, 100000});
  ASSERT_EQ(expected.status, Status::success);
  for (const int mass : {-20, 20})
    for (const int velocity : {-20, 0, 20}) {  // powers of two, about 1e±6: scaling commutes with rounding
      const InclusionSolution found = solve_projected_iteration(
          DualProblem{DenseMatrix(std::ldexp(1.0, -mass) * D), std::ldexp(1.0, velocity) * b, sets},
          {0, 1e-10, 100000});
      EXPECT_EQ(found.status, Status::success);
      // √s and the eigenvalues that ρ is made of round differently where the exponent is odd.
      EXPECT_NEAR(found.iterations, expected.iterations, 1);
      EXPECT_LE((std::ldexp(1.0, -mass - velocity) * found.r - expected.r).lpNorm<Eigen::Infinity>(), 1e-12);
    }
}

TEST(ProjectedIteration, LawsWithoutForceDropOut) {
  DenseMatrix D(2, 2);
  D << 2, 1, 1, 2;
  Vector b(2), start(2);
  b << -3, 1;
  start << 5, 5;
  const InclusionSolution one =
      solve_projected_iteration(DualProblem{D, b, {interval_set(0), interval_set(10)}}, {}, start);
  ASSERT_EQ(one.status, Status::success);
  EXPECT_EQ(one.r[0], 0.0);
  EXPECT_NEAR(one.r[1], -0.5, 1e-11);
  const InclusionSolution none =
      solve_projected_iteration(DualProblem{D, b, {interval_set(0), interval_set(0)}}, {}, start);
  ASSERT_EQ(none.status, Status::success);
  EXPECT_EQ(none.r, Vector::Zero(2));
  EXPECT_EQ(none.u, b);
}

TEST(ProjectedIteration, SingularMatricesHaveABestRhoToo) {
  // Two laws on the same coordinate share its load in any way; a third has no mass behind it at all.
  DenseMatrix D = DenseMatrix::Zero(3, 3);
  D.topLeftCorner(2, 2).setOnes();
  Vector b(3);
  b << -1, -1, 2;
  const InclusionSolution s = solve_projected_iteration(DualProblem{D, b, std::vector<Set>(3, interval_set(1))});
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.r[0] + s.r[1], 1, 1e-10);
  EXPECT_EQ(s.r[2], -1.0);
  const InclusionSolution massless = solve_projected_iteration(
      DualProblem{DenseMatrix(DenseMatrix::Zero(1, 1)), Vector::Constant(1, 2.0), {interval_set(3)}});
  ASSERT_EQ(massless.status, Status::success);
  EXPECT_EQ(massless.r[0], -3.0);
}

TEST(ProjectedIteration, RefusesWhatTheTheoremDoesNotCover) {
  DenseMatrix D = DenseMatrix::Identity(2, 2);
  D(0, 1) = 0.1;
  const InclusionSolution skewed =
      solve_projected_iteration(DualProblem{D, Vector::Ones(2), {interval_set(1), interval_set(1)}});
  EXPECT_EQ(skewed.status, Status::refused);
  EXPECT_EQ(skewed.u, Vector::Ones(2));
  const InclusionSolution cone = solve_projected_iteration(
      DualProblem{DenseMatrix(DenseMatrix::Identity(2, 2)), Vector::Ones(2), {friction_cone_set(0.5, 2)}});
  EXPECT_EQ(cone.status, Status::refused);
  EXPECT_EQ(cone.r.size(), 2);
  EXPECT_FALSE(cone.message.empty());
  EXPECT_THROW((ProjectedIterationOptions{-1, 1e-12, 10}.validate()), InputError);
  EXPECT_THROW((ProjectedIterationOptions{0, 0, 10}.validate()), InputError);
  EXPECT_THROW((ProjectedIterationOptions{0, 1e-12, 0}.validate()), InputError);
}

TEST(ProjectedIteration, NotANumberNeverPassesForConvergence) {
  const ReactionMap broken = [](const Vector&, Vector& u) { u.setConstant(2, std::nan("")); };
  InclusionSolution s;
  s.r = Vector::Zero(2);
  solve_projected_iteration(broken, {interval_set(1), interval_set(1)}, Vector::Ones(2), {0.5, 1.0}, {}, s);
  EXPECT_EQ(s.status, Status::not_finite);
}

}  // namespace
}  // namespace stickslip::projected_iteration_test
