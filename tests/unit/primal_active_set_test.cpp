// SPDX-License-Identifier: Apache-2.0
// The primal kernels of active_set.hpp: laws on coordinates, and general directions (augmented).
#include <gtest/gtest.h>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/active_set.hpp"
#include "stickslip/solvers/residual.hpp"
#include "tests/unit/solver_samples.hpp"

namespace stickslip::primal_active_set_test {
namespace {

using samples::Engine;

std::vector<SystemMatrix> step_matrices(Engine& engine, Index n) {
  std::vector<SystemMatrix> matrices;
  DenseMatrix symmetric = samples::random_spd(engine, n), skewed = symmetric;
  samples::add_skew(engine, skewed, 0.3);
  matrices.emplace_back(symmetric);
  matrices.emplace_back(skewed);
  matrices.emplace_back(samples::random_banded(engine, n, 1, 1));
  matrices.emplace_back(samples::random_banded(engine, n, 3, 2));
  matrices.emplace_back(samples::random_sparse(engine, n, 2));
  matrices.emplace_back(samples::random_sparse(engine, n, 2, 0.3));
  return matrices;
}

/// Checks A v = g + W r, u = Wᵀv - w and every law without the library's residuals. Condition numbers are below 1e4.
void expect_exact(const PrimalProblem& p, const InclusionSolution& s) {
  ASSERT_EQ(s.status, Status::success) << s.message;
  const DenseMatrix A = p.A->to_dense();
  const double load = p.g.lpNorm<Eigen::Infinity>() + s.r.lpNorm<Eigen::Infinity>() +
                      A.lpNorm<Eigen::Infinity>() * s.v.lpNorm<Eigen::Infinity>();
  EXPECT_LE((A * s.v - p.g - p.Wt.transpose() * s.r).lpNorm<Eigen::Infinity>(), 1e-13 * load);
  EXPECT_LE((p.Wt * s.v - p.w - s.u).lpNorm<Eigen::Infinity>(), 1e-12 * (1 + s.v.lpNorm<Eigen::Infinity>()));
  EXPECT_LE(samples::box_violation(p.sets, s.r, s.u), 0.0);
}

void expect_same_as_dual(const PrimalProblem& p, const InclusionSolution& s) {
  const InclusionSolution dual = solve_active_set(to_dual(p));
  ASSERT_EQ(dual.status, Status::success);
  EXPECT_LE((dual.r - s.r).lpNorm<Eigen::Infinity>(), 1e-9 * (1 + dual.r.lpNorm<Eigen::Infinity>()));
  EXPECT_LE((dual.u - s.u).lpNorm<Eigen::Infinity>(), 1e-9 * (1 + dual.u.lpNorm<Eigen::Infinity>()));
}

TEST(PrimalActiveSet, OnCoordinatesAgreesWithTheDualFormInEveryStorage) {
  Engine engine(50);
  for (int trial = 0; trial < 40; ++trial) {
    const Index n = 2 + static_cast<Index>(engine() % 20),
                m = 1 + static_cast<Index>(engine() % static_cast<unsigned long>(n));
    for (const SystemMatrix& A : step_matrices(engine, n)) {
      const std::vector<int> rows = samples::random_coordinates(engine, n, m);
      const bool belt = trial % 2;
      const PrimalProblem p{&A,
                            1,
                            samples::random_vector(engine, n, 3.0),
                            samples::coordinate_rows(rows, n),
                            belt ? samples::random_vector(engine, m) : Vector(Vector::Zero(m)),
                            samples::random_boxes(engine, m)};
      const InclusionSolution s = solve_active_set(p);
      expect_exact(p, s);
      expect_same_as_dual(p, s);
      for (Index k = 0; k < m; ++k)
        if (s.u[k] == 0.0) {
          EXPECT_EQ(s.v[rows[k]], p.w[k]) << "a stuck velocity is that of the surface to the last bit";
        }
    }
  }
}

TEST(PrimalActiveSet, WithGeneralDirectionsAgreesWithTheDualForm) {
  Engine engine(51);
  for (int trial = 0; trial < 40; ++trial) {
    const Index n = 4 + static_cast<Index>(engine() % 20), m = 1 + n / 3;
    for (const SystemMatrix& A : step_matrices(engine, n)) {
      const PrimalProblem p{&A,
                            1,
                            samples::random_vector(engine, n, 3.0),
                            samples::random_directions(engine, m, n),
                            trial % 2 ? samples::random_vector(engine, m) : Vector(Vector::Zero(m)),
                            samples::random_boxes(engine, m)};
      ASSERT_FALSE(acts_on_distinct_coordinates(p));
      const InclusionSolution s = solve_active_set(p);
      expect_exact(p, s);
      expect_same_as_dual(p, s);
    }
  }
}

TEST(PrimalActiveSet, SolvesALongChainFromAnyLastVelocity) {
  // M + h²K/4 of a chain is nearly diagonal: statuses are predicted by a sweep from the last velocity.
  const Index n = 2000;
  Engine engine(52);
  for (const double h2 : {1e-5, 0.01, 10.0}) {
    BandedMatrix A(n, 1, 1);
    for (Index i = 0; i < n; ++i) {
      A(i, i) = 1 + 2 * h2;
      if (i > 0) A(i, i - 1) = A(i - 1, i) = -h2;
    }
    const SystemMatrix matrix(A);
    std::vector<int> rows(n);
    for (Index i = 0; i < n; ++i) rows[i] = static_cast<int>(n - 1 - i);
    PrimalProblem p{&matrix,         1,
                    Vector(),        samples::coordinate_rows(rows, n),
                    Vector::Zero(n), samples::random_intervals(engine, n, 0.0, 1.0)};
    p.sets[7] = interval_set(0);
    PrimalActiveSet workspace;
    InclusionSolution s;
    for (int step = 0; step < 5; ++step) {
      p.g = samples::random_vector(engine, n, step == 3 ? 1e-3 : 2.0);  // step 3: nearly everything stops
      if (step == 2) s.v = samples::random_vector(engine, n, 1e6);
      solve_active_set(p, {}, workspace, s);
      ASSERT_EQ(s.status, Status::success) << s.message;
      const Residuals found = residuals(p, s.v, s.r);
      EXPECT_LE(found.equation, 1e-14);
      EXPECT_LE(found.inclusion, 1e-14);
      EXPECT_EQ(found.membership, 0.0);
      EXPECT_LE(samples::box_violation(p.sets, s.r, s.u), 0.0);
    }
  }
}

struct TwoCoordinates {
  explicit TwoCoordinates(double coupling = 1.0) {
    DenseMatrix M(2, 2);
    M << 2, coupling, coupling, 2;
    A = SystemMatrix(M);
    problem = {
        &A, 0, Vector(2), samples::coordinate_rows({0, 1}, 2), Vector::Zero(2), {interval_set(1), interval_set(1)}};
    problem.g << 3, 0.5;
  }
  SystemMatrix A;
  PrimalProblem problem;
};

TEST(PrimalActiveSet, AnyVersionNumberIsServed) {
  for (const unsigned long version : {0ul, 1ul, 77ul}) {
    TwoCoordinates two;
    two.problem.A_version = version;
    two.problem.sets = {interval_set(0),
                        interval_set(0)};  // nothing is ever pinned: only the version can ask for factors
    expect_exact(two.problem, solve_active_set(two.problem));
  }
}

TEST(PrimalActiveSet, ANewVersionMeansNewFactorsAndMayMoveTheLaws) {
  TwoCoordinates two, other(0.25);
  PrimalActiveSet workspace;
  InclusionSolution s;
  solve_active_set(two.problem, {}, workspace, s);
  expect_exact(two.problem, s);
  other.problem.A_version = 1;
  solve_active_set(other.problem, {}, workspace, s);
  expect_exact(other.problem, s);
  other.problem.A_version = 2;
  other.problem.Wt = samples::coordinate_rows({1, 0}, 2);
  other.problem.sets = {interval_set(0.1), interval_set(2)};
  solve_active_set(other.problem, {}, workspace, s);
  expect_exact(other.problem, s);
  other.problem.A_version = 3;
  other.problem.Wt.coeffRef(0, 1) = 0.5;  // no longer a coordinate
  solve_active_set(other.problem, {}, workspace, s);
  expect_exact(other.problem, s);
}

TEST(PrimalActiveSet, AFailureLeavesNoWrongFactorsBehind) {
  // Indefinite, yet positive definite once coordinate 1 is held.
  TwoCoordinates two(3.0);
  PrimalActiveSet workspace;
  InclusionSolution s;
  two.problem.sets[1] = interval_set(100);
  solve_active_set(two.problem, {}, workspace, s);
  expect_exact(two.problem, s);
  two.problem.sets[1] = interval_set(1e-3);
  for (int repeat = 0; repeat < 3; ++repeat) {
    solve_active_set(two.problem, {}, workspace, s);
    EXPECT_EQ(s.status, Status::refused);
    EXPECT_FALSE(s.message.empty());
  }
  two.problem.sets[0] = interval_set(0);
  two.problem.sets[1] = interval_set(100);
  two.problem.g << 1, 2;
  workspace.status = {BoxStatus::between, BoxStatus::between};
  solve_active_set(two.problem, {}, workspace, s);
  expect_exact(two.problem, s);
}

TEST(PrimalActiveSet, DependentDirectionsAreRefusedNotAnsweredWithCancellingForces) {
  Engine engine(53);
  const Index n = 12;
  const SystemMatrix A(samples::random_sparse(engine, n, 2));
  for (int trial = 0; trial < 50; ++trial) {
    PrimalProblem p{&A,
                    1,
                    samples::random_vector(engine, n),
                    samples::random_directions(engine, 4, n),
                    Vector::Zero(4),
                    std::vector<Set>(4, line_set())};
    // Row 3 = row 0 + 2 row 1, so that round-off may hide the dependence.
    DenseMatrix rows(p.Wt);
    rows.row(3) = rows.row(0) + 2 * rows.row(1);
    p.Wt = rows.sparseView();
    const InclusionSolution s = solve_active_set(p);
    if (s.status == Status::success) {  // also right: this splitting of the force satisfies everything
      EXPECT_LE(residuals(p, s.v, s.r).equation, 1e-9);
      EXPECT_LE((p.Wt * s.v).lpNorm<Eigen::Infinity>(), 1e-9);
    } else {
      EXPECT_EQ(s.status, Status::refused);
    }
  }
}

TEST(PrimalActiveSet, NotANumberInAStepIsReportedAsSuch) {
  TwoCoordinates two;
  PrimalActiveSet workspace;
  InclusionSolution s;
  two.problem.g[1] = std::nan("");
  solve_active_set(two.problem, {}, workspace, s);
  EXPECT_EQ(s.status, Status::not_finite);
  two.problem.g[1] = 0.5;
  solve_active_set(two.problem, {}, workspace, s);
  expect_exact(two.problem, s);
}

TEST(PrimalActiveSet, RefusesPlanarLaws) {
  TwoCoordinates two;
  two.problem.sets = {disk_set(1)};
  EXPECT_THROW(solve_active_set(two.problem), InputError);
}

}  // namespace
}  // namespace stickslip::primal_active_set_test
