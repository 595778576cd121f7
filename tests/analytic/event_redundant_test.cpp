// SPDX-License-Identifier: Apache-2.0
// Reactions that are not unique: what counts is whether any admissible choice of them exists. Closed forms of ladders,
// boxes and guides; heavy on light; impacts that hardly lose speed; pulses of force; dead points of mechanisms and
// friction that constraints block; limits that vary; a table that is left.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stickslip/io/model_file.hpp"
#include "tests/support/audit_value.hpp"

namespace stickslip::event_redundant_test {
namespace {

Simulation run(std::string_view text, std::vector<std::string> overrides = {}) {
  const ModelFile model = parse_model(text, "test.toml", overrides);
  return simulate(*model.system, model.initial, model.run);
}

std::string set(std::string_view key, double value) { return fmt::format("{}={:.17g}", key, value); }

// A uniform rod (length 2, 1 kg) between floor and wall; th from the vertical.
constexpr std::string_view kLadder = R"toml(
[parameters]
th0 = 0.4
mu_floor = 0.3
mu_wall = 0.3
[equations]
coordinates = ["x", "y", "th"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, "1/3"]]
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y - cos(th)"
slip = "x + sin(th)"
mu = "mu_floor"
[[contact]]
name = "wall"
gap = "x - sin(th)"
slip = "y + cos(th)"
mu = "mu_wall"
[initial]
position = ["sin(th0)", "cos(th0)", "th0"]
[run]
scheme = "event"
steps = 10
end_time = 1
)toml";

// It stands as long as tan(th) <= 2 μ_floor/(1 - μ_floor μ_wall): then some reaction lies in both cones.
TEST(Ladder, StandsWhereAnyReactionHoldsItAndSlidesElsewhere) {
  int standing = 0;
  for (const double degrees : {15.0, 35.0, 55.0, 70.0})
    for (const double mu : {0.1, 0.4, 0.7, 1.0})
      for (const auto& [floor, wall] : {std::pair(mu, mu), std::pair(mu, 0.0), std::pair(0.0, mu)}) {
        const double th = degrees * std::numbers::pi / 180, product = floor * wall;
        const bool stands = product >= 1 || std::tan(th) <= 2 * floor / (1 - product);
        const Simulation s = run(
            kLadder, {set("parameters.th0", th), set("parameters.mu_floor", floor), set("parameters.mu_wall", wall)});
        ASSERT_EQ(s.status, Status::success) << degrees << " " << floor << " " << wall << " " << s.message;
        standing += stands;
        if (stands) {
          EXPECT_NEAR(s.final.q[2], th, 1e-13) << degrees << " " << floor << " " << wall;
          EXPECT_TRUE(s.trajectory.events.empty());
          EXPECT_LE(std::abs(s.final_reaction[1]), floor * s.final_reaction[0] + 1e-11);
          EXPECT_LE(std::abs(s.final_reaction[3]), wall * s.final_reaction[2] + 1e-11);
          EXPECT_NEAR(s.final_reaction[0] + s.final_reaction[3], 9.81, 1e-10);
        } else {
          EXPECT_GT(s.final.q[2], th + 1e-3) << degrees << " " << floor << " " << wall;
        }
      }
  EXPECT_EQ(standing, 16);
}

// Without friction it leaves the wall when its height has fallen to two thirds, whatever the tolerance.
TEST(Ladder, WithoutFrictionLeavesTheWallAtTwoThirdsOfItsHeight) {
  for (const double tolerance : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}) {
    const Simulation s = run(kLadder, {"parameters.th0=0.3", "parameters.mu_floor=0", "parameters.mu_wall=0",
                                       set("run.tolerance", tolerance)});
    ASSERT_EQ(s.status, Status::success) << tolerance << " " << s.message;
    const auto leaves = std::find_if(s.trajectory.events.begin(), s.trajectory.events.end(),
                                     [](const Event& e) { return e.kind == EventKind::open; });
    ASSERT_NE(leaves, s.trajectory.events.end()) << tolerance;
    const Simulation up_to = run(kLadder, {"parameters.th0=0.3", "parameters.mu_floor=0", "parameters.mu_wall=0",
                                           "run.tolerance=1e-11", set("run.end_time", leaves->t)});
    EXPECT_NEAR(std::cos(up_to.final.q[2]), 2.0 / 3 * std::cos(0.3), 10 * tolerance) << tolerance;
    EXPECT_EQ(s.final.modes[0], Mode::closed);
    EXPECT_EQ(s.final.modes[1], Mode::open);
  }
}

// The support of a box under a growing push at the height of its centre ends at its front edge at t = g b/(2 h).
TEST(PushedBox, TipsWhenItsFrontEdgeCarriesEverything) {
  for (const double tolerance : {1e-5, 1e-6, 1e-7, 1e-9}) {
    const Simulation s = run(R"toml(
[parameters]
b = 0.1
h = 0.2
[equations]
coordinates = ["x", "y", "th"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, "(4*b^2+4*h^2)/12"]]
force = ["2*t", "-9.81", 0]
[[contact]]
name = "front"
gap = "y-h*cos(th)-b*sin(th)"
slip = "x-h*sin(th)+b*cos(th)"
mu = 0.8
[[contact]]
name = "rear"
gap = "y-h*cos(th)+b*sin(th)"
slip = "x-h*sin(th)-b*cos(th)"
mu = 0.8
[initial]
position = [0, 0.2, 0]
[run]
scheme = "event"
steps = 10
end_time = 2.6
)toml",
                             {set("run.tolerance", tolerance)});
    ASSERT_EQ(s.status, Status::success) << tolerance << " " << s.message;
    ASSERT_FALSE(s.trajectory.events.empty());
    EXPECT_NEAR(s.trajectory.events[0].t, 2.4525, 1e-9) << tolerance;
    EXPECT_EQ(s.trajectory.events[0].law, 1);
    EXPECT_EQ(s.trajectory.events[0].kind, EventKind::open);
    EXPECT_GT(s.final.q[2], 1e-3);
  }
}

// A slider in a guide without play: friction is μ times the absolute load, whichever side carries it.
constexpr std::string_view kGuide = R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
stiffness = [[0, 0], [0, 0]]
force = ["-0.5", "10*cos(3*t)"]
[[contact]]
name = "lower"
gap = "y"
slip = "x"
mu = 0.2
[[contact]]
name = "upper"
gap = "-y"
slip = "x"
mu = 0.2
[initial]
velocity = [3, 0]
[run]
scheme = "event"
steps = 40
end_time = 1.7
)toml";

TEST(GuideWithoutPlay, RubsWithTheAbsoluteValueOfItsLoad) {
  // 3 · 1.7 = 5.1 lies between 3π/2 and 2π: |cos| has passed two zeros, ∫|cos| = 1 + 2 + (1 + sin 5.1).
  const double load = 10.0 / 3 * (4 + std::sin(5.1));
  for (const char* flow : {"exact", "integrator"}) {
    const Simulation s = run(kGuide, {fmt::format("run.event.flow=\"{}\"", flow)});
    ASSERT_EQ(s.status, Status::success) << flow << " " << s.message;
    EXPECT_NEAR(s.final.v[0], 3 - 0.5 * 1.7 - 0.2 * load, 1e-8) << flow;
    EXPECT_EQ(s.final.q[1], 0.0);
    for (Index row = 1; row < s.trajectory.rows(); ++row) {
      EXPECT_GE(s.trajectory.reaction(row, 0), 0);
      EXPECT_GE(s.trajectory.reaction(row, 2), 0);
    }
  }
}

// At rest it is not pressed together by anything: the load alone decides whether friction holds.
TEST(GuideWithoutPlay, HoldsWhileTheLoadDoes) {
  const Simulation s = run(kGuide, {"run.end_time=1", "initial.velocity=[0,0]"});
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_FALSE(s.trajectory.events.empty());
  EXPECT_NEAR(s.trajectory.events[0].t, std::acos(0.25) / 3, 1e-12);  // 0.2 · 10 cos 3t = 0.5
  EXPECT_LT(s.final.q[0], -1e-3);
}

// Slider crank with such a guide: the two sides take turns, and no instant holds more than a few events.
TEST(GuideWithoutPlay, CarriesASliderCrank) {
  const Simulation s = run(R"toml(
[equations]
coordinates = ["phi", "psi", "x", "y"]
kinetic_energy = "0.5*0.02*v_phi^2 + 0.5*0.005*v_psi^2 + 0.5*2*(v_x^2+v_y^2)"
potential = "2*9.81*y"
force = [1.0, 0, 0, 0]
[[constraint]]
position = "0.1*cos(phi) + 0.3*cos(psi) - x"
[[constraint]]
position = "0.1*sin(phi) + 0.3*sin(psi) - y"
[[contact]]
gap = "y"
slip = "x"
mu = 0.2
[[contact]]
gap = "-y"
slip = "x"
mu = 0.2
[initial]
position = [0.5, "-asin(0.1*sin(0.5)/0.3)", "0.1*cos(0.5)+sqrt(0.09-(0.1*sin(0.5))^2)", 0]
consistent = "project"
[run]
scheme = "event"
steps = 100
end_time = 1.5
)toml");
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_GT(s.final.q[0], 15);
  EXPECT_LT(audit_value(s, "energy"), 1e-8);
}

TEST(HeavyOnLight, CarriesItsWeightUpToAnyRatio) {
  for (const double ratio : {1.0, 1e3, 1e6, 1e9, 1e12}) {
    const Simulation s = run(R"toml(
[parameters]
m = 1
[matrices]
coordinates = ["a", "b"]
mass = [[1, 0], [0, "m"]]
stiffness = [[0, 0], [0, 0]]
force = ["-9.81", "-9.81*m"]
[[contact]]
gap = "a"
[[contact]]
gap = "b - a"
[run]
scheme = "event"
steps = 2
end_time = 1
)toml",
                             {set("parameters.m", ratio)});
    ASSERT_EQ(s.status, Status::success) << ratio << " " << s.message;
    EXPECT_NEAR(s.final_reaction[1] / (9.81 * ratio), 1, 1e-9) << ratio;
    EXPECT_NEAR(s.final_reaction[0] / (9.81 * (1 + ratio)), 1, 1e-9) << ratio;
    EXPECT_TRUE(s.trajectory.events.empty()) << ratio;
  }
}

// e near 1: flights become shorter than the round-off of t long before the impacts have ended.
TEST(Accumulation, EndsForAnyRestitution) {
  const double e = 0.9999, v = 2e-9, g = 9.81;
  const Simulation s = run(fmt::format(R"toml(
[matrices]
coordinates = ["y"]
mass = [[1]]
stiffness = [[0]]
force = [-9.81]
[[contact]]
gap = "y"
restitution = {}
[initial]
velocity = [{}]
[run]
scheme = "event"
steps = 1
end_time = 100
)toml",
                                       e, v));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_EQ(s.final.modes[0], Mode::closed);
  EXPECT_LT(s.trajectory.events.back().t, 2 * v / g / (1 - e));
  EXPECT_LT(std::abs(s.final.q[0]), 1e-15);
}

// x = 0 up to the pulse; ∫F dt = 10 √π, and the limit of 1 takes the rest.
TEST(Pulse, OfAnyWidthIsFound) {
  for (const char* flow : {"exact", "integrator"})
    for (const double width : {0.3, 0.01, 1e-4, 1e-6, 1e-8}) {
      // The last bit of t is felt as a part of the force: what the mass gains in 1e-15 s of the pulse.
      const double last_bit = 100 * 1e-15 / width;
      const Simulation s = run(fmt::format(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[0]]
force = ["(10/{0})*exp(-((t-5)/{0})^2)"]
[[friction]]
on = "x"
limit = 1
[run]
scheme = "event"
steps = 1
end_time = 10
[run.event]
flow = "{1}"
)toml",
                                           width, flow));
      ASSERT_EQ(s.status, Status::success) << width << " " << flow << ": " << s.message;
      ASSERT_EQ(s.trajectory.events.size(), 1u) << width << " " << flow;
      const double moved = width * std::sqrt(std::log(10 / width));
      EXPECT_NEAR(s.trajectory.events[0].t, 5 - moved, 1e-7) << width << " " << flow;
      const double impulse = 10 * std::sqrt(std::numbers::pi) * 0.5 * (1 + std::erf(moved / width));
      EXPECT_NEAR(s.final.v[0], impulse - (5 + moved), 1e-6 + last_bit) << width << " " << flow;
    }
}

TEST(Pulse, TimesAStateIsFoundByTheIntegrator) {
  const Simulation s = run(R"toml(
[equations]
coordinates = ["x"]
mass = [[1]]
force = ["x*exp(-((t-5)/0.001)^2)*1000"]
[initial]
position = [1]
[run]
scheme = "event"
steps = 1
end_time = 10
)toml");
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.v[0], std::sqrt(std::numbers::pi), 1e-2);
}

// x = sin a, y = -cos a on the unit circle: a'' = -c |cos a|. At cos a = 0 the constraint alone stops x for an instant,
// and friction in x has no say in it. Reference: Runge-Kutta in a.
TEST(DeadPoint, OfABeadOnACircleIsPassedWithItsVelocity) {
  constexpr double c = 0.1, end = 4;
  double a = 0, w = 3, path = 0;
  constexpr int kSteps = 400000;
  const double h = end / kSteps;
  auto f = [&](double angle) { return -c * std::abs(std::cos(angle)); };
  for (int n = 0; n < kSteps; ++n) {
    const double k1 = f(a), k2 = f(a + 0.5 * h * w), k3 = f(a + 0.5 * h * w + 0.25 * h * h * k1),
                 k4 = f(a + h * w + 0.5 * h * h * k2);
    const double next = a + h * w + h * h / 6 * (k1 + k2 + k3);
    path += std::abs(std::sin(next) - std::sin(a));
    a = next;
    w += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  for (const double tolerance : {1e-7, 1e-9, 1e-11}) {
    const Simulation s = run(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
[[constraint]]
position = "x^2 + y^2 - 1"
[[friction]]
on = "x"
limit = 0.1
[initial]
position = [0, -1]
velocity = [3, 0]
[run]
scheme = "event"
steps = 400
end_time = 4
)toml",
                             {set("run.tolerance", tolerance)});
    ASSERT_EQ(s.status, Status::success) << s.message;
    EXPECT_TRUE(passed(s.audit)) << tolerance;
    EXPECT_EQ(s.trajectory.events.size(), 4u);
    EXPECT_NEAR(s.final.q[0], std::sin(a), 1e2 * tolerance + 1e-9);
    EXPECT_NEAR(s.final.q[1], -std::cos(a), 1e2 * tolerance + 1e-9);
    // Nothing but friction takes energy, and the audit counts no correction of its own.
    EXPECT_NEAR(audit_value(s, "energy_stored"), -c * path, 1e2 * tolerance + 1e-8);
    EXPECT_NEAR(audit_value(s, "energy_friction_loss"), c * path, 1e2 * tolerance + 1e-8);
  }
}

// Without other forces the energy falls by 3 N times the way of the slider, which turns where the crank passes 0 and π.
TEST(DeadPoint, OfASliderCrankTakesTheWorkOfFrictionAlone) {
  const Simulation s = run(R"toml(
[equations]
coordinates = ["q", "b", "s"]
kinetic_energy = "0.5*0.05*v_q^2 + 0.5*0.002*v_b^2 + 0.5*0.4*v_s^2"
[[constraint]]
position = "0.1*cos(q) + 0.3*cos(b) - s"
[[constraint]]
position = "0.1*sin(q) + 0.3*sin(b)"
[[friction]]
on = "s"
limit = 3
[initial]
position = [0.5, "-asin(0.1*sin(0.5)/0.3)", "0.1*cos(0.5) + 0.3*cos(asin(0.1*sin(0.5)/0.3))"]
velocity = [10, 0, 0]
consistent = "project"
[run]
scheme = "event"
steps = 400
end_time = 2
)toml");
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_TRUE(passed(s.audit));
  ASSERT_EQ(s.trajectory.events.size(), 3u);  // π, 2π, 3π
  auto place = [](double q) { return 0.1 * std::cos(q) + 0.3 * std::cos(std::asin(std::sin(q) / 3)); };
  ASSERT_GT(s.final.q[0], 3 * std::numbers::pi);
  ASSERT_LT(s.final.q[0], 4 * std::numbers::pi);
  const double way = place(0.5) - 0.2 + 2 * 0.2 + place(s.final.q[0]) - 0.2;
  EXPECT_NEAR(audit_value(s, "energy_stored"), -3 * way, 1e-8);
}

// Friction along a direction that a constraint holds carries nothing and changes nothing.
TEST(BlockedFriction, LeavesTheMotionAlone) {
  constexpr std::string_view model = R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0.3], [0.3, 1]]
stiffness = [[0, 0], [0, 1]]
[[constraint]]
position = "x"
[[friction]]
on = "y"
limit = 0.1
[initial]
position = [0, 1]
[run]
scheme = "event"
steps = 100
end_time = 20
)toml";
  const Simulation without = run(model);
  const Simulation with = run(std::string(model) + "[[friction]]\non = \"x\"\nlimit = 0.1\n");
  ASSERT_EQ(with.status, Status::success) << with.message;
  EXPECT_TRUE(passed(with.audit));
  EXPECT_EQ(with.final_reaction[1], 0);
  EXPECT_EQ(with.final.modes[1], Mode::stick);
  ASSERT_EQ(with.trajectory.events.size(), without.trajectory.events.size());
  for (std::size_t k = 0; k < with.trajectory.events.size(); ++k)
    EXPECT_NEAR(with.trajectory.events[k].t, without.trajectory.events[k].t, 1e-12);
  EXPECT_NEAR(with.final.q[1], without.final.q[1], 1e-12);
}

// A pendulum with friction along x and y comes to rest near its lowest point, where both hold and y hardly moves: any
// split of the load g m tan(a) within the limits holds it.
TEST(PendulumWithTwoFrictions, ComesToRest) {
  for (const double limit : {2.9, 3.0, 4.0}) {
    const Simulation s = run(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = [0, -9.81]
[[constraint]]
position = "x^2 + y^2 - 1"
[[friction]]
on = "x"
limit = 3
[[friction]]
on = "y"
limit = 0.5
[initial]
position = [0.6, -0.8]
[run]
scheme = "event"
steps = 800
end_time = 8
)toml",
                             {set("friction.0.limit", limit)});
    ASSERT_EQ(s.status, Status::success) << limit << " " << s.message;
    EXPECT_TRUE(passed(s.audit));
    EXPECT_EQ(s.final.v.norm(), 0);
    EXPECT_LE(std::abs(s.final_reaction[0]), limit * (1 + 1e-9));
    EXPECT_LE(std::abs(s.final_reaction[1]), 0.5 * (1 + 1e-9));
    // Tangential balance: (r_x, r_y - g) along (-y, x).
    EXPECT_NEAR(-s.final_reaction[0] * s.final.q[1] + (s.final_reaction[1] - 9.81) * s.final.q[0], 0, 1e-10);
  }
}

// The reaction and its limit are compared at the same instant: the residual is round-off, however long the step.
TEST(VaryingLimit, HoldsInTheAudit) {
  for (const char* limit : {"4 - 0.1*t", "4 + sin(t)", "4 + 0.1*x", "4 + 0.1*v_x^2"}) {
    const Simulation s = run(fmt::format(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[100]]
[[friction]]
on = "x"
limit = "{}"
[initial]
position = [1]
[run]
scheme = "event"
steps = 50
end_time = 5
)toml",
                                         limit));
    ASSERT_EQ(s.status, Status::success) << s.message;
    EXPECT_GT(s.trajectory.events.size(), 5u) << limit;
    EXPECT_LT(audit_value(s, "inclusion"), 1e-12) << limit;
    EXPECT_LT(audit_value(s, "set"), 1e-12) << limit;
  }
}

// A block on a table y = 0.04 sin(20 t) leaves it where the table falls faster than g: sin(20 t) = g/(0.04·20²). With
// u' = 0 there, only the third derivative of the gap opens it.
TEST(OscillatingTable, IsLeftAtTheSameInstantsWithAnyTolerance) {
  const double first = std::asin(9.81 / 16) / 20, period = 2 * std::numbers::pi / 20;
  for (const char* integrator : {"dormand_prince", "radau"})
    for (const double tolerance : {1e-6, 1e-8, 1e-9, 1e-10, 1e-12}) {
      const Simulation s = run(fmt::format(R"toml(
[matrices]
coordinates = ["y"]
mass = [[2]]
force = [-19.62]
[[contact]]
gap = "y - 0.04*sin(20*t)"
[initial]
velocity = [0.8]
[run]
scheme = "event"
steps = 200
end_time = 2
[run.event]
integrator = "{}"
)toml",
                                           integrator),
                               {set("run.tolerance", tolerance)});
      ASSERT_EQ(s.status, Status::success) << integrator << " " << tolerance << " " << s.message;
      int opened = 0, hit = 0;
      for (const Event& event : s.trajectory.events) {
        hit += event.kind == EventKind::impact;
        if (event.kind != EventKind::open) continue;
        EXPECT_NEAR(event.t, first + opened * period, 1e-9) << integrator << " " << tolerance;
        ++opened;
      }
      EXPECT_EQ(opened, 7) << integrator << " " << tolerance;
      EXPECT_EQ(hit, 6) << integrator << " " << tolerance;
    }
}

}  // namespace
}  // namespace stickslip::event_redundant_test
