// SPDX-License-Identifier: Apache-2.0
// The dual form; the primal kernels are in primal_active_set_test.cpp.
#include "stickslip/solvers/active_set.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"
#include "tests/unit/solver_samples.hpp"

namespace stickslip::active_set_test {
namespace {

using samples::Engine;

Vector vec(std::initializer_list<double> values) {
  Vector x(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}

/// Success, and u = D r + b with the law of every component, checked without the library's residuals.
void expect_exact(const DualProblem& problem, const InclusionSolution& solution, double tolerance) {
  ASSERT_EQ(solution.status, Status::success) << solution.message;
  const Vector u = to_dense(problem.D) * solution.r + problem.b;
  EXPECT_LE(samples::box_violation(problem.sets, solution.r, u), tolerance);
  EXPECT_LE((u - solution.u).lpNorm<Eigen::Infinity>(), tolerance);
}

// Sheet 2, section 2: two hinges at rest, M = [2 1; 1 1], a = M⁻¹(Q - fc λ).
void expect_hinges(const Vector& Q, const Vector& fc, const Vector& a, const Vector& lambda) {
  DenseMatrix M(2, 2);
  M << 2, 1, 1, 1;
  const InclusionSolution solution =
      solve_active_set(samples::from_mass(M, Q, {interval_set(fc[0]), interval_set(fc[1])}));
  ASSERT_EQ(solution.status, Status::success);
  EXPECT_LE((solution.u - a).lpNorm<Eigen::Infinity>(), 1e-14);
  EXPECT_LE((-solution.r.cwiseQuotient(fc) - lambda).lpNorm<Eigen::Infinity>(), 1e-14);
}
TEST(ActiveSet, HingeE1_ReleasingBothIsWrong) { expect_hinges(vec({3, 1.2}), vec({1, 1}), vec({1, 0}), vec({1, 0.2})); }
TEST(ActiveSet, HingeE2_SlipsAgainstItsLockedForce) {
  expect_hinges(vec({0.2, 11}), vec({0.1, 10}), vec({-0.7, 1.7}), vec({-1, 1}));
}

TEST(ActiveSet, FindsTheSolutionThatEnumerationFinds) {
  Engine engine(20);
  const struct {
    Index size;
    int trials;
  } sizes[] = {{1, 50}, {2, 400}, {3, 400}, {4, 300}, {5, 100}, {6, 60},
               {7, 12}, {8, 6},   {9, 4},   {10, 2},  {11, 1},  {12, 1}};
  for (const auto& [d, trials] : sizes)
    for (int trial = 0; trial < trials; ++trial) {
      DenseMatrix D = samples::random_spd(engine, d);
      if (trial % 2) samples::add_skew(engine, D, 0.5);  // positive definite, not symmetric
      const Vector b = samples::random_vector(engine, d, 2.0);
      const std::vector<Set> sets =
          trial % 3 ? samples::random_intervals(engine, d, 0.2, 1.5) : samples::random_boxes(engine, d);
      const std::optional<Vector> expected = samples::enumerate(D, b, sets);
      ASSERT_TRUE(expected.has_value());
      const DualProblem problem{D, b, sets};
      const InclusionSolution solution = solve_active_set(problem);
      ASSERT_EQ(solution.status, Status::success);
      // Condition of D below 1e4, reactions of order 1 to 10.
      EXPECT_LE((solution.r - *expected).lpNorm<Eigen::Infinity>(), 1e-9 * (1 + expected->lpNorm<Eigen::Infinity>()))
          << d;
    }
}

TEST(ActiveSet, FindsTheSolutionThatTheProblemWasMadeFrom) {
  Engine engine(21);
  const DenseMatrix D = samples::random_spd(engine, 12);
  Vector r(12), u = Vector::Zero(12);
  for (Index i = 0; i < 12; ++i) r[i] = i < 8 ? samples::draw(engine, -0.9, 0.9) : (i % 2 ? 1.0 : -1.0);
  for (Index i = 8; i < 12; ++i) u[i] = -r[i] * samples::draw(engine, 0.1, 2);
  const DualProblem problem{D, u - D * r, std::vector<Set>(12, interval_set(1))};
  const InclusionSolution solution = solve_active_set(problem);
  expect_exact(problem, solution, 1e-12);
  EXPECT_LE((solution.r - r).lpNorm<Eigen::Infinity>(), 1e-10);
  EXPECT_LE((solution.u - u).lpNorm<Eigen::Infinity>(), 1e-12);
}

/// Exchanging every violating law at once, from all stuck: true if it returns to a guess it has seen.
bool undamped_exchange_cycles(const DenseMatrix& D, const Vector& b, double c) {
  const Index d = b.size();
  std::vector<int> s(d, 0);
  std::set<std::vector<int>> seen;
  while (seen.insert(s).second) {
    DenseMatrix A = D;
    Vector right = -b;
    for (Index i = 0; i < d; ++i)
      if (s[i] != 0) {
        A.row(i).setZero();
        A(i, i) = 1;
        right[i] = c * s[i];
      }
    Vector r;
    samples::eliminate(A, right, r);
    const Vector u = D * r + b;
    bool changed = false;
    for (Index i = 0; i < d; ++i) {
      const int old = s[i];
      if (s[i] == 0) {
        s[i] = r[i] > c + 1e-12 ? 1 : r[i] < -c - 1e-12 ? -1 : 0;
      } else if (s[i] * u[i] > 1e-12) {
        s[i] = 0;
      }
      changed |= s[i] != old;
    }
    if (!changed) return false;
  }
  return true;
}

TEST(ActiveSet, EndsWhereExchangingAllViolationsCycles) {
  // Sheet 2: about 15 in 5000 cycle at d = 4, 32 at d = 6 (for its own distribution of matrices).
  for (const Index d : {4, 6}) {
    Engine engine(22 + static_cast<unsigned>(d));
    int cycles = 0;
    for (int trial = 0; trial < 5000; ++trial) {
      const DenseMatrix D = samples::random_spd(engine, d, 0.01);
      const Vector b = D * samples::random_vector(engine, d, 4.0);
      cycles += undamped_exchange_cycles(D, b, 1.0);
      const DualProblem problem{D, b, std::vector<Set>(d, interval_set(1.0))};
      expect_exact(problem, solve_active_set(problem), 1e-11);
      expect_exact(problem, solve_active_set(problem, {0, 0}), 1e-11);  // least index from the start
    }
    EXPECT_GT(cycles, 0) << "the sample does not test what it is meant to";
  }
}

TEST(ActiveSet, EndsWhenManyGroupsOfLawsCycleAtOnce) {
  // 25 copies of a cycling group: exchanging all violations never settles any of them.
  Engine engine(24);
  DenseMatrix group;
  Vector load;
  do {
    group = samples::random_spd(engine, 4, 0.01);
    load = group * samples::random_vector(engine, 4, 4.0);
  } while (!undamped_exchange_cycles(group, load, 1.0));
  DenseMatrix D = DenseMatrix::Zero(100, 100);
  Vector b(100);
  for (Index k = 0; k < 25; ++k) {
    D.block(4 * k, 4 * k, 4, 4) = group;
    b.segment(4 * k, 4) = load;
  }
  const DualProblem problem{D, b, std::vector<Set>(100, interval_set(1.0))};
  EXPECT_EQ(solve_active_set(problem, {1000000, 500}).status, Status::not_converged);
  expect_exact(problem, solve_active_set(problem), 1e-11);
}

TEST(ActiveSet, SolvesDenseRandomMatricesOfSizeAThousandToRoundOff) {
  for (const unsigned seed : {30u, 31u}) {
    Engine engine(seed);
    const Index d = 1000;
    const Vector load = samples::random_vector(engine, d, 4.0);
    const DenseMatrix D = samples::random_spd(engine, d);
    const DualProblem problem{D, D * load, samples::random_intervals(engine, d, 0.5, 1.5)};
    const InclusionSolution solution = solve_active_set(problem);
    ASSERT_EQ(solution.status, Status::success) << solution.message;
    // d ε |D|, D of norm about 4
    EXPECT_LE(samples::box_violation(problem.sets, solution.r, D * solution.r + problem.b), 1e-12);
    EXPECT_LE(solution.residuals.inclusion, 1e-12);
  }
}

TEST(ActiveSet, AWarmStartGivesTheSameAnswerInOneSolve) {
  Engine engine(40);
  for (int trial = 0; trial < 200; ++trial) {
    const Index d = 2 + trial % 10;
    const DualProblem problem{samples::random_spd(engine, d), samples::random_vector(engine, d, 2.0),
                              samples::random_boxes(engine, d)};
    DualActiveSet workspace;
    InclusionSolution first, second, third;
    solve_active_set(problem, {}, workspace, first);
    solve_active_set(problem, {}, workspace, second);
    EXPECT_EQ(second.iterations, 1);
    EXPECT_EQ(second.r, first.r);
    for (BoxStatus& status : workspace.status)
      status = static_cast<BoxStatus>(engine() % 4);  // any start, fitting or not
    solve_active_set(problem, {}, workspace, third);
    ASSERT_EQ(third.status, Status::success);
    EXPECT_LE((third.r - first.r).lpNorm<Eigen::Infinity>(), 1e-10 * (1 + first.r.lpNorm<Eigen::Infinity>()));
  }
}

TEST(ActiveSet, LawsOfVeryDifferentSizeDoNotBlurEachOther) {
  // Three pairs that do not feel each other, in units 1e-9, 1 and 1e9.
  DenseMatrix pair(2, 2);
  pair << 2, 1, 1, 2;
  DenseMatrix D = DenseMatrix::Zero(6, 6);
  Vector b(6), expected(6);
  std::vector<Set> sets;
  for (int k = 0; k < 3; ++k) {
    const double unit = std::pow(1e9, k - 1);
    D.block(2 * k, 2 * k, 2, 2) = pair;
    b.segment(2 * k, 2) = vec({-3, 0}) * unit;
    expected.segment(2 * k, 2) = vec({1, -0.5}) * unit;
    sets.insert(sets.end(), 2, interval_set(unit));
  }
  const InclusionSolution solution = solve_active_set(DualProblem{D, b, sets});
  ASSERT_EQ(solution.status, Status::success);
  for (Index i = 0; i < 6; ++i) EXPECT_NEAR(solution.r[i], expected[i], 1e-15 * std::abs(expected[i])) << i;
}

TEST(ActiveSet, TiesAtTheLimitEndEvenIfIllConditioned) {
  // Laws exactly at their limit with no velocity: both guesses are right and round-off contradicts each.
  Engine engine(41);
  for (int trial = 0; trial < 300; ++trial) {
    const Index d = 2 + trial % 12;
    const DenseMatrix D =
        trial % 2 ? samples::random_spd(engine, d, 1e-6) : DenseMatrix(samples::chain_mass(d).inverse());
    Vector r(d);
    for (double& x : r) x = engine() % 3 == 0 ? samples::draw(engine, -1, 1) : (engine() % 2 ? 1.0 : -1.0);
    const DualProblem problem{D, -D * r, std::vector<Set>(d, interval_set(1.0))};
    const InclusionSolution solution = solve_active_set(problem);
    ASSERT_EQ(solution.status, Status::success) << solution.message;
    EXPECT_LE((to_dense(problem.D) * solution.r + problem.b).lpNorm<Eigen::Infinity>(), 1e-12);
    EXPECT_LE(membership_residual(problem.sets, solution.r), 0.0);
  }
}

TEST(ActiveSet, TakesBlockSparseMatrices) {
  Engine engine(42);
  const SparseMatrix sparse = samples::random_sparse(engine, 30, 2);
  const Vector b = samples::random_vector(engine, 30, 2.0);
  const std::vector<Set> sets = samples::random_boxes(engine, 30);
  const DualProblem blocks{BlockSparseMatrix(std::vector<int>(30, 1), sparse), b, sets},
      dense{DenseMatrix(sparse), b, sets};
  const InclusionSolution solution = solve_active_set(blocks);
  expect_exact(blocks, solution, 1e-12);
  EXPECT_EQ(solution.r, solve_active_set(dense).r);
}

TEST(ActiveSet, LawsWithoutForceStayWithoutForce) {
  DenseMatrix D(2, 2);
  D << 2, 1, 1, 2;
  const InclusionSolution solution =
      solve_active_set(DualProblem{D, vec({-3, 1}), {interval_set(0), interval_set(10)}});
  ASSERT_EQ(solution.status, Status::success);
  EXPECT_EQ(solution.r, vec({0, -0.5}));
  EXPECT_EQ(solution.u, vec({-3.5, 0}));
}

TEST(ActiveSet, RefusesSingularMatricesAndOtherSets) {
  const DualProblem singular{DenseMatrix(DenseMatrix::Ones(2, 2)), vec({1, 1}), {line_set(), line_set()}};
  EXPECT_EQ(solve_active_set(singular).status, Status::refused);
  const DualProblem planar{DenseMatrix(DenseMatrix::Identity(2, 2)), vec({1, 1}), {disk_set(1)}};
  EXPECT_THROW(solve_active_set(planar), InputError);
  EXPECT_THROW((ActiveSetOptions{-1, 0}.validate()), InputError);
  EXPECT_THROW((ActiveSetOptions{1, -1}.validate()), InputError);
}

TEST(ActiveSet, ReportsTheLimitOfIterationsItWasGiven) {
  Engine engine(43);
  const DualProblem problem{samples::random_spd(engine, 20), samples::random_vector(engine, 20, 3.0),
                            samples::random_intervals(engine, 20, 0.5, 1.0)};
  const InclusionSolution solution = solve_active_set(problem, {10, 1});
  EXPECT_EQ(solution.status, Status::not_converged);
  EXPECT_EQ(solution.iterations, 1);
  EXPECT_FALSE(solution.message.empty());
}

TEST(ActiveSet, AStopRequestEndsTheExchangesAndTheFactorisation) {
  Engine engine(43);
  const DualProblem problem{samples::random_spd(engine, 20), samples::random_vector(engine, 20, 3.0),
                            samples::random_intervals(engine, 20, 0.5, 1.0)};
  const std::atomic<bool> stop = true;
  EXPECT_EQ(solve_active_set(problem, {.stop = &stop}).status, Status::interrupted);
  PinnedFactor factor;
  const std::vector<char> none(20, 0);
  EXPECT_TRUE(factor.factorize(std::get<DenseMatrix>(problem.D), none));
  EXPECT_FALSE(factor.factorize(std::get<DenseMatrix>(problem.D), none, &stop));
}

TEST(ActiveSet, NotANumberInAStepIsReportedAsSuch) {
  DualActiveSet workspace;
  InclusionSolution solution;
  DualProblem problem{
      DenseMatrix(DenseMatrix::Identity(2, 2)), vec({std::nan(""), 1}), {interval_set(1), interval_set(1)}};
  solve_active_set(problem, {}, workspace, solution);
  EXPECT_EQ(solution.status, Status::not_finite);
}

}  // namespace
}  // namespace stickslip::active_set_test
