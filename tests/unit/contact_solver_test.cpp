// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_solver.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <atomic>
#include <limits>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/condensation.hpp"
#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve.hpp"
#include "tests/unit/law_checks.hpp"

namespace stickslip::contact_solver_test {
namespace {

using Eigen::Vector3d;
using samples::Engine;
using samples::Kinds;

// ---- bodies in contact, 6 coordinates each (velocity, spin) ----

struct Touch {
  int body, other;  ///< other = -1: the ground
  Vector3d normal;  ///< from other to body
  Vector3d arm, other_arm;
};

SparseMatrix directions(int bodies, const std::vector<Touch>& touches) {
  std::vector<Eigen::Triplet<double, int>> entries;
  int row = 0;
  for (const Touch& touch : touches) {
    const Vector3d axis = std::abs(touch.normal[0]) < 0.8 ? Vector3d::UnitX() : Vector3d::UnitY();
    const Vector3d t1 = (axis - touch.normal * touch.normal.dot(axis)).normalized(), t2 = touch.normal.cross(t1);
    for (const Vector3d& d : {touch.normal, t1, t2}) {
      auto put = [&](int body, const Vector3d& arm, double sign) {
        if (body < 0) return;
        const Vector3d moment = arm.cross(d);
        for (int c = 0; c < 3; ++c) {
          entries.emplace_back(row, 6 * body + c, sign * d[c]);
          entries.emplace_back(row, 6 * body + 3 + c, sign * moment[c]);
        }
      };
      put(touch.body, touch.arm, 1);
      put(touch.other, touch.other_arm, -1);
      ++row;
    }
  }
  SparseMatrix Wt(3 * static_cast<Index>(touches.size()), 6 * bodies);
  Wt.setFromTriplets(entries.begin(), entries.end());
  return Wt;
}

SystemMatrix masses(int bodies, double mass, double inertia) {
  BandedMatrix A(6 * bodies, 0, 0);
  for (int k = 0; k < 6 * bodies; ++k) A(k, k) = k % 6 < 3 ? mass : inertia;
  return SystemMatrix(A);
}

PrimalProblem assemble(const SystemMatrix& A, const std::vector<Touch>& touches, double mu) {
  PrimalProblem p;
  p.A = &A;
  p.g = Vector::Zero(A.size());
  p.Wt = directions(static_cast<int>(A.size() / 6), touches);
  p.w = Vector::Zero(p.Wt.rows());
  p.sets.assign(touches.size(), friction_cone_set(mu, 3));
  return p;
}

std::vector<Touch> cube_on_a_plane() {
  std::vector<Touch> touches;
  for (const double x : {-0.5, 0.5})
    for (const double y : {-0.5, 0.5})
      touches.push_back({0, -1, Vector3d::UnitZ(), Vector3d(x, y, -0.5), Vector3d::Zero()});
  return touches;
}

/// Spheres of radius 1/2 piled on n x n spheres; every contact is a resting one.
std::vector<Touch> pyramid(int n, int& bodies) {
  std::vector<Vector3d> centres;
  for (int level = 0; level < n; ++level)
    for (int i = 0; i < n - level; ++i)
      for (int j = 0; j < n - level; ++j)
        centres.emplace_back(i + 0.5 * level, j + 0.5 * level, level * std::sqrt(0.5));
  bodies = static_cast<int>(centres.size());
  std::vector<Touch> touches;
  for (int i = 0; i < bodies; ++i) {
    if (centres[i][2] == 0) touches.push_back({i, -1, Vector3d::UnitZ(), -0.5 * Vector3d::UnitZ(), Vector3d::Zero()});
    for (int j = 0; j < i; ++j) {
      const Vector3d d = centres[i] - centres[j];
      if (d.norm() < 1 + 1e-9) touches.push_back({i, j, d, -0.5 * d, 0.5 * d});
    }
  }
  return touches;
}

TEST(ContactSolver, ACubeRestsOnFourCornersInFewIterations) {
  const SystemMatrix A = masses(1, 1.0, 1.0 / 6);
  PrimalProblem p = assemble(A, cube_on_a_plane(), 0.5);  // D has rank 6 of 12
  PrimalWorkspace workspace;
  InclusionSolution s;
  for (int step = 0; step < 50; ++step) {
    if (step % 10 == 0) s.r.resize(0);  // cold, then warm
    p.g[2] = -0.0981;
    p.g[0] = 0.0981 * 0.01 * step;  // pushed sideways; slides beyond 0.5
    solve(p, {}, workspace, s);
    ASSERT_EQ(s.status, Status::success) << s.message;
    EXPECT_LE(s.iterations, 20) << step;
    EXPECT_LE(residuals(p, s.v, s.r).inclusion, 1e-12);
    double normal = 0;
    for (int k = 0; k < 4; ++k) normal += s.r[3 * k];
    EXPECT_NEAR(normal, 0.0981, 1e-12);
    EXPECT_NEAR(s.v[0], std::max(0.0, p.g[0] - 0.5 * 0.0981), 1e-11) << step;
  }
}

TEST(ContactSolver, TheSameProblemGivesTheSameBitsTwice) {
  int bodies = 0;
  const std::vector<Touch> touches = pyramid(4, bodies);
  const SystemMatrix A = masses(bodies, 1.0, 0.1);
  PrimalProblem p = assemble(A, touches, 0.5);
  for (int b = 0; b < bodies; ++b) p.g[6 * b + 2] = -0.0981;
  const InclusionSolution first = solve(p), second = solve(p);
  EXPECT_EQ(first.status, Status::success) << first.message;
  EXPECT_EQ(first.r, second.r);
  EXPECT_EQ(first.iterations, second.iterations);
}

TEST(ContactSolver, APileStopsOnTheStrictErrorItWasAskedFor) {
  int bodies = 0;
  const std::vector<Touch> touches = pyramid(4, bodies);  // 112 contacts, hyperstatic
  const SystemMatrix A = masses(bodies, 1.0, 0.1);
  PrimalProblem p = assemble(A, touches, 0.3);
  for (int b = 0; b < bodies; ++b) p.g[6 * b + 2] = -0.0981;
  Condensation condensed;
  condensed.refresh(p);
  const DualProblem dual{condensed.D(), condensed.b(), p.sets};
  EXPECT_LE((to_dense(dual.D) - to_dense(to_dual(p).D)).lpNorm<Eigen::Infinity>(), 1e-14);
  const InclusionSolution s =
      solve_contacts(dual, {ContactMethod::strategy, StoppingMeasure::strict_error, 1e-9, 0, 0});
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_LE(s.residuals.strict_error, 1e-9);
  EXPECT_LE(s.residuals.error, s.residuals.strict_error);
  EXPECT_EQ(s.residuals.membership, 0);  // the answer lies in the cones, not only near them
  Engine engine(410);
  samples::expect_laws(dual.sets, s.r, s.u, engine, 1e-7);
}

TEST(ContactSolver, EveryMethodByNameSolvesContactsBesideOtherLaws) {
  Engine engine(411);
  for (int trial = 0; trial < 30; ++trial) {
    const DualProblem problem = samples::random_problem(engine, 2 + trial % 6, Kinds::all);
    const InclusionSolution reference = solve(problem);
    ASSERT_EQ(reference.status, Status::success) << reference.message;
    for (const SolverKind kind : {SolverKind::gauss_seidel, SolverKind::accelerated_gauss_seidel,
                                  SolverKind::proximal_newton, SolverKind::smoothing_newton}) {
      const InclusionSolution s = solve(problem, {kind, 1e-10, 0, 0});
      ASSERT_EQ(s.status, Status::success) << to_string(kind) << ": " << s.message;
      EXPECT_LE((s.r - reference.r).lpNorm<Eigen::Infinity>(), 1e-7) << to_string(kind);
    }
  }
}

TEST(ContactSolver, ABodySqueezedBetweenTwoWallsIsProvenToHaveNoSolution) {
  // Walls that close at 0.1 m/s each: the reactions would grow for ever, and a residual relative to them vanishes.
  const SystemMatrix A = masses(1, 1.0, 1.0 / 6);
  PrimalProblem p = assemble(A,
                             {{0, -1, Vector3d::UnitZ(), Vector3d(0, 0, -0.5), Vector3d::Zero()},
                              {0, -1, -Vector3d::UnitZ(), Vector3d(0, 0, 0.5), Vector3d::Zero()}},
                             0.5);
  p.w[0] = p.w[3] = 0.1;
  const InclusionSolution s = solve(p);
  ASSERT_EQ(s.status, Status::no_solution) << s.message;
  EXPECT_TRUE(certifies_no_solution(to_dual(p), s.certificate));
  EXPECT_EQ(solve(to_dual(p)).status, Status::no_solution);
  p.w[3] = -0.1;  // the upper wall retreats as fast as the lower one comes: solvable
  EXPECT_EQ(solve(p).status, Status::success);
}

TEST(ContactSolver, WhatRoundingTookFromDIsNoProofThatThereIsNoSolution) {
  // A box on its lower corners. Its mass is so large beside its moment of inertia that 1/m is rounded away from every
  // entry of D, which then is that of a body between two walls; and yet reactions m v/4 carry it.
  const std::vector<Touch> corners = {{0, -1, Vector3d::UnitZ(), Vector3d(0.1, 0.1, -0.1), Vector3d::Zero()},
                                      {0, -1, Vector3d::UnitZ(), Vector3d(-0.1, 0.1, -0.1), Vector3d::Zero()},
                                      {0, -1, Vector3d::UnitZ(), Vector3d(0.1, -0.1, -0.1), Vector3d::Zero()},
                                      {0, -1, Vector3d::UnitZ(), Vector3d(-0.1, -0.1, -0.1), Vector3d::Zero()}};
  for (const double mass : {1e16, 1e20, 1e30}) {
    const SystemMatrix A = masses(1, mass, 0.01);
    PrimalProblem p = assemble(A, corners, 0.5);
    p.g[2] = -0.05 * mass;
    const InclusionSolution s = solve(p, {.max_iterations = 2000});
    EXPECT_NE(s.status, Status::no_solution) << mass;
    EXPECT_EQ(s.certificate.size(), 0) << mass;
  }
}

TEST(ContactSolver, ContactsThatDoNotTouchEachOtherMayBeOfAnySize) {
  std::vector<Set> sets;
  DenseMatrix D = DenseMatrix::Zero(12, 12);
  Vector b(12);
  for (int k = 0; k < 4; ++k) {
    sets.push_back(friction_cone_set(0.4, 3));
    D.diagonal().segment(3 * k, 3).setConstant(std::pow(10.0, -150 + 100 * k));
    b.segment(3 * k, 3) << -1, 0.3, 0.1;
  }
  const InclusionSolution s = solve(DualProblem{D, b, sets});
  ASSERT_EQ(s.status, Status::success) << s.message;
  for (int k = 0; k < 4; ++k)  // all stick: r = -b/d
    for (int c = 0; c < 3; ++c) EXPECT_NEAR(s.r[3 * k + c] * D(3 * k, 3 * k), -b[3 * k + c], 1e-11) << k;
}

TEST(ContactSolver, LimitsEndASolveWithAStatusAndARemedy) {
  int bodies = 0;
  const std::vector<Touch> touches = pyramid(5, bodies);
  const SystemMatrix A = masses(bodies, 1.0, 0.1);
  PrimalProblem p = assemble(A, touches, 0.8);
  for (int b = 0; b < bodies; ++b) p.g[6 * b + 2] = -0.0981;
  SolveOptions options;
  options.max_iterations = 3;
  InclusionSolution s = solve(p, options);
  EXPECT_EQ(s.status, Status::not_converged);
  EXPECT_LE(s.iterations, 3);
  EXPECT_NE(s.message.find("max_iterations"), std::string::npos);
  options = {};
  options.max_seconds = 1e-6;
  s = solve(p, options);
  EXPECT_EQ(s.status, Status::not_converged);
  EXPECT_NE(s.message.find("max_seconds"), std::string::npos);
  EXPECT_THROW((ContactOptions{ContactMethod::strategy, StoppingMeasure::inclusion, -1, 0, 0}.validate()), InputError);
  EXPECT_THROW((ContactOptions{ContactMethod::strategy, StoppingMeasure::inclusion, 1, 0, -1}.validate()), InputError);
}

TEST(ContactSolver, AStopRequestEndsASolveAndIsNotTakenForAFailure) {
  int bodies = 0;
  const std::vector<Touch> touches = pyramid(5, bodies);
  const SystemMatrix A = masses(bodies, 1.0, 0.1);
  PrimalProblem p = assemble(A, touches, 0.8);
  for (int b = 0; b < bodies; ++b) p.g[6 * b + 2] = -0.0981;
  std::atomic<bool> stop{true};
  SolveOptions options;
  options.stop = &stop;
  InclusionSolution s = solve(p, options);
  EXPECT_EQ(s.status, Status::interrupted);
  EXPECT_LE(s.iterations, 1);
  EXPECT_EQ(s.r.size(), p.w.size());
  stop = false;
  s = solve(p, options);
  EXPECT_EQ(s.status, Status::success) << s.message;
}

TEST(ContactSolver, TheNumberOfContactsMayChangeFromStepToStep) {
  const SystemMatrix A = masses(1, 1.0, 1.0 / 6);
  const std::vector<Touch> corners = cube_on_a_plane();
  PrimalWorkspace workspace;
  InclusionSolution s;
  for (unsigned long step = 1; step <= 12; ++step) {
    const std::vector<Touch> touching(corners.begin(), corners.begin() + static_cast<std::ptrdiff_t>(step % 5));
    PrimalProblem p = assemble(A, touching, 0.5);
    p.A_version = step;
    p.g << 0.01, 0, -0.1, 0, 0, 0;
    solve(p, {}, workspace, s);
    ASSERT_EQ(s.status, Status::success) << step << s.message;
    EXPECT_EQ(s.r.size(), p.w.size());
    const Residuals found = residuals(p, s.v, s.r);
    EXPECT_LE(found.equation, 1e-13);
    EXPECT_LE(found.inclusion, 1e-12);
  }
}

// ---- units ----

DualProblem pile_step(double mu) {
  int bodies = 0;
  const std::vector<Touch> touches = pyramid(3, bodies);
  const SystemMatrix A = masses(bodies, 1.0, 0.1);
  PrimalProblem p = assemble(A, touches, mu);
  for (int b = 0; b < bodies; ++b) {
    p.g[6 * b + 2] = -0.0981;
    p.g[6 * b] = 0.03 * (b % 3);
  }
  return to_dual(p);
}

DualProblem in_other_units(const DualProblem& p, double mobility, double velocity) {
  return {DenseMatrix(mobility * std::get<DenseMatrix>(p.D)), Vector(velocity * p.b), p.sets};
}

SolveOptions strictly(double tolerance) {
  SolveOptions options;
  options.measure = StoppingMeasure::strict_error;
  options.tolerance = tolerance;
  return options;
}

TEST(ContactSolver, UnitsOfTwoChangeNoDigitOfTheSolution) {
  const DualProblem p = pile_step(0.3);
  SolveOptions options;
  options.measure = StoppingMeasure::unit_free;
  options.tolerance = 1e-9;
  const InclusionSolution s = solve(p, options);
  ASSERT_EQ(s.status, Status::success) << s.message;
  for (const int k : {-500, -300, -20, 20, 300, 500})
    for (const int j : {-480, -20, 20, 480}) {
      const InclusionSolution t = solve(in_other_units(p, std::ldexp(1.0, k), std::ldexp(1.0, j)), options);
      EXPECT_EQ(t.status, Status::success) << k << " " << j << " " << t.message;
      EXPECT_EQ(t.iterations, s.iterations) << k << " " << j;
      // Products of two such numbers may leave the range in which digits are kept; those are not asked for.
      if (std::abs(j - k) > 960) continue;
      EXPECT_EQ((std::ldexp(1.0, k - j) * t.r - s.r).lpNorm<Eigen::Infinity>(), 0) << k << " " << j;
    }
}

TEST(ContactSolver, ASolutionIsOneInEverySystemOfUnits) {
  const DualProblem p = pile_step(0.3);
  const InclusionSolution s = solve(p, strictly(1e-9));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_LE(s.residuals.strict_error, 1e-9);
  const double speed = s.u.lpNorm<Eigen::Infinity>();
  for (const double k : {1e-150, 1e-100, 1e-6, 1e-3, 1e3, 1e6, 1e100, 1e150})
    for (const double j : {1e-150, 1e-6, 1.0, 1e6, 1e150}) {
      const InclusionSolution t = solve(in_other_units(p, k, j), strictly(1e-9));
      EXPECT_EQ(t.status, Status::success) << k << " " << j << ": " << t.message;
      EXPECT_LE(t.residuals.unit_free, 1e-9) << k << " " << j;
      EXPECT_LE((t.u / j - s.u).lpNorm<Eigen::Infinity>(), 1e-6 * speed) << k << " " << j;
    }
}

TEST(ContactSolver, AMeasureWithRhoOneCannotMakeASuccess) {
  // Where D is large reactions are small numbers: r is 27 times too large, u = 26 |b|, and ρ = 1 does not see it.
  const DualProblem p{
      DenseMatrix(1e12 * DenseMatrix::Identity(3, 3)), Vector(Eigen::Vector3d(-1, 0, 0)), {friction_cone_set(0.5, 3)}};
  const Residuals wrong = residuals(p, Eigen::Vector3d(27e-12, 0, 0));
  EXPECT_LE(wrong.strict_error, 1e-8);
  EXPECT_GT(wrong.unit_free, 1);
  // And nothing underflows to a perfect residual, or overflows to none.
  const Vector none = Vector::Zero(pile_step(0.3).b.size());
  EXPECT_GT(residuals(in_other_units(pile_step(0.3), 1, 1e-160), none).unit_free, 0.1);
  EXPECT_TRUE(std::isfinite(residuals(in_other_units(pile_step(0.3), 1, 1e150), none).unit_free));
}

// ---- what has no solution, and what only seems so ----

/// A mass of 1 under one of `ratio`, normals in a row: the reactions are `ratio` times what stops the light mass.
DualProblem stack(double ratio) {
  DenseMatrix D = DenseMatrix::Zero(6, 6);
  for (int c = 0; c < 3; ++c) {
    D(c, c) = 1;
    D(c, 3 + c) = D(3 + c, c) = -1;
    D(3 + c, 3 + c) = 1 + 1 / ratio;
  }
  Vector b = Vector::Zero(6);
  b[0] = -0.01;
  return {D, b, std::vector<Set>(2, friction_cone_set(0.5, 3))};
}

TEST(ContactSolver, AHeavyMassOnALightOneIsSolvedOrHonestlyNot) {
  for (const double ratio : {1e2, 1e4, 1e6, 1e7, 1e8, 1e9, 1e12, 1e14}) {
    const DualProblem p = stack(ratio);
    const InclusionSolution s = solve(p, strictly(1e-6));
    ASSERT_NE(s.status, Status::no_solution) << ratio;
    if (ratio <= 1e8) {
      EXPECT_EQ(s.status, Status::success) << ratio << ": " << s.message;
    }
    if (s.status == Status::success) {
      EXPECT_NEAR(s.r[0], 0.01 * (1 + ratio), 1e-5 * ratio) << ratio;
    }
  }
}

TEST(ContactSolver, WithoutMobilityTheAnswerIsImmediate) {
  DualProblem p{DenseMatrix(DenseMatrix::Zero(6, 6)), Vector::Zero(6), std::vector<Set>(2, friction_cone_set(0.5, 3))};
  p.b << 1, 2, 0, 0, -3, 1;
  InclusionSolution s = solve(p);
  EXPECT_EQ(s.status, Status::success);
  EXPECT_EQ(s.r, Vector(Vector::Zero(6)));
  p.b[3] = -1e-9;
  s = solve(p);
  EXPECT_EQ(s.status, Status::no_solution);
  EXPECT_EQ(s.iterations, 0);
  EXPECT_TRUE(certifies_no_solution(p, s.certificate));
}

TEST(ContactSolver, NumbersThatAreNoneAreRefusedAndExtremeCoefficientsSolved) {
  DualProblem p = pile_step(0.5);
  DualProblem broken = p;
  broken.b[4] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solve(broken), InputError);
  broken = p;
  std::get<DenseMatrix>(broken.D)(2, 1) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(solve(broken), InputError);
  for (const double mu : {0.0, 1e-9, 1e4}) {
    const InclusionSolution s = solve(pile_step(mu), strictly(1e-8));
    EXPECT_EQ(s.status, Status::success) << mu << ": " << s.message;
  }
  // The shift μ |u_T| carries the round-off of u_T times μ: nine digits are lost at μ = 1e9.
  const InclusionSolution rough = solve(pile_step(1e9), strictly(1e-6));
  EXPECT_EQ(rough.status, Status::success) << rough.message;
  EXPECT_EQ(solve(DualProblem{DenseMatrix(0, 0), Vector(0), {}}).status, Status::success);
}

TEST(ContactSolver, OfTwoSolutionsOfOneContactTheOpenOneIsTaken) {
  // mu |D_NT| > D_NN: r = 0 and r = (2, -6) both obey Coulomb's law.
  DenseMatrix D(2, 2);
  D << 1, 0.5, 0.5, 1;
  Vector b(2), other(2);
  b << 1, 10;
  other << 2, -6;
  const DualProblem p{D, b, {friction_cone_set(3, 2)}};
  EXPECT_LE(residuals(p, other).unit_free, 1e-15);
  const InclusionSolution s = solve(p, {}, other);  // whatever the start
  EXPECT_EQ(s.status, Status::success);
  EXPECT_EQ(s.r, Vector(Vector::Zero(2)));
}

}  // namespace
}  // namespace stickslip::contact_solver_test
