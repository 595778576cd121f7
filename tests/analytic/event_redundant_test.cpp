// SPDX-License-Identifier: Apache-2.0
// Reactions that are not unique: what counts is whether any admissible choice of them exists. Closed forms of ladders,
// boxes and guides; heavy on light; impacts that hardly lose speed; pulses of force.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stickslip/io/model_file.hpp"
#include "tests/support/audit_value.hpp"

namespace stickslip {
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
    for (const double width : {0.3, 0.01, 1e-4}) {
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
      ASSERT_EQ(s.status, Status::success) << s.message;
      ASSERT_EQ(s.trajectory.events.size(), 1u) << width << " " << flow;
      const double moved = width * std::sqrt(std::log(10 / width));
      EXPECT_NEAR(s.trajectory.events[0].t, 5 - moved, 1e-7) << width << " " << flow;
      const double impulse = 10 * std::sqrt(std::numbers::pi) * 0.5 * (1 + std::erf(moved / width));
      EXPECT_NEAR(s.final.v[0], impulse - (5 + moved), 1e-6) << width << " " << flow;
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

}  // namespace
}  // namespace stickslip
