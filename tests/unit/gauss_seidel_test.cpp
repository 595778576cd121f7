// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/gauss_seidel.hpp"

#include <gtest/gtest.h>

#include <array>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/contact_solver.hpp"
#include "stickslip/solvers/residual.hpp"
#include "tests/unit/law_checks.hpp"

namespace stickslip::gauss_seidel_test {
namespace {

using samples::Engine;
using samples::Kinds;

InclusionSolution sweep(const DualProblem& problem, double tolerance = 1e-12, int sweeps = 100000,
                        const Vector& start = {}) {
  return solve_contacts(
      problem, {.method = ContactMethod::gauss_seidel, .tolerance = tolerance, .max_iterations = sweeps}, start);
}

TEST(GaussSeidel, SatisfiesEveryKindOfLaw) {
  Engine engine(70);
  for (int trial = 0; trial < 150; ++trial) {
    const DualProblem problem = samples::random_problem(engine, 1 + trial % 6, trial % 2 ? Kinds::planar : Kinds::all);
    const InclusionSolution s = sweep(problem);
    ASSERT_EQ(s.status, Status::success) << s.message;
    EXPECT_LE(s.residuals.inclusion, 1e-12);
    EXPECT_LE((to_dense(problem.D) * s.r + problem.b - s.u).lpNorm<Eigen::Infinity>(), 1e-13);
    samples::expect_laws(problem.sets, s.r, s.u, engine, 1e-9);
  }
}

TEST(GaussSeidel, BlockSparseAndDenseStorageGiveTheSameSweeps) {
  Engine engine(71);
  const DualProblem dense = samples::random_problem(engine, 12, Kinds::all);
  std::vector<int> sizes;
  for (const Set& set : dense.sets) sizes.push_back(set.size);
  const DualProblem blocks{BlockSparseMatrix(sizes, to_dense(dense.D).sparseView()), dense.b, dense.sets};
  EXPECT_EQ(to_dense(blocks.D), to_dense(dense.D));
  const InclusionSolution a = sweep(dense), b = sweep(blocks);
  ASSERT_EQ(a.status, Status::success);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_LE((a.r - b.r).lpNorm<Eigen::Infinity>(), 1e-12);
}

TEST(GaussSeidel, StartsFromTheSolutionAndStopsAtOnce) {
  Engine engine(72);
  const DualProblem problem = samples::random_problem(engine, 8, Kinds::all);
  const InclusionSolution first = sweep(problem, 1e-13);
  EXPECT_EQ(sweep(problem, 1e-12, 100, first.r).iterations, 1);
  EXPECT_THROW(sweep(problem, 1e-12, 100, Vector::Zero(1)), InputError);
}

TEST(GaussSeidel, ReportsHowFarItCame) {
  Engine engine(73);
  const DualProblem problem = samples::random_problem(engine, 20, Kinds::planar);
  const InclusionSolution s = sweep(problem, 1e-12, 2);
  EXPECT_EQ(s.status, Status::not_converged);
  EXPECT_EQ(s.iterations, 2);
  EXPECT_EQ(s.residuals.inclusion, residuals(problem, s.r).inclusion);
}

TEST(GaussSeidel, DivergenceEndsWithFiniteNumbers) {
  DenseMatrix D(2, 2);
  D << 1, 100, 100, 1;  // indefinite: reactions grow by 1e4 per sweep
  const InclusionSolution s = sweep(DualProblem{D, Vector::Ones(2), {line_set(), line_set()}});
  EXPECT_EQ(s.status, Status::not_converged);
  EXPECT_TRUE(s.r.allFinite());
  EXPECT_TRUE(std::isfinite(s.residuals.inclusion));
}

TEST(OneLaw, IsSolvedAloneForEveryKind) {
  Engine engine(74);
  for (int trial = 0; trial < 400; ++trial) {
    const Set set = samples::random_laws(engine, 1, Kinds::all)[0];
    const Index n = set.size;
    DenseMatrix D = samples::random_spd(engine, n, 0.5);
    if (is_cone(set.kind)) D = (0.3 * D + DenseMatrix::Identity(n, n)).eval();
    if (trial % 3 == 0 && !is_cone(set.kind)) samples::add_skew(engine, D, 0.2);
    const Vector q = samples::random_vector(engine, n, 3.0);
    std::array<double, 9> block{};
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) block[i * n + j] = D(i, j);
    Vector r = Vector::Zero(n);
    ASSERT_TRUE(solve_one_law(set, block.data(), q.data(), r.data()));
    samples::expect_laws({set}, r, D * r + q, engine, 1e-9);
  }
}

TEST(OneLaw, WithoutMassIsDecidedByTheLoadOrHasNoSolution) {
  const double zero = 0;
  auto solve = [&](const Set& set, double q, double start) {
    double r = start;
    return std::pair(solve_one_law(set, &zero, &q, &r), r);
  };
  EXPECT_EQ(solve(interval_set(2), 3, 0), std::pair(true, -2.0));
  EXPECT_EQ(solve(interval_set(2), -3, 0), std::pair(true, 2.0));
  EXPECT_EQ(solve(interval_set(2), 0, 0.5), std::pair(true, 0.5));
  EXPECT_EQ(solve(half_line_set(), 1, 7), std::pair(true, 0.0));
  EXPECT_FALSE(solve(half_line_set(), -1, 0).first);
  EXPECT_FALSE(solve(line_set(), 1, 0).first);
}

TEST(OneLaw, WithoutMassIsDecidedByTheLoadInAllUnits) {
  const std::array<double, 4> zero{};
  for (const double force : {1e-6, 1.0, 1e6})
    for (const double velocity : {1e-6, 1.0, 1e6})
      for (const Set& set : {box_set(2 * force), polygon_set(2 * force, 6), disk_set(2 * force), box_set(0.0)}) {
        const std::array<double, 2> q{3 * velocity, 0.1 * velocity};
        std::array<double, 2> r{};
        ASSERT_TRUE(solve_one_law(set, zero.data(), q.data(), r.data()));
        // The point of C farthest against q: -q·r is the support of C.
        const std::array<double, 2> against{-q[0], -q[1]};
        EXPECT_NEAR(against[0] * r[0] + against[1] * r[1], support(set, against), 1e-12 * force * velocity);
      }
}

// ---- primal form ----

struct Planar {
  SystemMatrix A;
  PrimalProblem problem;
};

/// Planar and scalar laws on coordinates of their own, some coordinates without a law.
void make_planar(Engine& engine, Planar& p, Index n, bool symmetric, bool belt) {
  p.A = engine() % 2 ? SystemMatrix(samples::random_sparse(engine, n, 2, symmetric ? 0.0 : 0.3)) : SystemMatrix([&] {
    DenseMatrix D = 0.3 * samples::random_spd(engine, n) + DenseMatrix::Identity(n, n);
    if (!symmetric) samples::add_skew(engine, D, 0.1);
    return D;
  }());
  std::vector<Set> sets;
  while (true) {
    const Set set = samples::random_laws(engine, 1, Kinds::planar)[0];
    if (reaction_size(sets) + set.size > n - 1) break;
    sets.push_back(set);
  }
  const Index m = reaction_size(sets);
  p.problem = {&p.A,
               0,
               samples::random_vector(engine, n, 2.0),
               samples::coordinate_rows(samples::random_coordinates(engine, n, m), n),
               belt ? samples::random_vector(engine, m, 0.5) : Vector(Vector::Zero(m)),
               sets};
}

TEST(PrimalGaussSeidel, SatisfiesTheEquationAndEveryKindOfLaw) {
  Engine engine(75);
  for (int trial = 0; trial < 150; ++trial) {
    Planar p;
    make_planar(engine, p, 4 + static_cast<Index>(engine() % 12), trial % 3 != 0, trial % 2);
    const InclusionSolution s = solve_gauss_seidel(p.problem, {1e-14, 100000});
    ASSERT_EQ(s.status, Status::success) << s.message;
    // A change of 1e-14 per sweep with contraction below 0.999
    EXPECT_LE(s.residuals.equation, 1e-10);
    EXPECT_LE(s.residuals.inclusion, 1e-10);
    samples::expect_laws(p.problem.sets, s.r, p.problem.Wt * s.v - p.problem.w, engine, 1e-9);
  }
}

TEST(PrimalGaussSeidel, APolygonIsNotTheDiskAroundIt) {
  const SystemMatrix A(DenseMatrix(DenseMatrix::Identity(2, 2)));
  PrimalProblem p{&A, 1, Vector(2), samples::coordinate_rows({0, 1}, 2), Vector::Zero(2), {polygon_set(1.0, 4)}};
  p.g << 0.6, 0.6;  // inside the disk of radius 1, outside |x| + |y| <= 1
  const InclusionSolution s = solve_gauss_seidel(p);
  ASSERT_EQ(s.status, Status::success);
  EXPECT_NEAR(s.r[0], -0.5, 1e-15);
  EXPECT_NEAR(s.v[0], 0.1, 1e-15);
}

TEST(PrimalGaussSeidel, AMotionThatDiesOutConverges) {
  BandedMatrix chain(30, 1, 1);
  for (Index i = 0; i < 30; ++i) {
    chain(i, i) = 2.05;
    if (i > 0) chain(i, i - 1) = chain(i - 1, i) = -1;
  }
  const SystemMatrix A(chain);
  const PrimalProblem p{&A, 1, Vector::Zero(30), samples::coordinate_rows({0, 1}, 30), Vector::Zero(2), {disk_set(1)}};
  PrimalGaussSeidel workspace;
  InclusionSolution s;
  s.v = Vector::Ones(30);
  solve_gauss_seidel(p, {1e-12, 2000}, workspace, s);
  EXPECT_EQ(s.status, Status::success);
  EXPECT_LE(s.v.lpNorm<Eigen::Infinity>(), 1e-9);
}

TEST(PrimalGaussSeidel, RefusesConesAndSharedCoordinates) {
  const SystemMatrix A(DenseMatrix(DenseMatrix::Identity(3, 3)));
  PrimalProblem p{
      &A, 1, Vector::Ones(3), samples::coordinate_rows({0, 1, 2}, 3), Vector::Zero(3), {friction_cone_set(0.5, 3)}};
  EXPECT_THROW(solve_gauss_seidel(p), InputError);
  p.sets = {interval_set(1), disk_set(1)};
  p.Wt = samples::coordinate_rows({0, 1, 1}, 3);
  EXPECT_THROW(solve_gauss_seidel(p), InputError);
}

TEST(PrimalGaussSeidel, NotANumberIsReportedAsSuch) {
  const SystemMatrix A(DenseMatrix(DenseMatrix::Identity(2, 2)));
  PrimalProblem p{
      &A, 1, Vector::Constant(2, std::nan("")), samples::coordinate_rows({0, 1}, 2), Vector::Zero(2), {disk_set(1)}};
  PrimalGaussSeidel workspace;
  InclusionSolution s;
  solve_gauss_seidel(p, {}, workspace, s);
  EXPECT_EQ(s.status, Status::not_finite);
}

}  // namespace
}  // namespace stickslip::gauss_seidel_test
