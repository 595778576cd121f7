// SPDX-License-Identifier: Apache-2.0
// Closed forms of one mass with friction, by the second-order scheme.
#include "tests/support/one_mass.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>

#include "stickslip/motion/comparison.hpp"

namespace stickslip::one_mass_test {
namespace {

TEST(SlidingBlock, StopsAfterHalfVSquaredOverTheDecelerationAndStaysThere) {
  const Simulation s = run(OneMass{.mass = 2, .limit = 3}, SchemeKind::moreau, 0, 1.7, 0.013, 3);
  EXPECT_NEAR(s.final.q[0], 1.7 * 1.7 * 2 / (2 * 3), 1e-13);  // constant deceleration: the scheme is exact
  EXPECT_EQ(s.final.v[0], 0.0);
  ASSERT_EQ(s.trajectory.events.size(), 1u);
  EXPECT_EQ(s.trajectory.events[0].kind, EventKind::stick);
  EXPECT_NEAR(s.trajectory.events[0].t, 1.7 * 2 / 3, 1e-12);
}

TEST(SlidingBlock, SticksBelowAndSlidesAboveTheLimit) {
  for (double load : {1.0 - 1e-9, 1.0 + 1e-9}) {
    const Simulation s =
        run(OneMass{.force = fmt::format("{:.17g}", load), .limit = 1}, SchemeKind::moreau, 0, 0, 0.01, 1);
    if (load < 1) {
      EXPECT_EQ(s.final.q[0], 0.0);
      EXPECT_TRUE(s.trajectory.events.empty());
      EXPECT_NEAR(s.final_reaction[0], -load, 1e-15);
    } else {
      EXPECT_NEAR(s.final.q[0], 0.5e-9, 1e-16);
      EXPECT_EQ(s.final.modes[0], Mode::slip_plus);
    }
  }
}

TEST(CoulombOscillator, AmplitudeFallsLinearlyAndRestsInsideTheStickBand) {
  // x'' + x = r, |r| <= 0.1, from x = 1: turning points (-1)^n (1 - 0.2 n), rest at |x| <= 0.1.
  const Simulation s = run(OneMass{.stiffness = 1, .limit = 0.1}, SchemeKind::moreau, 1, 0, 0.001, 20);
  int n = 0;
  for (const Event& event : s.trajectory.events) {
    if (event.kind == EventKind::slip) continue;
    ++n;
    EXPECT_NEAR(event.t, n * std::numbers::pi, 2e-6) << n;
  }
  EXPECT_EQ(n, 5);
  EXPECT_NEAR(std::abs(s.final.q[0]), 0.0, 1e-6);  // 1 - 0.2 * 5
  EXPECT_EQ(s.final.v[0], 0.0);
}

TEST(ViscousPart, DecaysExponentially) {
  // m v' = -b v with Coulomb limit 0: v = v0 exp(-b t/m)
  std::vector<double> h, error;
  for (double step : {0.08, 0.04, 0.02, 0.01}) {
    const Simulation s = run(OneMass{.mass = 2, .viscous = 3}, SchemeKind::moreau, 0, 1, step, 1.6);
    h.push_back(step);
    error.push_back(std::abs(s.final.v[0] - std::exp(-1.5 * 1.6)));
  }
  EXPECT_NEAR(fitted_order(h, error), 2.0, 0.05);
  EXPECT_LT(error.back(), 1e-5);
}

TEST(WeakeningPart, SlipsDownToRestInTheTimeOfTheIntegral) {
  // v' = -(1 - γ(v)), γ = clamp(β v/ε): for v >= ε v' = -(1 - β), below it v' = -1 + β v/ε.
  const Weakening gamma{WeakeningShape::clamp, 0.5, 0.1};
  const Simulation s = run(OneMass{.limit = 1, .weakening = gamma}, SchemeKind::moreau, 0, 1, 1e-3, 3);
  const double stop = (1 - 0.1) / 0.5 - 0.1 / 0.5 * std::log(1 - 0.5);
  ASSERT_EQ(s.trajectory.events.size(), 1u);
  EXPECT_NEAR(s.trajectory.events[0].t, stop, 1e-5);
}

TEST(Belt, SticksToTheBeltAndSlipsBackWithTheClosedFormPeriod) {
  // m = k = 1, dynamic 1, static 1.5, belt w. Break-away at x = 1.5 with velocity w; then x = 1 + gap cos τ + w sin τ
  // until the velocity is w again: tan(τ/2) = -gap/w, so τ = 2π - 2 atan(gap/w). Stick from x = 0.5 to 1.5: 2 gap/w.
  const double w = 0.2, gap = 0.5, slip = 2 * std::numbers::pi - 2 * std::atan(gap / w), stick = 2 * gap / w;
  const auto system = make_system(OneMass{.stiffness = 1, .limit = 1, .static_limit = 1.5, .surface_velocity = "0.2"});
  std::vector<double> h, error;
  for (double step : {0.02, 0.0141, 0.01, 0.0071, 0.005}) {
    const Simulation s = run(*system, SchemeKind::moreau, 0, 0.2, step, 60);
    ASSERT_EQ(s.status, Status::success) << s.message;
    std::vector<double> breaks;
    for (const Event& event : s.trajectory.events)
      if (event.kind == EventKind::slip) breaks.push_back(event.t);
    ASSERT_GE(breaks.size(), 5u);
    h.push_back(step);
    error.push_back(std::abs((breaks.back() - breaks.front()) / static_cast<double>(breaks.size() - 1) - slip - stick));
  }
  EXPECT_NEAR(fitted_order(h, error), 2.0, 0.15);
  EXPECT_LT(error.back(), 1e-5);
}

TEST(Belt, StuckMassMovesWithAnAcceleratingBelt) {
  const Simulation s = run(OneMass{.limit = 10, .surface_velocity = "0.5*t"}, SchemeKind::moreau, 0, 0, 0.01, 2);
  EXPECT_NEAR(s.final.q[0], 0.25 * 4, 1e-13);  // the mean of the end velocities is exact for a linear w
  EXPECT_EQ(s.final.v[0], 1.0);
  EXPECT_NEAR(s.final_reaction[0], 0.5, 1e-12);
  EXPECT_TRUE(s.trajectory.events.empty());
}

TEST(NonlinearForce, PendulumPeriodByTheEllipticIntegral) {
  // x'' = -sin x from x = 2 at rest: a quarter period is K(sin 1).
  const double quarter = std::comp_ellint_1(std::sin(1.0));
  const auto system = make_system(OneMass{.force = "-sin(x)"});
  std::vector<double> h, error;
  for (double steps : {50., 100., 200., 400.}) {
    const Simulation s = run(*system, SchemeKind::moreau, 2, 0, quarter / steps, quarter);
    ASSERT_EQ(s.status, Status::success) << s.message;
    h.push_back(1 / steps);
    error.push_back(std::abs(s.final.q[0]));
  }
  EXPECT_NEAR(fitted_order(h, error), 2.0, 0.05);
}

TEST(NonlinearForce, AStiffSpringGivenAsExpressionConverges) {
  const Simulation s = run(OneMass{.force = "-1e8*x - 100*v_x"}, SchemeKind::moreau, 1e-3, 0, 0.01, 1);
  EXPECT_EQ(s.status, Status::success) << s.message;
  EXPECT_LT(std::abs(s.final.q[0]), 1.1e-3);
}

TEST(StaticLimit, HoldsUpToItAndSlipsWithTheDynamicOne) {
  // Force ramp t: breaks away at t = 1.5, then accelerates with t - 1; a step that does not meet 1.5.
  const Simulation s = run(OneMass{.force = "t", .limit = 1, .static_limit = 1.5}, SchemeKind::moreau, 0, 0, 0.0137, 2);
  ASSERT_EQ(s.trajectory.events.size(), 1u);
  EXPECT_NEAR(s.trajectory.events[0].t, 1.5, 1e-9);  // a linear force: its extrapolation is exact
  EXPECT_NEAR(s.final.v[0], (4 - 2.25) / 2 - 0.5, 1e-9);
}

TEST(TimeDependentLimit, BrakeThatTightensHoldsFromTheRightTime) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = SystemMatrix(DenseMatrix{{1.0}});
  model.damping = model.stiffness = SystemMatrix(DenseMatrix{{0.0}});
  FrictionElement law;
  law.name = "brake";
  law.directions = {{{0, 1.0}}};
  law.limit = StateFunction(Expression::parse("if(t < 1, 0, 2)", state_symbols(model.coordinates, {})));
  model.friction = {law};
  const auto system = make_system(std::move(model));
  const Simulation s = run(*system, SchemeKind::moreau, 0, 1, 0.0037, 3);  // the jump is off the grid: made a step end
  EXPECT_NEAR(s.final.q[0], 1 + 0.25, 1e-12);
  EXPECT_EQ(s.final.v[0], 0.0);
}

}  // namespace
}  // namespace stickslip::one_mass_test
