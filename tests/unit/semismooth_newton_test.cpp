// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/semismooth_newton.hpp"

#include <gtest/gtest.h>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/active_set.hpp"
#include "stickslip/solvers/contact_solver.hpp"
#include "stickslip/solvers/residual.hpp"
#include "tests/unit/law_checks.hpp"

namespace stickslip::semismooth_newton_test {
namespace {

using samples::Engine;
using samples::Kinds;

TEST(SemismoothNewton, SatisfiesEveryKindOfLawAndAgreesWithGaussSeidel) {
  Engine engine(80);
  int solved = 0, trials = 200;
  for (int trial = 0; trial < trials; ++trial) {
    const DualProblem problem = samples::random_problem(engine, 1 + trial % 6, trial % 2 ? Kinds::planar : Kinds::all);
    const InclusionSolution s = solve_semismooth_newton(problem);
    const InclusionSolution swept =
        solve_contacts(problem, {.method = ContactMethod::gauss_seidel, .tolerance = 1e-12, .max_iterations = 100000});
    EXPECT_TRUE(s.r.allFinite());
    EXPECT_EQ(s.status == Status::success, s.residuals.inclusion <= 1e-12);
    if (s.status != Status::success) continue;  // Newton alone has no guarantee; solve() falls back
    ++solved;
    EXPECT_LE((s.r - swept.r).lpNorm<Eigen::Infinity>(), 1e-8);
    EXPECT_LE((to_dense(problem.D) * s.r + problem.b - s.u).lpNorm<Eigen::Infinity>(), 1e-13);
    samples::expect_laws(problem.sets, s.r, s.u, engine, 1e-9);
  }
  EXPECT_GE(solved, 0.95 * trials);
}

TEST(SemismoothNewton, IsExactForBoxesInAFewSteps) {
  Engine engine(81);
  int solved = 0;
  for (int trial = 0; trial < 100; ++trial) {
    const Index d = 2 + trial % 12;
    const DualProblem problem{samples::random_spd(engine, d), samples::random_vector(engine, d, 2.0),
                              samples::random_intervals(engine, d, 0.2, 1.5)};
    const InclusionSolution s = solve_semismooth_newton(problem), exact = solve_active_set(problem);
    if (s.status != Status::success) continue;  // no guarantee alone
    ++solved;
    EXPECT_LE((s.r - exact.r).lpNorm<Eigen::Infinity>(), 1e-10);
    EXPECT_LE(s.iterations, 4 * d) << trial;
  }
  EXPECT_GE(solved, 95);
}

TEST(SemismoothNewton, ConvergesQuadraticallyOnADisk) {
  DenseMatrix D(2, 2);
  D << 2, 0.7, 0.7, 1;
  Vector b(2);
  b << 3, -1;
  const InclusionSolution s = solve_semismooth_newton(DualProblem{D, b, {disk_set(1)}}, {1e-14, 50, 1});
  ASSERT_EQ(s.status, Status::success);
  EXPECT_LE(s.iterations, 8);
  int fast = 0;
  for (std::size_t k = 1; k < s.history.size(); ++k)
    if (s.history[k - 1] < 1e-2 && s.history[k - 1] > 1e-8)
      fast += s.history[k] <= 10 * s.history[k - 1] * s.history[k - 1];
  EXPECT_GE(fast, 1);
}

TEST(SemismoothNewton, TakesSingularMatrices) {
  // Two laws on the same coordinate: infinitely many r, one u.
  const InclusionSolution s = solve_semismooth_newton(
      DualProblem{DenseMatrix(DenseMatrix::Ones(2, 2)), Vector::Constant(2, -1.5), {interval_set(1), interval_set(1)}});
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.r.sum(), 1.5, 1e-11);
}

TEST(SemismoothNewton, ReportsHowFarItCameAndChecksItsOptions) {
  Engine engine(82);
  const DualProblem problem = samples::random_problem(engine, 10, Kinds::all);
  const InclusionSolution s = solve_semismooth_newton(problem, {1e-12, 1, 10});
  EXPECT_EQ(s.status, Status::not_converged);
  EXPECT_LE(s.iterations, 1);
  EXPECT_FALSE(s.message.empty());
  EXPECT_THROW((SemismoothNewtonOptions{0, 1, 1}.validate()), InputError);
  EXPECT_THROW((SemismoothNewtonOptions{1e-9, 0, 1}.validate()), InputError);
  EXPECT_THROW((SemismoothNewtonOptions{1e-9, 1, 0}.validate()), InputError);
  EXPECT_THROW(solve_semismooth_newton(problem, {}, Vector::Constant(problem.b.size(), std::nan(""))), InputError);
}

}  // namespace
}  // namespace stickslip::semismooth_newton_test
