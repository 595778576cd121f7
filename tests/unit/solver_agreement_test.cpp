// SPDX-License-Identifier: Apache-2.0
// The same problems through every solver: one answer, at the cost the reference table of paper 1's problems predicts.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve.hpp"
#include "tests/unit/law_checks.hpp"

namespace stickslip::solver_agreement_test {
namespace {

using samples::Engine;
using samples::Kinds;

TEST(SolverAgreement, AllSolversGiveTheSameVelocityForBoxes) {
  Engine engine(90);
  int newton = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const Index d = 1 + trial % 9;
    const DualProblem problem{samples::random_spd(engine, d, 0.2), samples::random_vector(engine, d, 2.0),
                              samples::random_boxes(engine, d)};
    const InclusionSolution exact = solve(problem);
    ASSERT_EQ(exact.status, Status::success);
    for (const SolverInfo& info : solver_table()) {
      const InclusionSolution s = solve(problem, {info.kind, 1e-12, 0, 0});
      if (s.status != Status::success && info.kind == SolverKind::semismooth_newton) continue;  // no guarantee alone
      newton += info.kind == SolverKind::semismooth_newton;
      ASSERT_EQ(s.status, Status::success) << info.name << ": " << s.message;
      EXPECT_LE((s.u - exact.u).lpNorm<Eigen::Infinity>(), 1e-8) << info.name;
      EXPECT_LE(s.residuals.inclusion, 1e-9) << info.name;
    }
  }
  EXPECT_GE(newton, 57);
}

TEST(SolverAgreement, AllSolversGiveTheSameVelocityForPlanarFriction) {
  Engine engine(91);
  for (int trial = 0; trial < 60; ++trial) {
    const DualProblem problem = samples::random_problem(engine, 1 + trial % 5, Kinds::planar);
    const InclusionSolution reference = solve(problem);
    ASSERT_EQ(reference.status, Status::success);
    for (const SolverKind kind : {SolverKind::gauss_seidel, SolverKind::projected_iteration}) {
      const InclusionSolution s = solve(problem, {kind, 1e-12, 1000000, 0});
      ASSERT_EQ(s.status, Status::success) << s.solver << ": " << s.message;
      EXPECT_LE((s.u - reference.u).lpNorm<Eigen::Infinity>(), 1e-7) << s.solver;
    }
  }
}

// Sheet 4.5: iterations to 1e-10 on λ, mean over 5 random loads; orders of magnitude.
struct Row {
  const char* name;
  Index d;
  double projected, gauss_seidel, active_set;
};

DenseMatrix mass(const std::string& name, Index d, Engine& engine) {
  if (name == "fem") return samples::fem_mass(d);
  if (name == "chain") return samples::chain_mass(d);
  return samples::random_spd(engine, d);
}

TEST(SolverAgreement, IterationsAreThoseOfTheReferenceTableWithinAFactorOfThree) {
  constexpr double tau = 0.003;
  const Row table[] = {{"fem", 10, 39, 8, 4},     {"fem", 100, 100, 13, 4}, {"rand", 10, 318, 31, 6},
                       {"rand", 100, 401, 38, 8}, {"chain", 10, 71, 12, 4}, {"chain", 100, 185, 38, 6}};
  for (const Row& row : table) {
    Engine engine(92);
    double projected = 0, swept = 0, exchanged = 0, stuck = 0;
    constexpr int loads = 5;
    for (int load = 0; load < loads; ++load) {
      const DenseMatrix M = mass(row.name, row.d, engine);
      std::vector<Set> sets;
      for (Index k = 0; k < row.d; ++k) sets.push_back(interval_set(tau * samples::draw(engine, 0.5, 1.5)));
      const DualProblem problem = samples::from_mass(M, M * samples::random_vector(engine, row.d, 5 * tau), sets);
      const InclusionSolution exact = solve_active_set(problem);
      ASSERT_EQ(exact.status, Status::success);
      exchanged += exact.iterations;
      for (const double u : exact.u) stuck += u == 0.0;
      const InclusionSolution paper = solve_projected_iteration(problem, {0, 1e-10, 100000});
      ASSERT_EQ(paper.status, Status::success);
      projected += paper.iterations;
      // Gauss-Seidel until λ is that of the exact solution to 1e-10.
      InclusionSolution gs;
      gs.r = Vector::Zero(row.d);
      double error = 1;
      for (int sweep = 1; error > 1e-10 && sweep < 1000; ++sweep) {
        gs = solve_contacts(problem, {.method = ContactMethod::gauss_seidel, .tolerance = 1e-300, .max_iterations = 1},
                            gs.r);
        error = 0;
        for (Index k = 0; k < row.d; ++k) error = std::max(error, std::abs(gs.r[k] - exact.r[k]) / sets[k].limit);
        ++swept;
      }
      EXPECT_LE(error, 1e-10);
    }
    EXPECT_LE(stuck, 0.5 * loads * static_cast<double>(row.d));  // the table's loads: 0-50 % stick
    const std::string label = std::string(row.name) + " " + std::to_string(row.d);
    for (const auto& [found, expected, solver] : {std::tuple{projected, row.projected, "projected"},
                                                  {swept, row.gauss_seidel, "gauss_seidel"},
                                                  {exchanged, row.active_set, "active_set"}}) {
      EXPECT_LE(found / loads, 3 * expected) << label << " " << solver;
      EXPECT_GE(found / loads, expected / 3) << label << " " << solver;
    }
  }
}

}  // namespace
}  // namespace stickslip::solver_agreement_test
