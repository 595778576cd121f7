// SPDX-License-Identifier: Apache-2.0
// One model, every solver: the same motion, the same events, a passed audit. And laws that share coordinates.
#include <gtest/gtest.h>

#include "stickslip/motion/comparison.hpp"
#include "tests/support/two_hinges.hpp"

namespace stickslip::every_solver_test {
namespace {

class EverySolver : public testing::TestWithParam<SolverKind> {};

TEST_P(EverySolver, TwoHingesComeToRestThroughTheSameEvents) {
  SimulationOptions options;
  options.step = 0.0125;
  options.end_time = 30;
  const auto system = two_hinges::system(0.1, 0.1);
  const Simulation expected = simulate(*system, two_hinges::initial(), options);
  options.moreau.solver.solver = GetParam();
  const Simulation found = simulate(*system, two_hinges::initial(), options);
  ASSERT_EQ(found.status, Status::success) << found.message;
  EXPECT_LT((found.final.q - expected.final.q).norm(), 1e-9);
  EXPECT_EQ(found.final.v.norm(), 0.0);
  ASSERT_EQ(found.trajectory.events.size(), expected.trajectory.events.size());
  for (std::size_t k = 0; k < found.trajectory.events.size(); ++k) {
    EXPECT_EQ(found.trajectory.events[k].kind, expected.trajectory.events[k].kind);
    EXPECT_EQ(found.trajectory.events[k].law, expected.trajectory.events[k].law);
    EXPECT_NEAR(found.trajectory.events[k].t, expected.trajectory.events[k].t, 1e-7);
  }
}
INSTANTIATE_TEST_SUITE_P(Solvers, EverySolver,
                         testing::Values(SolverKind::active_set, SolverKind::gauss_seidel,
                                         SolverKind::semismooth_newton, SolverKind::projected_iteration),
                         [](const auto& row) { return std::string(to_string(row.param)); });

/// Two laws whose directions share both coordinates: nothing can be pinned, sticking is to round-off.
std::unique_ptr<System> shared_coordinates() {
  MatrixModel model;
  model.coordinates = {"x", "y"};
  model.mass = SystemMatrix(DenseMatrix{{1, 0}, {0, 1}});
  model.damping = SystemMatrix(DenseMatrix{{0, 0}, {0, 0}});
  model.stiffness = SystemMatrix(DenseMatrix{{1, 0}, {0, 3}});
  FrictionElement a, b;
  a.name = "a";
  a.directions = {{{0, 1.0}, {1, -1.0}}};
  a.limit = StateFunction(0.5);
  b.name = "b";
  b.directions = {{{0, 2.0}, {1, 1.0}}};
  b.limit = StateFunction(0.1);
  model.friction = {a, b};
  return make_system(std::move(model));
}

TEST(SharedCoordinates, StickIsToRoundOffEventsAreFewAndTheAuditPasses) {
  State initial;
  initial.q = Vector{{1, -0.5}};
  initial.v = Vector::Zero(2);
  SimulationOptions options;
  options.step = 0.01;
  options.end_time = 20;
  const Simulation s = simulate(*shared_coordinates(), initial, options);
  EXPECT_EQ(s.status, Status::success) << s.message;
  EXPECT_LE(s.trajectory.events.size(), 12u);
  EXPECT_LT(s.final.v.norm(), 1e-15);
}

TEST(SharedCoordinates, OrderTwoThroughTheirEvents) {
  State initial;
  initial.q = Vector{{1, -0.5}};
  initial.v = Vector::Zero(2);
  SimulationOptions base;
  base.step = 0.01;
  base.end_time = 6;
  ComparisonOptions options;
  options.schemes = {SchemeKind::moreau};
  options.steps = {0.04, 0.028, 0.02, 0.014, 0.01};
  const Comparison c = compare_schemes(*shared_coordinates(), initial, base, options);
  EXPECT_NEAR(c.orders[0].position, 2, 0.15);
}

TEST(SharedCoordinates, TwoLawsOnOneCoordinateActAsOneWithTheSumOfTheirLimits) {
  auto model = [](std::vector<double> limits) {
    MatrixModel m;
    m.coordinates = {"x"};
    m.mass = SystemMatrix(DenseMatrix{{1.0}});
    m.damping = SystemMatrix(DenseMatrix{{0.0}});
    m.stiffness = SystemMatrix(DenseMatrix{{1.0}});
    for (double limit : limits) {
      FrictionElement law;
      law.name = "f" + std::to_string(m.friction.size());
      law.directions = {{{0, 1.0}}};
      law.limit = StateFunction(limit);
      m.friction.push_back(law);
    }
    return make_system(std::move(m));
  };
  State initial;
  initial.q = Vector::Constant(1, 1);
  initial.v = Vector::Zero(1);
  SimulationOptions options;
  options.step = 0.01;
  options.end_time = 12;
  const Simulation two = simulate(*model({0.04, 0.07}), initial, options),
                   one = simulate(*model({0.11}), initial, options);
  EXPECT_EQ(two.status, Status::success) << two.message;
  EXPECT_NEAR(two.final.q[0], one.final.q[0], 1e-9);
}

}  // namespace
}  // namespace stickslip::every_solver_test
