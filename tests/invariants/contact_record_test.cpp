// SPDX-License-Identifier: Apache-2.0
// What a run with contacts says of itself: impacts that are ones, forces that are carried, energy that is there.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::contact_record_test {
namespace {

std::string number(double x) { return fmt::format("{:.17g}", x); }

long impacts(const Simulation& r) {
  return std::count_if(r.trajectory.events.begin(), r.trajectory.events.end(),
                       [](const Event& event) { return event.kind == EventKind::impact; });
}

constexpr const char* kSpheresInABox = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "b"
count = 6
mass = 0.4
position_0 = ["-0.02*i + 0.05", 0.02, "0.2 + 0.2*i"]
spin_0 = [1, "i", 2]
[[shape]]
body = "b"
kind = "sphere"
radius = 0.05
[[shape]]
body = "ground"
kind = "plane"
[[shape]]
body = "ground"
kind = "plane"
position = [-0.2, 0, 0]
normal = [1, 0, 0]
[[shape]]
body = "ground"
kind = "plane"
position = [0.2, 0, 0]
normal = [-1, 0, 0]
[[shape]]
body = "ground"
kind = "plane"
position = [0, -0.2, 0]
normal = [0, 1, 0]
[[shape]]
body = "ground"
kind = "plane"
position = [0, 0.2, 0]
normal = [0, -1, 0]
[[contact]]
name = "c"
between = ["*", "*"]
mu = 0
restitution = 1
[run]
step = 0.002
end_time = 5
)toml";

/// A blow that drives a sphere on to a wall it was still away from, or was leaving, is followed by a rebound there.
/// What gravity does to the six in one step is all that may be lost or made: 6 · ½ m (g h)² = 4.6e-4 J for h = 2 ms.
TEST(ContactRecord, ElasticSpheresKeepTheirEnergy) {
  for (const char* law : {"newton", "poisson", "energetic"})
    for (const double h : {2e-3, 3e-4}) {
      const Simulation r = run_text(kSpheresInABox, {fmt::format("contact.c.impact={}", law), "run.step=" + number(h),
                                                     h < 1e-3 ? "run.end_time=2" : "run.end_time=5"});
      ASSERT_EQ(r.status, Status::success) << law << ": " << r.message;
      ASSERT_GT(impacts(r), 100) << law;
      double largest = 0;
      for (Index row = 0; row < r.trajectory.rows(); ++row) {
        const EnergyLedger e = r.trajectory.energy(row);
        largest = std::max(largest, std::abs(e.kinetic + e.potential - e.initial));
      }
      const double by_gravity = 6 * 0.5 * 0.4 * std::pow(9.81 * h, 2);
      EXPECT_LT(largest, by_gravity) << law << ", h " << h;
      EXPECT_LT(audit_value(r, "energy_impact_gain"), by_gravity) << law;
    }
}

constexpr const char* kLadder = R"toml(
[parameters]
L = 4
m = 10
e = 0
g = 9.81
[matrices]
coordinates = ["x", "y", "a"]
mass = {diagonal = ["m", "m", "m*L^2/12"]}
force = [0, "-m*g", 0]
[[contact]]
name = "floor"
gap = "y - L/2*sin(a)"
restitution = "e"
[[contact]]
name = "wall"
gap = "x - L/2*cos(a)"
restitution = "e"
[initial]
position = ["L/2*cos(1.1)", "L/2*sin(1.1)", 1.1]
[run]
step = 0.002
end_time = 0.6
)toml";

/// Without friction a'' = -(3g/2L) cos a until the wall lets go at sin a = (2/3) sin a0: until then both contacts
/// carry, and nothing strikes.
TEST(ContactRecord, ALadderThatSlidesDownStrikesNothing) {
  for (const double scale : {1e-6, 1.0, 1e6})
    for (const double e : {0.0, 0.5}) {
      const Simulation r = run_text(kLadder, {"parameters.L=" + number(4 * scale),
                                              "parameters.g=" + number(9.81 * scale), "parameters.e=" + number(e)});
      ASSERT_EQ(r.status, Status::success) << r.message;
      EXPECT_EQ(impacts(r), 0) << "scale " << scale << ", e " << e;
      const Trajectory& t = r.trajectory;
      for (Index row = 1; row < t.rows(); ++row) {
        const double a = t.q(row, 2), a0 = 1.1, m = 10, g = 9.81 * scale;
        if (std::sin(a) < 0.7 * std::sin(a0)) break;
        // Of the centre: N_wall = m x'', N_floor = m (g + y''), with a'² = (3g/L)(sin a0 - sin a).
        const double wall = m * g * 0.75 * std::cos(a) * (3 * std::sin(a) - 2 * std::sin(a0));
        const double floor = m * g * (0.25 + 0.75 * std::sin(a) * (3 * std::sin(a) - 2 * std::sin(a0)));
        EXPECT_NEAR(t.reaction(row, 1), wall, 0.02 * m * g) << "scale " << scale << ", e " << e << ", t " << t.t(row);
        EXPECT_NEAR(t.reaction(row, 0), floor, 0.02 * m * g) << "t " << t.t(row);
      }
    }
}

constexpr const char* kTwoBalls = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "heavy"
mass = 100
position_0 = [0, 0, 0.1]
[[body]]
name = "light"
mass = 0.001
position_0 = [1, 0, 0.1001]
[[shape]]
body = "heavy"
kind = "sphere"
radius = 0.1
[[shape]]
body = "light"
kind = "sphere"
radius = 0.1
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
name = "c"
between = ["*", "*"]
mu = 0.3
restitution = 0.5
[run]
step = 0.0005
end_time = 0.05
)toml";

/// One law, two points: the light ball's impacts are its own, of at most (1 + e) m √(2 g z) and a step's weight.
TEST(ContactRecord, AnImpactIsThatOfThePointsThatStrike) {
  const double most = 1e-3 * (1.5 * std::sqrt(2 * 9.81 * 1e-4) + 2 * 9.81 * 5e-4);
  for (const char* law : {"newton", "poisson", "energetic"}) {
    const Simulation r = run_text(kTwoBalls, {fmt::format("contact.c.impact={}", law)});
    ASSERT_EQ(r.status, Status::success) << r.message;
    ASSERT_GT(impacts(r), 0);
    for (const Event& event : r.trajectory.events)
      EXPECT_LT(event.kind == EventKind::impact ? event.impulse : 0.0, most) << law << ", t " << event.t;
    // The light ball's weight and what is too slow for an impact, m g and 2 m g, beside the heavy one's.
    for (Index row = 1; row < r.trajectory.rows(); ++row)
      EXPECT_NEAR(r.trajectory.reaction(row, 0), 981, 3 * 9.81e-3) << law << ", row " << row;
  }
}

constexpr const char* kTable = R"toml(
[parameters]
L = 1
T = 1
[matrices]
coordinates = ["y"]
mass = [[2]]
force = ["-19.62*L/T^2"]
[[contact]]
name = "table"
gap = "y - 0.02*L*sin(20*t/T)"
[initial]
velocity = ["0.4*L/T"]
[run]
step = 0.001
end_time = 2
)toml";

constexpr const char* kIncline = R"toml(
[parameters]
L = 1
[matrices]
coordinates = ["s", "n"]
mass = {diagonal = 3}
force = ["3*9.81*L*sin(0.05*t)", "-3*9.81*L*cos(0.05*t)"]
[[contact]]
name = "plane"
gap = "n"
slip = "s"
mu = 0.4
mu_static = 0.5
[run]
step = 0.01
end_time = 11
)toml";

/// A gap that moves is followed to O(h²), one at rest to round-off of what the forces of a step would make of it.
TEST(ContactRecord, WhatASurfaceLeavesOpenOrClosedInAStepIsNoPenetration) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    const Simulation block = run_text(kIncline, {"parameters.L=" + number(scale)});
    EXPECT_EQ(block.status, Status::success) << "scale " << scale << ": " << block.message;
    for (const double h : {4e-3, 1e-3, 2.5e-4}) {
      const Simulation r = run_text(kTable, {"parameters.L=" + number(scale), "run.step=" + number(h)});
      EXPECT_EQ(r.status, Status::success) << "scale " << scale << ", h " << h << ": " << r.message;
      // The table turns at 8 m/s²: no more than h² of that and of gravity.
      EXPECT_LT(audit_value(r, "penetration_end"), (8 + 9.81) * scale * h * h);
    }
  }
}

constexpr const char* kTower = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "b"
count = 8
mass = 1
position_0 = [0, 0, "0.1 + 0.2*i"]
[[body]]
name = "ball"
mass = 3
position_0 = [-1.5, 0.05, 0.9]
velocity_0 = [6, 0, 1]
[[shape]]
body = "b"
kind = "box"
size = [0.3, 0.3, 0.2]
[[shape]]
body = "ball"
kind = "sphere"
radius = 0.12
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
name = "c"
between = ["*", "*"]
mu = 0.1
restitution = 0.2
[run]
step = 0.002
end_time = 0.35
)toml";

/// The shortest way out of a penetration need not be found to the last digit.
TEST(ContactRecord, ATowerThatIsHitComesOutOfItsPenetrations) {
  for (const double mu : {0.1, 0.4}) {
    const Simulation r = run_text(kTower, {"contact.c.mu=" + number(mu)});
    EXPECT_EQ(r.status, Status::success) << "mu " << mu << ": " << r.message;
    EXPECT_NE(audit_value(r, "energy_correction"), 0.0);  // there was one
    EXPECT_LT(audit_value(r, "penetration_end"), 1e-6 * 0.2);
  }
}

// The sides of a guide without play: the one that carries nothing has round-off for a reaction, which is no load.
TEST(ContactRecord, RoundOffClosesNoContact) {
  const Simulation s = run_text(R"toml(
[parameters]
r = 0.1
l = 0.3
[equations]
coordinates = ["phi", "psi", "x", "y"]
kinetic_energy = "0.01*v_phi^2 + 0.0025*v_psi^2 + v_x^2 + v_y^2"
potential = "19.62*y"
force = [1, 0, 0, 0]
[[constraint]]
position = "r*cos(phi) + l*cos(psi) - x"
[[constraint]]
position = "r*sin(phi) + l*sin(psi) - y"
[[contact]]
name = "below"
gap = "y"
slip = "x"
mu = 0.2
[[contact]]
name = "above"
gap = "-y"
slip = "x"
mu = 0.2
[initial]
position = [0.5, "-asin(r*sin(0.5)/l)", "r*cos(0.5) + sqrt(l^2 - (r*sin(0.5))^2)", 0]
[run]
step = 0.001
end_time = 0.8
)toml");
  ASSERT_EQ(s.status, Status::success) << s.message;
  // The weight keeps the slider on the lower side all the time; both sides touch at the start, until the first step.
  for (const Event& event : s.trajectory.events)
    EXPECT_TRUE(event.t <= 0.0015 || event.law == 0) << "at t = " << event.t;
  EXPECT_EQ(s.final.modes[1], Mode::open);
}

}  // namespace
}  // namespace stickslip::contact_record_test
