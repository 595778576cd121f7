// SPDX-License-Identifier: Apache-2.0
// What every scheme must do, whatever its order: one suite, one row per scheme.
#include <gtest/gtest.h>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/comparison.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/chain.hpp"
#include "tests/support/one_mass.hpp"
#include "tests/support/paper1_benchmark.hpp"
#include "tests/support/two_hinges.hpp"

namespace stickslip::shared_suite_test {
namespace {

struct SchemeRow {
  SchemeKind kind;
  double order;  ///< declared, in position; 0: the scheme chooses its own steps and keeps its tolerance
};

class EveryScheme : public testing::TestWithParam<SchemeRow> {
 protected:
  SchemeKind kind() const { return GetParam().kind; }
  bool soft() const { return kind() == SchemeKind::viscoelastic; }
  /// Empty, or why the scheme does not take the system.
  std::string refusal(const System& system) const {
    try {
      require_supported(kind(), system);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
};

TEST_P(EveryScheme, FreeMotionIsUniform) {
  const Simulation s = run(OneMass{}, kind(), 1, 2, 0.1, 3);
  EXPECT_NEAR(s.final.q[0], 7, 1e-12);
  EXPECT_NEAR(s.final.v[0], 2, 1e-12);
}

TEST_P(EveryScheme, SlidingBlockStopsAtTheRightPlace) {
  const Simulation s = run(OneMass{.limit = 1}, kind(), 0, 1, 1e-3, 2);
  EXPECT_NEAR(s.final.q[0], 0.5, 1e-3);
  EXPECT_EQ(s.final.modes[0], Mode::stick);
}

TEST_P(EveryScheme, ReactionStaysInItsSetAndOpposesTheMotion) {
  const Simulation s = run(OneMass{.stiffness = 4, .force = "2*sin(3*t)", .limit = 0.7}, kind(), 1, 0, 1e-3, 10);
  for (Index k = 1; k < s.trajectory.rows(); ++k) {
    const double r = s.trajectory.reaction(k, 0);
    // Means are differences of the impulse so far: round-off of 10 s over a step of 1 ms.
    ASSERT_LE(std::abs(r), 0.7 * (1 + (soft() ? 1e-11 : 1e-12)));
    const double u = kind() == SchemeKind::splitting ? s.trajectory.friction_velocity(k, 0) : s.trajectory.v(k, 0);
    // A step in which a reversal was located has a mean reaction between the two limits.
    if (std::abs(u) > 0.05) {
      ASSERT_LE(r * u, 0) << s.trajectory.t(k);
    }
  }
}

TEST_P(EveryScheme, DeclaredOrderIsObservedOnSmoothSlip) {
  // Weakening keeps the problem nonlinear; the mass slips all the time.
  const auto system = make_system(OneMass{.stiffness = 1, .limit = 0.2, .weakening = {WeakeningShape::tanh, 0.5, 1}});
  if (const std::string why = refusal(*system); !why.empty()) GTEST_SKIP() << why;
  const double exact = run(*system, SchemeKind::moreau, 0, 5, 1e-5, 1).final.q[0];
  std::vector<double> h, error;
  for (double step : {0.04, 0.02, 0.01, 0.005}) {
    h.push_back(step);
    error.push_back(std::abs(run(*system, kind(), 0, 5, step, 1).final.q[0] - exact));
  }
  if (GetParam().order == 0) {
    for (const double e : error) EXPECT_LT(e, 1e-9);
    return;
  }
  EXPECT_NEAR(fitted_order(h, error), GetParam().order, 0.2);
}

TEST_P(EveryScheme, AgreesWithTheExactSolutionThroughEvents) {
  const std::unique_ptr<System> system = paper1::system();
  if (const std::string why = refusal(*system); !why.empty()) GTEST_SKIP() << why;
  const paper1::Errors e =
      paper1::errors(simulate(*system, paper1::initial(), paper1::options(kind(), 3200)).trajectory);
  EXPECT_LT(e.X, GetParam().order == 1 ? 3e-3 : 1e-6);
  EXPECT_LT(e.V, GetParam().order == 1 ? 5e-3 : 1e-6);
}

TEST_P(EveryScheme, EnergyBalanceClosesToRoundOffOrToTheTolerance) {
  const auto system = make_system(OneMass{.damping = 0.05,
                                          .stiffness = 2,
                                          .force = "sin(t)",
                                          .limit = 0.2,
                                          .viscous = soft() ? 0.0 : 0.03,
                                          .surface_velocity = "0.1"});
  const Simulation s = run(*system, kind(), 1, 0, 0.01, 20);
  EXPECT_LT(audit_value(s, "energy"), soft() ? 1e-7 : 1e-12);
  EXPECT_GT(audit_value(s, "energy_friction_loss"), 0.1);
  EXPECT_GT(audit_value(s, "energy_damper_loss"), 0.01);
}

TEST_P(EveryScheme, AuditPassesOnAChain) {
  SimulationOptions options = friction_chain::options(400);
  options.scheme = kind();
  const Simulation s = simulate(*friction_chain::system(30), friction_chain::initial(30), options);
  EXPECT_EQ(s.status, Status::success) << s.message;
  EXPECT_GT(s.trajectory.events.size(), 5u);  // event: modes at the start are no events
}

TEST_P(EveryScheme, SameRunTwiceIsTheSameToTheLastBit) {
  SimulationOptions options = friction_chain::options(300);
  options.scheme = kind();
  const Simulation a = simulate(*friction_chain::system(50), friction_chain::initial(50), options),
                   b = simulate(*friction_chain::system(50), friction_chain::initial(50), options);
  for (Index k = 0; k < a.trajectory.rows(); ++k)
    for (Index i = 0; i < 50; ++i) {
      ASSERT_EQ(a.trajectory.q(k, i), b.trajectory.q(k, i));
      ASSERT_EQ(a.trajectory.v(k, i), b.trajectory.v(k, i));
    }
}

TEST_P(EveryScheme, RestartFromAStoredStateGoesOnAsIfNothingHadHappened) {
  SimulationOptions options;
  options.scheme = kind();
  options.step = 0.0078125;  // a power of two: grid times are the same numbers in both runs
  options.end_time = 10;
  const auto system = soft() ? two_hinges::system(0.1, 0.1) : two_hinges::system(0.1, 0.1, 0.15, 0.15);
  const Simulation whole = simulate(*system, two_hinges::initial(), options);
  options.end_time = 4;
  const Simulation first = simulate(*system, two_hinges::initial(), options);
  options.start_time = 4;
  options.end_time = 10;
  const Simulation second = simulate(*system, first.final, options);
  // An integrator that begins anew takes other steps, each within the tolerance.
  const double near = soft() ? 1e2 * options.tolerance : 1e-13;
  EXPECT_LT((second.final.q - whole.final.q).norm(), near);
  EXPECT_LT((second.final.v - whole.final.v).norm(), near);
}

TEST_P(EveryScheme, StopRequestKeepsEverythingUpToThere) {
  SimulationOptions options;
  options.scheme = kind();
  options.step = 0.01;
  options.end_time = 10;
  SimulationHooks hooks;
  hooks.keep_going = [](const State& s) { return s.t < 2.995; };
  const Simulation s = simulate(*two_hinges::system(0.1, 0.1), two_hinges::initial(), options, hooks);
  EXPECT_EQ(s.status, Status::interrupted);
  EXPECT_EQ(s.steps, 300);
  EXPECT_EQ(s.trajectory.rows(), 301);
  EXPECT_NEAR(s.final.t, 3, 1e-12);
}

TEST_P(EveryScheme, ForceThatBecomesNotANumberEndsTheRunWithAStatus) {
  const Simulation s = run(OneMass{.stiffness = 1, .force = "sqrt(1 - t)", .limit = 0.1}, kind(), 1, 0, 0.01, 3);
  EXPECT_EQ(s.status, Status::not_finite);
  EXPECT_NEAR(s.final.t, 1, 0.02);
  EXPECT_GT(s.trajectory.rows(), 95);
  EXPECT_TRUE(s.final.q.allFinite());
}

TEST_P(EveryScheme, LimitThatBecomesNegativeEndsTheRunNamingTheLaw) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = SystemMatrix(DenseMatrix{{1.0}});
  model.damping = model.stiffness = SystemMatrix(DenseMatrix{{0.0}});
  FrictionElement law;
  law.name = "worn";
  law.directions = {{{0, 1.0}}};
  law.limit = StateFunction(Expression::parse("1 - t", state_symbols(model.coordinates, {})));
  model.friction = {law};
  const Simulation s = run(*make_system(std::move(model)), kind(), 0, 1, 0.01, 3);
  EXPECT_EQ(s.status, Status::refused);
  EXPECT_NE(s.message.find("worn"), std::string::npos);
  EXPECT_GT(s.trajectory.rows(), 95);
}

INSTANTIATE_TEST_SUITE_P(Schemes, EveryScheme,
                         testing::Values(SchemeRow{SchemeKind::splitting, 1}, SchemeRow{SchemeKind::moreau, 2},
                                         SchemeRow{SchemeKind::event, 0}, SchemeRow{SchemeKind::viscoelastic, 0}),
                         [](const auto& row) { return std::string(to_string(row.param.kind)); });

TEST(Schemes, SplittingConvergesToMoreauOnOneModel) {
  ComparisonOptions options;
  options.schemes = {SchemeKind::splitting, SchemeKind::moreau};
  options.steps = {0.04, 0.02, 0.01, 0.005};
  SimulationOptions base;
  base.step = 0.01;
  base.end_time = 9;
  const Comparison c = compare_schemes(*two_hinges::system(0.1, 0.1), two_hinges::initial(), base, options);
  ASSERT_EQ(c.status, Status::success) << c.message;
  EXPECT_NEAR(c.orders[0].position, 1, 0.25);
  EXPECT_NEAR(c.orders[1].position, 2, 0.1);
}

}  // namespace
}  // namespace stickslip::shared_suite_test
