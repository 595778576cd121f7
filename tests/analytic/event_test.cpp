// SPDX-License-Identifier: Apache-2.0
// Closed forms for the event scheme: forced friction, belts, contact that opens, closes, bounces and slides.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stickslip/common/root_finding.hpp"
#include "stickslip/io/model_file.hpp"
#include "tests/support/audit_value.hpp"

namespace stickslip::event_test {
namespace {

Simulation run(std::string_view text, std::vector<std::string> overrides = {}) {
  const ModelFile model = parse_model(text, "test.toml", overrides);
  return simulate(*model.system, model.initial, model.run);
}

Simulation run_to(std::string_view text, double end_time, std::vector<std::string> overrides = {}) {
  overrides.push_back(fmt::format("run.end_time={:.17g}", end_time));
  return run(text, overrides);
}

constexpr std::string_view kForced = R"toml(
[parameters]
b = 0.5
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
force = ["cos(b*t)"]
[[friction]]
on = "x"
limit = 0.4
[run]
scheme = "event"
end_time = 1
steps = 1
)toml";

struct DenHartog {
  double b, amplitude;
};
class ForcedOscillator : public testing::TestWithParam<DenHartog> {};

// Sheet of paper 5, table 5.1 (ten digits).
TEST_P(ForcedOscillator, ReachesDenHartogsAmplitudeAfterTransients) {
  const auto [b, amplitude] = GetParam();
  const double period = 2 * std::numbers::pi / b;
  const std::string set = fmt::format("parameters.b={}", b);
  const Simulation s = run_to(kForced, 300 * period, {set});
  ASSERT_EQ(s.status, Status::success) << s.message;
  double turning = 0;  // the last time the velocity vanished, reversal or stop
  for (const Event& event : s.trajectory.events)
    if (event.kind != EventKind::slip) turning = event.t;
  const Simulation up_to = run_to(kForced, turning, {set});
  EXPECT_NEAR(std::abs(up_to.final.q[0]), amplitude, 1e-9);
  EXPECT_LT(audit_value(s, "energy"), 1e-12);
}
// b = 1.5 and above lose their transients by about f per period only: 300 periods suffice for all of these.
INSTANTIATE_TEST_SUITE_P(Table, ForcedOscillator,
                         testing::Values(DenHartog{0.3, 0.8567297781}, DenHartog{0.4, 1.1111255139},
                                         DenHartog{0.5, 1.3287764165}, DenHartog{0.6, 1.5143507196},
                                         DenHartog{0.7, 1.8251665659}, DenHartog{0.8, 2.5017878810},
                                         DenHartog{0.9, 4.6203419164}, DenHartog{1.1, 4.0347435027},
                                         DenHartog{1.2, 1.9020281595}, DenHartog{1.5, 0.6531972647}),
                         [](const auto& row) { return fmt::format("b{}", static_cast<int>(10 * row.param.b)); });

constexpr std::string_view kBelt = R"toml(
[matrices]
coordinates = ["x"]
mass = [[2]]
stiffness = [[3]]
[[friction]]
on = "x"
limit = 0.5
static_limit = 0.8
surface_velocity = 0.1
[initial]
velocity = [0.1]
[run]
scheme = "event"
end_time = 60
steps = 1
)toml";

// Stuck from x = f_d/k - Δ to f_s/k with the belt's speed w, Δ = (f_s - f_d)/k; then x = f_d/k + Δ cos ωt + (w/ω) sin
// ωt until the speed is w again, at ωt = 2π - 2 atan(Δω/w).
TEST(Belt, HasThePeriodOfTheClosedForm) {
  const double omega = std::sqrt(1.5), delta = 0.3 / 3, w = 0.1;
  const double slip = (2 * std::numbers::pi - 2 * std::atan(delta * omega / w)) / omega, stick = 2 * delta / w;
  const Simulation s = run(kBelt);
  ASSERT_EQ(s.status, Status::success) << s.message;
  std::vector<double> releases, stops;
  for (const Event& event : s.trajectory.events) (event.kind == EventKind::slip ? releases : stops).push_back(event.t);
  ASSERT_GT(releases.size(), 5u);
  EXPECT_NEAR(releases[0], 0.8 / 3 / w, 1e-13);
  for (std::size_t k = 1; k < releases.size(); ++k) EXPECT_NEAR(releases[k] - releases[k - 1], slip + stick, 1e-10);
  for (std::size_t k = 0; k < stops.size(); ++k) EXPECT_NEAR(stops[k] - releases[k], slip, 1e-10);
  EXPECT_EQ(audit_value(s, "stuck_motion"), 0.0);
}

constexpr std::string_view kLifting = R"toml(
[parameters]
g = 10
mu = 0.3
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = [0, "-g + 2*g*sin(t)"]
[[contact]]
gap = "z"
slip = ["x"]
mu = "mu"
[initial]
velocity = [50, 0]
[run]
scheme = "event"
end_time = 6.5
steps = 7
)toml";

// The load 2 g sin t lifts the block at t = π/6; z'' = -g + 2 g sin t from there until it lands.
TEST(SlidingBlock, LiftsOffAndLandsWhereTheClosedFormSays) {
  const double g = 10, mu = 0.3, t1 = std::numbers::pi / 6;
  auto z_of = [&](double t) {
    const double d = t - t1;
    return -g * d * d / 2 - 2 * g * (std::sin(t) - std::sin(t1)) + 2 * g * std::cos(t1) * d;
  };
  auto zv_of = [&](double t) { return -g * (t - t1) - 2 * g * (std::cos(t) - std::cos(t1)); };
  const double t2 = find_root(z_of, 3.0, z_of(3.0), 6.4, z_of(6.4), 0).x;
  auto normal_impulse = [&](double from, double to) {
    return g * (to - from) + 2 * g * (std::cos(to) - std::cos(from));
  };
  const Simulation s = run(kLifting);
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_EQ(s.trajectory.events.size(), 3u);
  EXPECT_EQ(s.trajectory.events[0].kind, EventKind::open);
  EXPECT_NEAR(s.trajectory.events[0].t, t1, 1e-14);
  EXPECT_EQ(s.trajectory.events[1].kind, EventKind::impact);
  EXPECT_NEAR(s.trajectory.events[1].t, t2, 1e-13);
  EXPECT_NEAR(s.trajectory.events[1].impulse, -zv_of(t2), 1e-12);
  EXPECT_EQ(s.trajectory.events[2].kind, EventKind::close);
  const double v = 50 - mu * (normal_impulse(0, t1) - zv_of(t2) + normal_impulse(t2, 6.5));
  ASSERT_GT(v, 0);
  EXPECT_NEAR(s.final.v[0], v, 1e-12);
  EXPECT_NEAR(s.final.q[1], 0.0, 1e-15);
  EXPECT_LT(audit_value(s, "energy"), 1e-13);
}

constexpr std::string_view kBounce = R"toml(
[parameters]
g = 9.81
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = [0, "-g"]
[[contact]]
gap = "z"
slip = ["x"]
mu = 0.1
restitution = 0.7
[initial]
position = [0, 1]
velocity = [3, 0]
[run]
scheme = "event"
end_time = 3
steps = 3
)toml";

// n-th impact with speed u e^n at T(1 + 2(e + ... + e^n)); each takes μ (1 + e) of it from the sliding speed. All
// together: normal impulse u (1+e)/(1-e), over at T (1+e)/(1-e); rest of the slide with deceleration μ g.
TEST(BouncingBall, SlidesThroughInfinitelyManyImpacts) {
  const double g = 9.81, mu = 0.1, e = 0.7, T = std::sqrt(2 / g), u = g * T;
  const Simulation s = run(kBounce);
  ASSERT_EQ(s.status, Status::success) << s.message;
  double last = 0;
  std::size_t impacts = 0;
  for (const Event& event : s.trajectory.events) {
    if (event.kind != EventKind::impact) continue;
    const double n = static_cast<double>(impacts++);
    EXPECT_NEAR(event.t, T * (1 + 2 * e * (1 - std::pow(e, n)) / (1 - e)), 1e-13);
    if (n < 20) {
      EXPECT_NEAR(event.impulse, (1 + e) * u * std::pow(e, n), 1e-13);
    }
    last = event.t;
  }
  const double rest = T * (1 + e) / (1 - e);
  EXPECT_NEAR(last, rest, 1e-8);
  EXPECT_GT(impacts, 30u);
  const double v = 3 - mu * u * (1 + e) / (1 - e) - mu * g * (3 - rest);
  EXPECT_NEAR(s.final.v[0], v, 1e-9);  // accumulation_time: 1e-9 s of flight are left out
  EXPECT_NEAR(s.final.q[1], 0.0, 1e-15);
  EXPECT_EQ(s.final.modes[0], Mode::slip_plus);
}

constexpr std::string_view kIncline = R"toml(
[parameters]
alpha = 0.5
g = 9.81
[matrices]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = [0, "-g*sin(alpha)", "-g*cos(alpha)"]
[[contact]]
gap = "z"
slip = ["x", "y"]
mu = 0.5463024898437905
[initial]
velocity = [2, 0, 0]
[run]
scheme = "event"
tolerance = 1e-12
end_time = 20
steps = 20
)toml";

// μ = tan α: the sum of speed and speed down the slope is constant, so v0 sideways ends as v0/2 straight down.
TEST(BlockOnIncline, PushedSidewaysEndsAtHalfItsSpeedDownTheSlope) {
  const Simulation s = run(kIncline);
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.v[1], -1, 1e-10);
  EXPECT_NEAR(s.final.v[0], 0, 1e-10);
  EXPECT_NEAR(std::hypot(s.trajectory.v(1, 0), s.trajectory.v(1, 1)) - s.trajectory.v(1, 1), 2, 1e-10);
}

TEST(BlockOnIncline, StopsInThePlaneAtTheTimeOfItsDeceleration) {
  const Simulation s = run(kIncline, {"parameters.alpha=0", "contact.0.mu=0.25"});
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_EQ(s.trajectory.events.size(), 1u);
  EXPECT_EQ(s.trajectory.events[0].kind, EventKind::stick);
  EXPECT_NEAR(s.trajectory.events[0].t, 2 / (0.25 * 9.81), 1e-10);
  EXPECT_NEAR(s.final.q[0], 4 / (2 * 0.25 * 9.81), 1e-10);
  EXPECT_EQ(s.final.v[0], 0.0);
}

// A thin uniform rod (l = 2, m = 1) sliding on its lower end at the angle tan φ = 2: D_NN - μ |D_NT| = 1.6 - 1.2 μ.
constexpr std::string_view kRod = R"toml(
[parameters]
mu = 1.5
w0 = 0
[equations]
coordinates = ["x", "y", "phi"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, "1/3"]]
force = [0, -9.81, 0]
[[contact]]
name = "tip"
gap = "y - sin(phi)"
slip = ["x - cos(phi)"]
mu = "mu"
[initial]
position = [0, "sin(atan(2))", "atan(2)"]
velocity = ["-3 - sin(atan(2))*w0", "cos(atan(2))*w0", "w0"]
[run]
scheme = "event"
end_time = 0.05
steps = 5
)toml";

TEST(PainleveRod, SlidesBelowFourThirdsAndHasNoAccelerationAbove) {
  // Towards negative x friction presses the tip down: D_NN + sgn(u_T) μ 1.2 = 1.6 - 1.2 μ.
  const std::string paradoxical = "initial.velocity=[-3, 0, 0]", other = "initial.velocity=[3, 0, 0]";
  for (const std::string& velocity : {paradoxical, other}) {
    const Simulation s = run(kRod, {"parameters.mu=1.3", velocity});
    EXPECT_EQ(s.status, Status::success) << velocity << " " << s.message;
  }
  EXPECT_EQ(run(kRod, {other}).status, Status::success);
  const Simulation s = run(kRod, {paradoxical});
  EXPECT_EQ(s.status, Status::no_solution);
  EXPECT_NE(s.message.find("Painlevé"), std::string::npos) << s.message;
  EXPECT_NE(s.message.find("'tip'"), std::string::npos) << s.message;
}

// Turning fast, the tip is carried away from the floor (bias w² sin φ > g) or pressed on by its friction.
TEST(PainleveRod, HasTwoAccelerationsWhereItTurnsFast) {
  const Simulation s = run(kRod, {"parameters.w0=8"});
  EXPECT_EQ(s.status, Status::refused);
  EXPECT_NE(s.message.find("two accelerations"), std::string::npos) << s.message;
  const Simulation other = run(kRod, {"parameters.w0=-8", "initial.velocity=[3, \"cos(atan(2))*w0\", \"w0\"]"});
  EXPECT_EQ(other.status, Status::refused);
  EXPECT_NE(other.message.find("two accelerations"), std::string::npos) << other.message;
}

constexpr std::string_view kBeam = R"toml(
[matrices]
coordinates = ["z", "phi"]
mass = [[2, 0], [0, 0.5]]
stiffness = [[3, 1], [1, 4]]
force = ["sin(2*t)", "cos(t)"]
[[friction]]
name = "joint"
on = "phi"
limit = 0.2
[initial]
position = [0, 0.3]
[run]
scheme = "event"
end_time = 20
steps = 20
)toml";

TEST(RedundantConstraints, ThatRepeatARowChangeNothing) {
  const std::string once = std::string(kBeam) + "[[constraint]]\nname = \"a\"\nposition = \"z\"\n";
  const std::string twice = once + "[[constraint]]\nname = \"b\"\nposition = \"2*z\"\n";
  const Simulation s = run(once), t = run(twice);
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_EQ(t.status, Status::success) << t.message;
  ASSERT_EQ(s.trajectory.events.size(), t.trajectory.events.size());
  ASSERT_GT(s.trajectory.events.size(), 5u);
  for (std::size_t k = 0; k < s.trajectory.events.size(); ++k)
    EXPECT_NEAR(s.trajectory.events[k].t, t.trajectory.events[k].t, 1e-12);
  EXPECT_NEAR(s.final.q[1], t.final.q[1], 1e-13);
  EXPECT_LT(std::abs(t.final.q[0]), 1e-15);
}

// Three supports in a line hold a beam that two of them would hold.
TEST(RedundantConstraints, OfThreeCollinearSupportsLeaveTheMotionOfTwo) {
  auto supports = [&](std::vector<double> places) {
    std::string text = R"toml(
[matrices]
coordinates = ["z", "phi", "x"]
mass = [[2, 0, 0.3], [0, 0.5, 0.1], [0.3, 0.1, 1]]
stiffness = [[3, 1, 0], [1, 4, 0], [0, 0, 2]]
force = ["sin(2*t)", "cos(t)", "2*sin(t)"]
[[friction]]
on = "x"
limit = 0.4
[run]
scheme = "event"
end_time = 20
steps = 20
)toml";
    for (const double x : places) text += fmt::format("[[constraint]]\nposition = \"z + {}*phi\"\n", x);
    return run(text);
  };
  const Simulation two = supports({-1, 1}), three = supports({-1, 0, 1});
  ASSERT_EQ(three.status, Status::success) << three.message;
  EXPECT_NEAR(two.final.q[2], three.final.q[2], 1e-13);
  EXPECT_EQ(two.trajectory.events.size(), three.trajectory.events.size());
  EXPECT_LT(std::abs(three.final.q[0]) + std::abs(three.final.q[1]), 1e-14);
}

// One axis held by two dampers with different limits: together they hold the sum, whichever share each takes.
TEST(RedundantFriction, GivesWayAtTheSumOfItsLimits) {
  for (const char* flow : {"exact", "integrator"}) {
    const Simulation s = run(fmt::format(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
force = ["t"]
[[friction]]
name = "weak"
on = "x"
limit = 1
[[friction]]
name = "strong"
direction = [2]
limit = 1.5
[run]
scheme = "event"
end_time = 6
steps = 6
tolerance = 1e-11
[run.event]
flow = "{}"
)toml",
                                         flow));
    ASSERT_EQ(s.status, Status::success) << s.message;
    ASSERT_EQ(s.trajectory.events.size(), 2u);
    for (const Event& event : s.trajectory.events) {
      EXPECT_EQ(event.kind, EventKind::slip);
      EXPECT_NEAR(event.t, 4, 1e-11);  // a reaction within 1e-13 of the largest beyond its border is on it
    }
    EXPECT_NEAR(s.final.q[0], 8.0 / 6, 1e-9);
  }
}

// Four legs under a block: normal forces are not unique, the block stays until friction as a whole gives way.
TEST(RedundantContacts, HoldABlockOnFourLegs) {
  std::string text = R"toml(
[matrices]
coordinates = ["x", "z", "phi"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 0.5]]
force = ["0.5*t", -10, 0]
[run]
scheme = "event"
end_time = 8
steps = 8
)toml";
  for (const double place : {-1.5, -0.5, 0.5, 1.5})
    text += fmt::format("[[contact]]\ngap = \"z + {}*phi\"\nslip = [\"x\"]\nmu = 0.3\n", place);
  const Simulation s = run(text);
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_EQ(s.trajectory.events.size(), 4u);
  for (const Event& event : s.trajectory.events) EXPECT_NEAR(event.t, 6, 1e-10);
  EXPECT_NEAR(s.final.q[0], 0.5 * std::pow(2.0, 3) / 6, 1e-9);
  EXPECT_NEAR(s.final.q[1], 0, 1e-14);
}

// The jump belongs to the time after it, whichever way the condition is written.
TEST(Breakpoints, OfForcesAreEvents) {
  for (const char* condition : {"t < 1", "t <= 1"}) {
    for (const char* flow : {"exact", "integrator"}) {
      const Simulation s = run(fmt::format(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
force = ["if({}, 0.5, 2)"]
[[friction]]
on = "x"
limit = 1
[run]
scheme = "event"
end_time = 3
steps = 1
tolerance = 1e-12
[run.event]
flow = "{}"
)toml",
                                           condition, flow));
      ASSERT_EQ(s.status, Status::success) << s.message;
      ASSERT_EQ(s.trajectory.events.size(), 1u) << condition << " " << flow;
      EXPECT_NEAR(s.trajectory.events[0].t, 1, 1e-12);
      EXPECT_NEAR(s.final.q[0], 0.5 * 1 * 4, 1e-10);  // a = 2 - 1 for two seconds
    }
  }
}

// A bump that grazes: the gap dips below zero for a time far shorter than a period of output or motion.
TEST(Grazing, IsFoundHoweverShortTheDip) {
  auto touches = [&](double depth) {
    return run(fmt::format(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
[[contact]]
gap = "1 - {:.17g} - x"
[initial]
position = [-1]
[run]
scheme = "event"
end_time = 6.0
steps = 1
)toml",
                           depth))
        .trajectory.events.size();
  };
  EXPECT_GT(touches(1e-12), 0u);  // below zero for 3e-6 of 6 seconds
  EXPECT_EQ(touches(-1e-12), 0u);
}

// A block that slides to rest under friction that falls with its speed, c (1 - γ(v)), γ = β v/√(v² + ε²). All of the
// weakening happens within |v| < ε, which a step across v = 0 need not have seen. With v = ε sinh s the way is
//   x = m/c ∫ v dv/(1 - γ) = m ε²/c ∫ sinh s cosh s/(1 - β tanh s) ds,    s from 0 to asinh(v0/ε)
TEST(Event, SlidesToRestThroughAWeakeningThatIsOverJustBeforeTheStop) {
  const double beta = 0.6, v0 = 1, c = 2;
  for (const double epsilon : {1e-1, 1e-3, 1e-5}) {
    const int parts = 200'000;  // Simpson's rule: 1e-13 and better
    const double ds = std::asinh(v0 / epsilon) / parts;
    double sum = 0;
    for (int k = 0; k <= parts; ++k) {
      const double s = k * ds, weight = k == 0 || k == parts ? 1 : k % 2 == 1 ? 4 : 2;
      sum += weight * std::sinh(s) * std::cosh(s) / (1 - beta * std::tanh(s));
    }
    const double way = epsilon * epsilon / c * sum * ds / 3;
    for (const double tolerance : {1e-6, 1e-9}) {
      const Simulation s = run(fmt::format(R"toml(
[equations]
coordinates = ["x"]
mass = [[1]]
[[friction]]
on = "x"
limit = {}
weakening = {{ shape = "algebraic", beta = {}, epsilon = {} }}
[initial]
velocity = [{}]
[run]
scheme = "event"
tolerance = {}
end_time = 3
steps = 1
)toml",
                                           c, beta, epsilon, v0, tolerance));
      ASSERT_EQ(s.status, Status::success) << s.message;
      EXPECT_NEAR(s.final.q[0], way, 10 * tolerance * way) << "epsilon " << epsilon << ", tolerance " << tolerance;
      EXPECT_EQ(s.final.v[0], 0);
      EXPECT_TRUE(passed(s.audit));
    }
  }
}

}  // namespace
}  // namespace stickslip::event_test
