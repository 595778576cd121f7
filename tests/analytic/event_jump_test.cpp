// SPDX-License-Identifier: Apache-2.0
// Closed forms for the event scheme where given functions jump (force, surface, gap, constraint), and where the forces
// of a law vanish together, so that their derivatives decide.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "stickslip/io/model_file.hpp"
#include "tests/support/audit_value.hpp"

namespace stickslip::event_jump_test {
namespace {

using std::numbers::pi;

Simulation run(const std::string& text) {
  const ModelFile model = parse_model(text, "test.toml");
  return simulate(*model.system, model.initial, model.run);
}

std::string with_run(const std::string& model, double end_time, double start_time = 0, std::string_view more = "") {
  return fmt::format("{}\n[run]\nscheme = \"event\"\nstart_time = {:.17g}\nend_time = {:.17g}\nsteps = 20\n{}", model,
                     start_time, end_time, more);
}

std::string mass_with(std::string_view force) {
  return fmt::format("[matrices]\ncoordinates = [\"x\"]\nmass = [[1]]\nforce = [\"{}\"]\n", force);
}

struct StartCase {
  std::string_view force;
  double start, x, v;  // one second later
};
class ForceAtTheStart : public testing::TestWithParam<StartCase> {};

// A unit mass from rest: x and v are integrals of the force's right limits.
TEST_P(ForceAtTheStart, ActsByItsRightLimit) {
  const StartCase& c = GetParam();
  const Simulation s = run(with_run(mass_with(c.force), c.start + 1, c.start));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.q[0], c.x, 1e-13);
  EXPECT_NEAR(s.final.v[0], c.v, 1e-13);
}
INSTANTIATE_TEST_SUITE_P(Forces, ForceAtTheStart,
                         testing::Values(StartCase{"if(t > 0, 1, 0)", 0, 0.5, 1}, StartCase{"sign(t)", 0, 0.5, 1},
                                         StartCase{"max(0, t)", 0, 1.0 / 6, 0.5},
                                         StartCase{"if(t == 0, 5, 1)", 0, 0.5, 1},
                                         StartCase{"if(t > 0.3, 1, 0)", 0.3, 0.5, 1},
                                         StartCase{"max(0, sin(t))", 0, 1 - std::sin(1.0), 1 - std::cos(1.0)}));

// No series at t = 0, but a motion: x'' = sqrt(t).
TEST(ForceAtTheStart, MayHaveNoSeriesThere) {
  const Simulation s = run(with_run(mass_with("sqrt(t)"), 1));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.q[0], 4.0 / 15, 1e-9);  // one step of the integrator, to run.tolerance
  EXPECT_NEAR(s.final.v[0], 2.0 / 3, 1e-9);
}

// A pulse of width 1e-3: v = 1e-3 sqrt(pi), x = v (10 - pi). Its beginning underflows.
TEST(Pulse, IsPassedThroughTheSmallestNumbers) {
  const Simulation s = run(with_run(mass_with("exp(-((t-pi)/0.001)^2)"), 10));
  ASSERT_EQ(s.status, Status::success) << s.message;
  const double v = 1e-3 * std::sqrt(pi);
  EXPECT_NEAR(s.final.v[0], v, 1e-12 * v);
  EXPECT_NEAR(s.final.q[0], v * (10 - pi), 1e-11 * v);
}

// Belt from +0.2 to -0.2 m/s at t = 0.5: the body slips back at mu g for 0.4/(mu g) and sticks again.
TEST(SurfaceJump, LetsAContactSlipFromTheVelocityItHas) {
  const double a = 0.3 * 9.81, slip = 0.4 / a;
  const Simulation s = run(with_run(R"toml([matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = [0, -9.81]
[[contact]]
gap = "y"
slip = "x"
mu = 0.3
surface_velocity = "if(t < 0.5, 0.2, -0.2)"
)toml",
                                    1));
  ASSERT_EQ(s.status, Status::success) << s.message;
  const double first = 0.2 / a;  // from rest up to the belt's speed
  const double x = 0.5 * 0.2 * first + 0.2 * (0.5 - first) - 0.2 * (0.5 - slip);
  EXPECT_NEAR(s.final.q[0], x, 1e-8);
  EXPECT_EQ(s.final.modes[0], Mode::stick);
}

TEST(SurfaceJump, LetsFrictionSlipFromTheVelocityItHas) {
  const std::string model = R"toml([matrices]
coordinates = ["x"]
mass = [[1]]
[[friction]]
on = "x"
limit = 1
surface_velocity = "if(t <= 0.5, 0.2, -0.2)"
)toml";
  // 0.2 s up to the belt, 0.3 s with it, 0.4 s back, 0.1 s with it: both sides of the jump at a condition with <=
  const Simulation s = run(with_run(model, 1));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.q[0], 0.02 + 0.06 + 0.0 - 0.02, 1e-13);
  EXPECT_EQ(s.final.v[0], -0.2);
}

TEST(GapJump, LetsAMassFallFromWhereItIs) {
  const Simulation s = run(with_run(R"toml([matrices]
coordinates = ["y"]
mass = [[1]]
force = [-9.81]
[[contact]]
gap = "y + if(t < 0.5, 0, 0.1)"
)toml",
                                    1));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.q[0], -0.1, 1e-12);
  const auto impact = std::find_if(s.trajectory.events.begin(), s.trajectory.events.end(),
                                   [](const Event& e) { return e.kind == EventKind::impact; });
  ASSERT_NE(impact, s.trajectory.events.end());
  EXPECT_NEAR(impact->t, 0.5 + std::sqrt(0.2 / 9.81), 1e-9);
}

TEST(GapJump, IntoTheBodyEndsTheRun) {
  const Simulation s = run(with_run(R"toml([matrices]
coordinates = ["y"]
mass = [[1]]
force = [-9.81]
[[contact]]
name = "floor"
gap = "y - if(t < 0.5, 0, 0.1)"
)toml",
                                    1));
  EXPECT_EQ(s.status, Status::refused);
  EXPECT_NE(s.message.find("floor"), std::string::npos) << s.message;
  EXPECT_EQ(s.final.t, 0.5);
}

TEST(ConstraintJump, EndsTheRun) {
  const Simulation s = run(with_run(R"toml([equations]
coordinates = ["x"]
mass = [[1]]
[[constraint]]
name = "rail"
position = "x - if(t < 0.5, 0, 0.1)"
)toml",
                                    1));
  EXPECT_EQ(s.status, Status::refused);
  EXPECT_NE(s.message.find("rail"), std::string::npos) << s.message;
}

// x' = 8 - t²/4, and x' = cos t.
TEST(ZeroLimitAtTheStart, IsNoLawThatDoesNothing) {
  const std::string model = R"toml([matrices]
coordinates = ["x"]
mass = [[1]]
[[friction]]
on = "x"
limit = "{}"
[initial]
velocity = [{}]
)toml";
  const Simulation grows = run(with_run(fmt::format(fmt::runtime(model), "0.5*t", 8), 5));
  EXPECT_NEAR(grows.final.q[0], 40 - 125.0 / 12, 1e-7);
  const Simulation spring = run(with_run(fmt::format(fmt::runtime(model), "abs(x)", 1), 1));
  EXPECT_NEAR(spring.final.q[0], std::sin(1.0), 1e-8);
  EXPECT_NEAR(spring.final.v[0], std::cos(1.0), 1e-8);
}

struct LiftCase {
  std::string_view kind, force;
  double end, y;
};
class LiftOff : public testing::TestWithParam<LiftCase> {};

// The only force vanishes where the contact opens: its derivative decides.
TEST_P(LiftOff, HappensWhereTheOnlyForceVanishes) {
  const LiftCase& c = GetParam();
  const Simulation s = run(with_run(fmt::format("[{}]\ncoordinates = [\"y\"]\nmass = [[1]]\nforce = [\"{}\"]\n"
                                                "[[contact]]\ngap = \"y\"\n",
                                                c.kind, c.force),
                                    c.end));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.q[0], c.y, c.kind == "matrices" ? 1e-12 : 1e-8);
  EXPECT_LT(audit_value(s, "set"), 1e-9);
}
INSTANTIATE_TEST_SUITE_P(Forces, LiftOff,
                         testing::Values(LiftCase{"matrices", "-cos(t)", 3, std::cos(3.0) + 3 - pi / 2},
                                         LiftCase{"equations", "-cos(t)", 3, std::cos(3.0) + 3 - pi / 2},
                                         LiftCase{"matrices", "-2*cos(t)", 3, 2 * (std::cos(3.0) + 3 - pi / 2)},
                                         LiftCase{"equations", "t-1", 2, 1.0 / 6},
                                         LiftCase{"matrices", "t-1", 2, 1.0 / 6},
                                         LiftCase{"matrices", "(t-1)^3", 2, 1.0 / 20}));

struct LoadCase {
  std::string_view kind, pull;
  double x;
};
class LoadFromZero : public testing::TestWithParam<LoadCase> {};

// Normal load t, mu = 0.5. A pull 0.6 t accelerates by 0.1 t; a pull 1 by 1 - t/2, to rest at t = 4; 0.4 t is held.
TEST_P(LoadFromZero, SlipsSticksAndStopsAsTheLoadGrows) {
  const LoadCase& c = GetParam();
  const Simulation s = run(with_run(fmt::format("[{}]\ncoordinates = [\"x\", \"y\"]\nmass = [[1, 0], [0, 1]]\n"
                                                "force = [\"{}\", \"-t\"]\n"
                                                "[[contact]]\ngap = \"y\"\nslip = \"x\"\nmu = 0.5\n",
                                                c.kind, c.pull),
                                    5));
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.q[0], c.x, 1e-8);
}
INSTANTIATE_TEST_SUITE_P(Pulls, LoadFromZero,
                         testing::Values(LoadCase{"matrices", "0.6*t", 125.0 / 60},
                                         LoadCase{"equations", "0.6*t", 125.0 / 60},
                                         LoadCase{"matrices", "-0.6*t", -125.0 / 60},
                                         LoadCase{"matrices", "1", 8.0 / 3}, LoadCase{"equations", "1", 8.0 / 3},
                                         LoadCase{"matrices", "0.4*t", 0.0}, LoadCase{"equations", "0.4*t", 0.0}));

// Friction mu |5 sin 3t| of a guide without play under gravity; the load begins at zero.
TEST(LoadFromZero, InAGuideWithoutPlay) {
  const double mu = 0.2, third = pi / 3;
  double work = 0;  // ∫ (3 - t) |5 sin 3t| dt by parts over the three half waves of [0, pi], cut at 3
  auto part = [&](double a, double b, double sign) {
    auto F = [&](double t) { return -(3 - t) * std::cos(3 * t) / 3 - std::sin(3 * t) / 9; };
    work += sign * 5 * (F(b) - F(a));
  };
  part(0, third, 1), part(third, 2 * third, -1), part(2 * third, 3, 1);
  const std::string model = R"toml([{}]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["5*sin(3*t)", -9.81]
[[contact]]
gap = "x"
slip = "y"
mu = 0.2
[[contact]]
gap = "-x"
slip = "y"
mu = 0.2
)toml";
  for (const std::string_view kind : {"matrices", "equations"}) {
    const Simulation s = run(with_run(fmt::format(fmt::runtime(model), kind), 3));
    ASSERT_EQ(s.status, Status::success) << kind << ": " << s.message;
    EXPECT_NEAR(s.final.q[1], -0.5 * 9.81 * 9 + mu * work, 1e-7) << kind;
  }
}

}  // namespace
}  // namespace stickslip::event_jump_test
