// SPDX-License-Identifier: Apache-2.0
// A stuck coordinate is constant to the last bit; the energy balance closes to round-off; the audit sees what is wrong.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/support/audit_value.hpp"
#include "tests/support/chain.hpp"
#include "tests/support/one_mass.hpp"
#include "tests/support/paper1_benchmark.hpp"
#include "tests/support/two_hinges.hpp"

namespace stickslip::sticking_test {
namespace {

TEST(Sticking, StuckCoordinateOfTheBenchmarkIsConstantToTheLastBit) {
  const Trajectory t =
      simulate(*paper1::system(), paper1::initial(), paper1::options(SchemeKind::moreau, 1332)).trajectory;
  int stuck = 0;
  for (Index k = 1; k < t.rows(); ++k)
    for (Index i = 0; i < 2; ++i)
      if (t.mode(k, i) == Mode::stick && t.mode(k - 1, i) == Mode::stick) {
        ++stuck;
        ASSERT_EQ(t.q(k, i), t.q(k - 1, i)) << t.t(k);
        ASSERT_EQ(t.v(k, i), 0.0);
      }
  EXPECT_GT(stuck, 1200);  // x1 on [1, 2] and [3, 4], x2 on [0, 2]
}

TEST(Sticking, SplittingCreepsAndSaysSo) {
  const Simulation s = simulate(*paper1::system(), paper1::initial(), paper1::options(SchemeKind::splitting, 1333));
  EXPECT_GT(audit_value(s, "stuck_motion"), 1e-4);
}

TEST(Sticking, ForATenMillionthOfTheLoadTheChainDoesNotMoveByABit) {
  // Every spring is loaded but no law reaches its limit: 10^5 steps later nothing has moved.
  MatrixModel model;
  const Index n = 20;
  SparseMatrix M(n, n), K(n, n);
  for (Index i = 0; i < n; ++i) {
    model.coordinates.push_back("x" + std::to_string(i + 1));
    M.insert(i, i) = 1;
    if (i > 0) K.insert(i, i - 1) = -1;
    K.insert(i, i) = 2;
    if (i + 1 < n) K.insert(i, i + 1) = -1;
    FrictionElement law;
    law.name = "f" + std::to_string(i);
    law.directions = {{{i, 1.0}}};
    law.limit = StateFunction(1.0 + 1e-7);
    model.friction.push_back(law);
  }
  model.mass = SystemMatrix::compact(M);
  model.stiffness = SystemMatrix::compact(K);
  model.damping = SystemMatrix::zero(n);
  const auto system = make_system(std::move(model));
  State initial;
  initial.q = Vector::Zero(n);
  for (Index i = 0; i < n; ++i) initial.q[i] = (i % 4 < 2) ? 0.5 : -0.5;  // |K q| <= 1 everywhere
  initial.v = Vector::Zero(n);
  SimulationOptions options;
  options.step = 0.01;
  options.end_time = 1000;
  options.output_step = 100;
  const Simulation s = simulate(*system, initial, options);
  EXPECT_EQ(s.status, Status::success) << s.message;
  EXPECT_EQ((s.final.q - initial.q).lpNorm<Eigen::Infinity>(), 0.0);
}

TEST(Energy, BalanceOfMoreauClosesToRoundOffThroughEveryKindOfLaw) {
  const auto gyroscopic = [] {
    MatrixModel model;
    model.coordinates = {"x", "y"};
    model.mass = SystemMatrix(DenseMatrix{{2, 0.3}, {0.3, 1}});
    model.damping = SystemMatrix(DenseMatrix{{0.1, 0.8}, {-0.8, 0.05}});  // dampers and a gyroscopic part
    model.stiffness = SystemMatrix(DenseMatrix{{3, 0.4}, {-0.2, 2}});     // springs and a circulatory part
    const SymbolTable symbols = state_symbols(model.coordinates, {});
    model.force.components = {StateFunction(Expression::parse("sin(3*t)", symbols)),
                              StateFunction(Expression::parse("if(t < 2, 1, -1) - 0.3*x^3", symbols))};
    FrictionElement one;
    one.name = "one";
    one.directions = {{{0, 1.0}, {1, -1.0}}};
    one.limit = StateFunction(Expression::parse("0.2 + 0.1*abs(x)", symbols));
    one.weakening = {WeakeningShape::exponential, 0.4, 0.2};
    one.viscous = 0.02;
    one.surface_velocity = {StateFunction(Expression::parse("0.1*cos(t)", symbols))};
    model.friction = {one};
    return make_system(std::move(model));
  }();
  State initial;
  initial.q = Vector{{1, -1}};
  initial.v = Vector{{0, 2}};
  SimulationOptions options;
  options.step = 0.01;
  options.end_time = 10;
  const Simulation s = simulate(*gyroscopic, initial, options);
  EXPECT_EQ(s.status, Status::success) << s.message;
  EXPECT_LT(audit_value(s, "energy"), 1e-11);
}

TEST(Energy, FrictionNeverCreatesEnergyWhenReversalsAreLocated) {
  const Trajectory t = [&] {
    SimulationOptions options;
    options.step = 0.02;
    options.end_time = 30;
    return simulate(*two_hinges::system(0.1, 0.1), two_hinges::initial(), options).trajectory;
  }();
  for (Index k = 1; k < t.rows(); ++k)
    ASSERT_GE(t.energy(k).friction_loss, t.energy(k - 1).friction_loss - 1e-15) << t.t(k);
}

TEST(Audit, BrokenGuaranteeIsAFailure) {
  AuditLedger ledger;
  StepRecord record;
  record.inclusion = 1e-3;
  ledger.add(record);
  EXPECT_FALSE(passed(audit_report(ledger, {})));
  AuditLedger not_a_number;
  record.inclusion = std::nan("");
  not_a_number.add(record);
  EXPECT_FALSE(passed(audit_report(not_a_number, {})));
  AuditLedger clean;
  record.inclusion = 1e-14;
  clean.add(record);
  EXPECT_TRUE(passed(audit_report(clean, {})));
}

TEST(Audit, HoldsNoItemThatTheSchemeDoesNotMeasure) {
  auto names = [](const Simulation& s) {
    std::set<std::string> found;
    for (const AuditItem& item : s.audit) EXPECT_TRUE(found.insert(item.name).second) << item.name;
    return found;
  };
  SimulationOptions options;
  options.step = 0.01;
  options.end_time = 0.5;
  const auto hinges = two_hinges::system(0.1, 0.1);
  struct Row {
    SchemeKind scheme;
    bool momentum, stuck;
  };
  for (const Row& row : {Row{SchemeKind::splitting, true, true}, Row{SchemeKind::moreau, true, true},
                         Row{SchemeKind::event, false, true}, Row{SchemeKind::viscoelastic, false, false}}) {
    options.scheme = row.scheme;
    const std::set<std::string> items = names(simulate(*hinges, two_hinges::initial(), options));
    EXPECT_EQ(items.contains("momentum"), row.momentum) << to_string(row.scheme);
    EXPECT_EQ(items.contains("stuck_motion"), row.stuck) << to_string(row.scheme);
    EXPECT_FALSE(items.contains("contact_velocity") || items.contains("penetration")) << to_string(row.scheme);
  }
}

TEST(Output, ChosenTimesAreMetAndInterpolatedToFourthOrder) {
  SimulationOptions options;
  options.step = 0.05;
  options.end_time = 4;
  const auto system = two_hinges::system(0, 0);
  State initial = two_hinges::initial();
  options.output_times = {0, 0.123, 1.0, 2.3456, 4};
  const Simulation chosen = simulate(*system, initial, options);
  ASSERT_EQ(chosen.trajectory.rows(), 5);
  for (int k = 0; k < 5; ++k) EXPECT_NEAR(chosen.trajectory.t(k), options.output_times[k], 1e-12);
  options.output_times.clear();
  options.output_step = 0.5;
  const Simulation thinned = simulate(*system, initial, options);
  ASSERT_EQ(thinned.trajectory.rows(), 9);
  options.output_step = 0;
  const Simulation every = simulate(*system, initial, options);
  ASSERT_EQ(every.trajectory.rows(), 81);
  EXPECT_EQ(thinned.trajectory.q(2, 0), every.trajectory.q(20, 0));
  EXPECT_NEAR(chosen.trajectory.q(1, 0), every.trajectory.q(2, 0) + (0.123 - 0.1) * every.trajectory.v(2, 0), 2e-3);
}

TEST(Grid, AStepThatDoesNotDivideTheTimeEndsWithAShorterOne) {
  const Simulation s = run(OneMass{}, SchemeKind::moreau, 0, 1, 0.3, 1);
  EXPECT_EQ(s.steps, 4);
  EXPECT_EQ(s.final.t, 1.0);
  EXPECT_NEAR(s.final.q[0], 1, 1e-14);
}

}  // namespace
}  // namespace stickslip::sticking_test
