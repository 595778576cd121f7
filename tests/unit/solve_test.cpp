// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/solve.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"
#include "tests/unit/law_checks.hpp"

namespace stickslip::solve_test {
namespace {

using samples::Engine;
using samples::Kinds;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Vector vec(std::initializer_list<double> values) {
  Vector x(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), x.begin());
  return x;
}
DenseMatrix mat(Index rows, std::initializer_list<double> values) {
  return Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>(
      values.begin(), rows, static_cast<Index>(values.size()) / rows);
}

void expect_finite(const InclusionSolution& s) {
  EXPECT_TRUE(s.r.allFinite());
  EXPECT_TRUE(s.u.allFinite());
  EXPECT_TRUE(s.v.allFinite());
  EXPECT_EQ(s.message.empty(), s.status == Status::success) << s.message;
}

TEST(Solve, AnEmptyProblemIsSolved) {
  const InclusionSolution s = solve(DualProblem{DenseMatrix(0, 0), Vector(), {}});
  EXPECT_EQ(s.status, Status::success);
  EXPECT_EQ(s.r.size(), 0);
}

TEST(Solve, OneLawOfEveryKindIsSolved) {
  Engine engine(100);
  for (const Set& set : samples::all_sets()) {
    const Index n = set.size;
    const DualProblem problem{DenseMatrix(0.3 * samples::random_spd(engine, n) + DenseMatrix::Identity(n, n)),
                              samples::random_vector(engine, n, 2.0),
                              {set}};
    if (is_cone(set.kind) && set.limit > 1) continue;  // several solutions or none
    const InclusionSolution s = solve(problem);
    ASSERT_EQ(s.status, Status::success) << samples::label(set) << ": " << s.message;
    expect_finite(s);
    samples::expect_laws({set}, s.r, s.u, engine, 1e-9);
  }
}

TEST(Solve, DegenerateProblemsHaveAStatusAndTheRightVelocity) {
  const struct {
    const char* name;
    DenseMatrix D;
    Vector b;
    std::vector<Set> sets;
    Vector u;
  } cases[] = {
      {"a law without force", mat(2, {2, 1, 1, 2}), vec({-3, 1}), {interval_set(0), interval_set(10)}, vec({-3.5, 0})},
      {"all laws without force", mat(2, {2, 1, 1, 2}), vec({-3, 1}), {interval_set(0), interval_set(0)}, vec({-3, 1})},
      {"the same friction twice, stuck",
       mat(2, {1, 1, 1, 1}),
       vec({1.5, 1.5}),
       {interval_set(1), interval_set(1)},
       vec({0, 0})},
      {"the same friction twice, slipping",
       mat(2, {1, 1, 1, 1}),
       vec({3, 3}),
       {interval_set(1), interval_set(1)},
       vec({1, 1})},
      {"the same constraint twice",
       mat(2, {1. / 3, 1. / 3, 1. / 3, 1. / 3}),
       vec({2, 2}),
       {line_set(), line_set()},
       vec({0, 0})},
      {"the same contact twice, closed",
       mat(2, {.1, .1, .1, .1}),
       vec({-2, -2}),
       {half_line_set(), half_line_set()},
       vec({0, 0})},
      {"the same contact twice, open",
       mat(2, {.1, .1, .1, .1}),
       vec({2, 2}),
       {half_line_set(), half_line_set()},
       vec({2, 2})},
      {"a law that moves nothing, pushed",
       mat(2, {1, 0, 0, 0}),
       vec({-2, 3}),
       {interval_set(1), interval_set(1)},
       vec({-1, 3})},
      {"a law that moves nothing, at rest",
       mat(2, {1, 0, 0, 0}),
       vec({-2, 0}),
       {interval_set(1), interval_set(1)},
       vec({-1, 0})},
      {"nothing moves anything", mat(2, {0, 0, 0, 0}), vec({-2, 1}), {interval_set(1), half_line_set()}, vec({-2, 1})},
      {"a constraint that already holds", mat(1, {0}), vec({0}), {line_set()}, vec({0})},
      {"dependent constraints that agree",
       mat(3, {1, 0, 1, 0, 1, 1, 1, 1, 2}),
       vec({1, 2, 3}),
       {line_set(), line_set(), line_set()},
       vec({0, 0, 0})},
      {"a tie at the limit", mat(1, {2}), vec({2}), {interval_set(1)}, vec({0})},
      {"the same planar friction twice",
       DenseMatrix(DenseMatrix::Identity(2, 2).replicate(2, 2)),
       vec({3, 4, 3, 4}),
       {disk_set(1), disk_set(1)},
       vec({1.8, 2.4, 1.8, 2.4})},
      {"planar friction without force",
       DenseMatrix(DenseMatrix::Identity(2, 2)),
       vec({3, 4}),
       {disk_set(0)},
       vec({3, 4})},
      {"a contact without friction coefficient",
       DenseMatrix(DenseMatrix::Identity(3, 3)),
       vec({-1, 2, 3}),
       {friction_cone_set(0, 3)},
       vec({0, 2, 3})},
  };
  for (const auto& c : cases) {
    const DualProblem problem{c.D, c.b, c.sets};
    const InclusionSolution s = solve(problem);
    ASSERT_EQ(s.status, Status::success) << c.name << ": " << s.message;
    expect_finite(s);
    EXPECT_LE((s.u - c.u).lpNorm<Eigen::Infinity>(), 1e-10) << c.name << ": " << s.u.transpose();
    EXPECT_LE(s.residuals.inclusion, 1e-10) << c.name;
  }
}

TEST(Solve, ProblemsWithoutSolutionAreProvenToHaveNone) {
  const DualProblem cases[] = {
      {mat(1, {0}), vec({3}), {line_set()}},
      {mat(1, {0}), vec({-2}), {half_line_set()}},
      {mat(2, {1, 1, 1, 1}), vec({0, 1}), {line_set(), line_set()}},
      {mat(2, {1, -1, -1, 1}), vec({1, 1}), {line_set(), line_set()}},              // opposite rows that both drift
      {mat(2, {1, -1, -1, 1}), vec({-1, -1}), {half_line_set(), half_line_set()}},  // squeezed from both sides
      {mat(2, {1, 0, 0, 0}), vec({-5, 1e-3}), {interval_set(1), line_set()}},
      {mat(3, {1, 0, 1, 0, 1, 1, 1, 1, 2}), vec({1, 2, 3.01}), {line_set(), line_set(), line_set()}},
      {DenseMatrix(1e6 * mat(2, {1, 1, 1, 1})), vec({0, 1e-3}), {line_set(), line_set()}},
  };
  for (const DualProblem& problem : cases) {
    const InclusionSolution s = solve(problem);
    ASSERT_EQ(s.status, Status::no_solution) << std::get<DenseMatrix>(problem.D) << "\n" << s.message;
    expect_finite(s);
    EXPECT_TRUE(certifies_no_solution(problem, s.certificate));
    // The certificate by hand: y moves nothing and does negative work for ever.
    EXPECT_LE((std::get<DenseMatrix>(problem.D).transpose() * s.certificate).lpNorm<Eigen::Infinity>(),
              1e-8 * std::get<DenseMatrix>(problem.D).lpNorm<Eigen::Infinity>());
    EXPECT_LT(problem.b.dot(s.certificate), 0);
  }
}

TEST(Solve, RandomSemidefiniteProblemsWithASolutionAreSolved) {
  Engine engine(101);
  for (int trial = 0; trial < 200; ++trial) {
    const Index m = 3 + trial % 10, rank = 1 + static_cast<Index>(engine() % static_cast<unsigned long>(m - 1));
    DenseMatrix W(rank, m);
    for (Index k = 0; k < W.size(); ++k) W.data()[k] = samples::draw(engine, -1, 1);
    const std::vector<Set> sets = samples::random_boxes(engine, m);
    // A solution (r, u) made first, so that there is one.
    Vector r(m), u = Vector::Zero(m);
    for (Index i = 0; i < m; ++i) {
      const auto [lo, hi] = samples::bounds(sets[i]);
      const int where = static_cast<int>(engine() % 3);
      if (where == 1 && std::isfinite(lo)) {
        r[i] = lo;
        u[i] = samples::draw(engine, 0, 1);
      } else if (where == 2 && std::isfinite(hi)) {
        r[i] = hi;
        u[i] = -samples::draw(engine, 0, 1);
      } else {
        r[i] = std::isfinite(hi) ? samples::draw(engine, lo, hi) : samples::draw(engine, 0.1, 1);
      }
    }
    const DenseMatrix D = W.transpose() * W;
    const DualProblem problem{D, u - D * r, sets};
    const InclusionSolution s = solve(problem);
    ASSERT_EQ(s.status, Status::success) << trial << ": " << s.message;
    // For symmetric D the velocity is unique; the proximal loop stops at 1e-12 of the reactions, which may be large.
    EXPECT_LE((s.u - u).lpNorm<Eigen::Infinity>(), 1e-7) << trial;
  }
}

TEST(Solve, NonsymmetricMatricesAndConesAreSolvedByDefault) {
  Engine engine(102);
  for (int trial = 0; trial < 100; ++trial) {
    DualProblem problem = samples::random_problem(engine, 1 + trial % 8, Kinds::all);
    samples::add_skew(engine, std::get<DenseMatrix>(problem.D), 0.1);
    const InclusionSolution s = solve(problem);
    ASSERT_EQ(s.status, Status::success) << s.message;
    samples::expect_laws(problem.sets, s.r, s.u, engine, 1e-9);
  }
}

TEST(Solve, BadInputIsRefusedWithAnException) {
  const DenseMatrix I = DenseMatrix::Identity(2, 2);
  const std::vector<Set> two{interval_set(1), interval_set(1)};
  EXPECT_THROW(solve(DualProblem{I, vec({1}), two}), InputError);
  EXPECT_THROW(solve(DualProblem{I, vec({1, 1}), {interval_set(1)}}), InputError);
  EXPECT_THROW(solve(DualProblem{DenseMatrix(DenseMatrix::Zero(2, 3)), vec({1, 1}), two}), InputError);
  EXPECT_THROW(solve(DualProblem{I, vec({1, kNaN}), two}), InputError);
  EXPECT_THROW(solve(DualProblem{I, vec({1, HUGE_VAL}), two}), InputError);
  EXPECT_THROW(solve(DualProblem{mat(2, {1, kNaN, 0, 1}), vec({1, 1}), two}), InputError);
  EXPECT_THROW(solve(DualProblem{BlockSparseMatrix({1, 1}, mat(2, {1, kNaN, 0, 1}).sparseView()), vec({1, 1}), two}),
               InputError);
  EXPECT_THROW(solve(DualProblem{BlockSparseMatrix({2}, I.sparseView()), vec({1, 1}), two}), InputError);
  EXPECT_THROW(solve(DualProblem{I, vec({1, 1}), {interval_set(1), Set{SetKind::interval, 1, kNaN, 0}}}), InputError);
  EXPECT_THROW(solve(DualProblem{I, vec({1, 1}), {interval_set(1), Set{SetKind::interval, 1, -1.0, 0}}}), InputError);
  EXPECT_THROW(solve(DualProblem{I, vec({1, 1}), two}, {}, vec({1})), InputError);
  EXPECT_THROW(solve(DualProblem{I, vec({1, 1}), two}, {SolverKind::automatic, -1, 0, 0}), InputError);

  const SystemMatrix A(I), broken(mat(2, {1, 0, 0, kNaN}));
  const PrimalProblem good{&A, 0, vec({1, 1}), samples::coordinate_rows({0, 1}, 2), vec({0, 0}), two};
  EXPECT_EQ(solve(good).status, Status::success);
  PrimalProblem bad = good;
  bad.A = nullptr;
  EXPECT_THROW(solve(bad), InputError);
  bad = good;
  bad.A = &broken;
  EXPECT_THROW(solve(bad), InputError);
  bad = good;
  bad.g = vec({1});
  EXPECT_THROW(solve(bad), InputError);
  bad = good;
  bad.w = vec({1, kNaN});
  EXPECT_THROW(solve(bad), InputError);
  bad = good;
  bad.Wt.coeffRef(0, 0) = kNaN;
  EXPECT_THROW(solve(bad), InputError);
  bad = good;
  bad.sets.pop_back();
  EXPECT_THROW(solve(bad), InputError);
}

TEST(Solve, SolversAreNamedAndMisspeltNamesCorrected) {
  for (const SolverInfo& info : solver_table()) {
    EXPECT_EQ(solver_from(info.name), info.kind);
    EXPECT_EQ(to_string(info.kind), info.name);
  }
  try {
    solver_from("active-set");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("active_set"), std::string::npos);
  }
}

// ---- primal form ----

SystemMatrix chain(Index n, double stiffness) {
  BandedMatrix A(n, 1, 1);
  for (Index i = 0; i < n; ++i) {
    A(i, i) = 1 + 2 * stiffness;
    if (i > 0) A(i, i - 1) = A(i - 1, i) = -stiffness;
  }
  return SystemMatrix(A);
}

void expect_solution(const PrimalProblem& p, const InclusionSolution& s, double tolerance) {
  ASSERT_EQ(s.status, Status::success) << s.solver << ": " << s.message;
  expect_finite(s);
  const Residuals found = residuals(p, s.v, s.r);
  EXPECT_LE(found.equation, tolerance) << s.solver;
  EXPECT_LE(found.inclusion, tolerance) << s.solver;
  EXPECT_LE((p.Wt * s.v - p.w - s.u).lpNorm<Eigen::Infinity>(), tolerance * (1 + s.v.lpNorm<Eigen::Infinity>()))
      << s.solver;
}

TEST(PrimalSolve, WithoutLawsIsALinearSystem) {
  Engine engine(110);
  const SystemMatrix A = chain(20, 0.5);
  const PrimalProblem p{&A, 0, samples::random_vector(engine, 20), SparseMatrix(0, 20), Vector(), {}};
  const InclusionSolution s = solve(p);
  ASSERT_EQ(s.status, Status::success);
  Vector Av(20);
  A.product(s.v, Av);
  EXPECT_LE((Av - p.g).lpNorm<Eigen::Infinity>(), 1e-14);
}

TEST(PrimalSolve, EverythingStuckIsExactlyAtRest) {
  Engine engine(111);
  const Index n = 40;
  const SystemMatrix A = chain(n, 5.0);
  std::vector<int> rows(n);
  for (Index i = 0; i < n; ++i) rows[i] = static_cast<int>(i);
  for (const bool planar : {false, true}) {
    const std::vector<Set> sets =
        planar ? std::vector<Set>(n / 2, disk_set(10)) : std::vector<Set>(n, interval_set(10));
    const PrimalProblem p{&A,  0, samples::random_vector(engine, n), samples::coordinate_rows(rows, n), Vector::Zero(n),
                          sets};
    const InclusionSolution s = solve(p);
    expect_solution(p, s, 1e-15);
    EXPECT_EQ(s.v, Vector::Zero(n));
    EXPECT_EQ(s.u, Vector::Zero(n));
    EXPECT_EQ(s.r, -p.g);
  }
}

TEST(PrimalSolve, StuckPlanarFrictionHasTheVelocityOfItsSurfaceToTheLastBit) {
  Engine engine(112);
  const Index n = 41;
  int sticking = 0, slipping = 0;
  for (const double stiffness : {0.01, 1.0, 30.0}) {
    const SystemMatrix A = chain(n, stiffness);
    const std::vector<int> rows = samples::random_coordinates(engine, n, n - 1);
    PrimalProblem p{&A, 0, Vector(), samples::coordinate_rows(rows, n), Vector(), {}};
    for (int k = 0; k < (n - 1) / 2; ++k)
      p.sets.push_back(k % 3 == 0 ? polygon_set(1, 8) : k % 3 == 1 ? box_set(1) : disk_set(1));
    PrimalWorkspace workspace;
    InclusionSolution s;
    for (int step = 0; step < 10; ++step) {
      p.g = samples::random_vector(engine, n, 1.5);
      p.w = step % 2 ? samples::random_vector(engine, n - 1, 0.3) : Vector(Vector::Zero(n - 1));
      solve(p, {}, workspace, s);
      expect_solution(p, s, 1e-12);
      EXPECT_LE(membership_residual(p.sets, s.r), 1e-15);
      for (Index k = 0; k + 1 < n; k += 2) {
        const bool stuck = s.u[k] == 0.0 && s.u[k + 1] == 0.0;
        (stuck ? sticking : slipping) += 1;
        if (!stuck) continue;
        EXPECT_EQ(s.v[rows[k]], p.w[k]);
        EXPECT_EQ(s.v[rows[k + 1]], p.w[k + 1]);
      }
    }
  }
  EXPECT_GT(sticking, 50);
  EXPECT_GT(slipping, 50);
}

TEST(PrimalSolve, PlanarFrictionWhereSweepsCrawlIsSolvedThroughTheDual) {
  // A long stiff chain of free masses with planar friction at its ends: Gauss-Seidel needs ~n² sweeps.
  Engine engine(113);
  const Index n = 150;
  const SystemMatrix A = chain(n, 1e5);
  const PrimalProblem p{&A,
                        0,
                        samples::random_vector(engine, n),
                        samples::coordinate_rows({0, 1, 148, 149}, n),
                        Vector::Zero(4),
                        {disk_set(0.5), disk_set(3.0)}};
  const InclusionSolution s = solve(p);
  expect_solution(p, s, 1e-9);  // condition 1e5
}

TEST(PrimalSolve, AFewGeneralDirectionsGoThroughTheDual) {
  Engine engine(114);
  for (const Kinds kinds : {Kinds::planar, Kinds::all}) {
    for (int trial = 0; trial < 20; ++trial) {
      const Index n = 30;
      const SystemMatrix A = chain(n, 0.3);
      const std::vector<Set> sets = samples::random_laws(engine, 5, kinds);
      const Index m = reaction_size(sets);
      const PrimalProblem p{&A,
                            0,
                            samples::random_vector(engine, n),
                            samples::random_directions(engine, m, n),
                            samples::random_vector(engine, m, 0.1),
                            sets};
      const InclusionSolution s = solve(p);
      ASSERT_EQ(s.status, Status::success) << s.message;
      EXPECT_LE(s.residuals.equation, 1e-13);
      samples::expect_laws(p.sets, s.r, s.u, engine, 1e-8);
      EXPECT_LE((p.Wt * s.v - p.w - s.u).lpNorm<Eigen::Infinity>(), 1e-10);
    }
  }
}

TEST(PrimalSolve, StuckPlanarFrictionInGeneralDirectionsReportsNoVelocity) {
  const SystemMatrix A = chain(4, 1.0);
  PrimalProblem p{&A, 0, vec({1, -1, 0.5, 0.2}), SparseMatrix(2, 4), Vector::Zero(2), {disk_set(10)}};
  p.Wt.insert(0, 0) = 1;
  p.Wt.insert(0, 1) = -1;
  p.Wt.insert(1, 2) = 1;
  p.Wt.insert(1, 3) = -1;
  const InclusionSolution s = solve(p);
  expect_solution(p, s, 1e-12);
  EXPECT_EQ(s.u, Vector::Zero(2));
}

/// Friction between neighbours: W's rows are differences, D is dense.
PrimalProblem relative_friction(const SystemMatrix& A, Index n, Engine& engine) {
  PrimalProblem p{&A,
                  0,
                  samples::random_vector(engine, n, 2.0),
                  SparseMatrix(n - 1, n),
                  Vector::Zero(n - 1),
                  samples::random_intervals(engine, n - 1, 0.0, 1.0)};
  for (Index k = 0; k + 1 < n; ++k) {
    p.Wt.insert(k, k) = -1;
    p.Wt.insert(k, k + 1) = 1;
  }
  p.Wt.makeCompressed();
  return p;
}

TEST(PrimalSolve, ManyGeneralDirectionsUseTheAugmentedSystem) {
  Engine engine(115);
  const Index n = 400;
  const SystemMatrix A = chain(n, 0.2);
  PrimalProblem p = relative_friction(A, n, engine);
  PrimalWorkspace workspace;
  InclusionSolution s;
  for (int step = 0; step < 3; ++step) {
    p.g = samples::random_vector(engine, n, 2.0);
    p.w = samples::random_vector(engine, n - 1, 0.2);
    solve(p, {}, workspace, s);
    EXPECT_EQ(s.solver, "active_set");
    expect_solution(p, s, 1e-13);
    EXPECT_LE(samples::box_violation(p.sets, s.r, s.u), 0.0);
  }
  EXPECT_EQ(workspace.dual_version, kNoVersion) << "D was formed";
  const InclusionSolution dual = solve(to_dual(p));
  EXPECT_LE((dual.r - s.r).lpNorm<Eigen::Infinity>(), 1e-10);
}

TEST(PrimalSolve, ManyDependentDirectionsFallBackToTheDual) {
  Engine engine(116);
  const Index n = 320;
  const SystemMatrix A = chain(n, 0.2);
  PrimalProblem p = relative_friction(A, n, engine);
  // The last law repeats the first; both constraints, so that nothing but the sum of their reactions is determined.
  p.Wt.coeffRef(n - 2, n - 2) = p.Wt.coeffRef(n - 2, n - 1) = 0;
  p.Wt.coeffRef(n - 2, 0) = -1;
  p.Wt.coeffRef(n - 2, 1) = 1;
  p.Wt.prune(0.0);
  p.sets.front() = p.sets.back() = line_set();
  const InclusionSolution s = solve(p);
  expect_solution(p, s, 1e-9);
  EXPECT_NEAR(s.v[0], s.v[1], 1e-9);
}

TEST(PrimalSolve, TheProjectedIterationAgreesWithTheDefault) {
  Engine engine(117);
  for (const Index n : {5, 250}) {
    const SystemMatrix A = chain(n, 0.4);
    const PrimalProblem p = relative_friction(A, n, engine);
    PrimalWorkspace workspace;
    InclusionSolution s;
    solve(p, {SolverKind::projected_iteration, 1e-13, 0, 0}, workspace, s);
    EXPECT_EQ(s.solver, "projected_iteration");
    expect_solution(p, s, 1e-9);
    EXPECT_LE((s.v - solve(p).v).lpNorm<Eigen::Infinity>(), 1e-8);
  }
}

TEST(PrimalSolve, TheProjectedIterationRefusesConesAndMatricesThatAreNotSymmetric) {
  Engine engine(118);
  DenseMatrix skewed = samples::random_spd(engine, 3);
  samples::add_skew(engine, skewed, 0.5);
  const SystemMatrix A(skewed), B(samples::random_spd(engine, 3));
  const SparseMatrix Wt = samples::coordinate_rows({0, 1, 2}, 3);
  const PrimalProblem not_symmetric{&A, 0, Vector::Ones(3), Wt, Vector::Zero(3), std::vector<Set>(3, interval_set(1))};
  const PrimalProblem contact{&B, 0, Vector::Ones(3), Wt, Vector::Zero(3), {friction_cone_set(0.3, 3)}};
  for (const PrimalProblem* p : {&not_symmetric, &contact}) {
    const InclusionSolution s = solve(*p, {SolverKind::projected_iteration, 1e-12, 0, 0});
    EXPECT_EQ(s.status, Status::refused);
    expect_finite(s);
    EXPECT_EQ(s.u.size(), 3);
    EXPECT_EQ(s.v.size(), 3);
  }
}

TEST(PrimalSolve, EverySolverServesAProblemOnCoordinates) {
  Engine engine(119);
  const Index n = 12;
  const SystemMatrix A = chain(n, 0.4);
  const PrimalProblem p{&A,
                        0,
                        samples::random_vector(engine, n, 2.0),
                        samples::coordinate_rows(samples::random_coordinates(engine, n, 8), n),
                        samples::random_vector(engine, 8, 0.2),
                        samples::random_intervals(engine, 8, 0.1, 1)};
  const Vector v = solve(p).v;
  PrimalWorkspace workspace;
  InclusionSolution s;
  for (const SolverInfo& info : solver_table()) {  // one workspace: a change of solver is noticed
    solve(p, {info.kind, 1e-13, 0, 0}, workspace, s);
    expect_solution(p, s, 1e-10);
    EXPECT_LE((s.v - v).lpNorm<Eigen::Infinity>(), 1e-9) << info.name;
  }
}

TEST(PrimalSolve, AStepMatrixThatIsNotPositiveDefiniteIsNotSolvedSilently) {
  const SystemMatrix A(mat(2, {1, 3, 3, 1}));
  PrimalProblem p{
      &A, 0, vec({30, 0}), samples::coordinate_rows({0, 1}, 2), Vector::Zero(2), {interval_set(1), interval_set(1)}};
  EXPECT_EQ(solve(p).status, Status::refused);
  p.Wt.coeffRef(0, 1) = 1;
  EXPECT_THROW(solve(p), InputError);
}

TEST(PrimalSolve, NotANumberInAStepNeverPassesForASolution) {
  Engine engine(120);
  const Index n = 6;
  const SystemMatrix A = chain(n, 0.4);
  const std::vector<Set> boxes(4, interval_set(1)), disks(2, disk_set(1));
  for (const SolverInfo& info : solver_table())
    for (const auto& sets : {boxes, disks})
      for (const bool general : {false, true}) {
        PrimalProblem p{
            &A, 0, samples::random_vector(engine, n), samples::coordinate_rows({0, 1, 2, 3}, n), Vector::Zero(4), sets};
        if (general) p.Wt.coeffRef(0, 5) = 0.5;
        for (const Index bad : {0, 5}) {
          p.g.setOnes();
          p.g[bad] = kNaN;
          PrimalWorkspace workspace;
          InclusionSolution s;
          try {
            solve(p, {info.kind, 1e-12, 0, 0}, workspace, s);
            EXPECT_NE(s.status, Status::success) << info.name << " general " << general << " bad " << bad;
          } catch (const InputError&) {
          }
        }
      }
}

}  // namespace
}  // namespace stickslip::solve_test
