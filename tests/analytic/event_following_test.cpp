// SPDX-License-Identifier: Apache-2.0
// Limits that follow reactions of the same instant: friction of guides given by constraints against contacts and closed
// forms, self-locking, and the cases with no or two solutions.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/audit.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::event_following_test {
namespace {

std::string set(std::string_view key, double value) { return fmt::format("{}={:.17g}", key, value); }

// A slider crank whose slider is held by a guide without play.
constexpr std::string_view kCrank = R"toml(
[parameters]
r = 0.1
l = 0.3
ms = 2
J = 0.02
mu = 0.2
torque = 1.0
reversal = 10
[equations]
coordinates = ["phi", "psi", "x", "y"]
kinetic_energy = "0.5*J*v_phi^2 + 0.5*0.005*v_psi^2 + 0.5*ms*(v_x^2+v_y^2)"
potential = "ms*9.81*y"
force = ["if(t < reversal, torque, -torque)", 0, 0, 0]
[[constraint]]
name = "cx"
position = "r*cos(phi) + l*cos(psi) - x"
[[constraint]]
name = "cy"
position = "r*sin(phi) + l*sin(psi) - y"
[initial]
position = [0.5, "-asin(r*sin(0.5)/l)", "r*cos(0.5)+sqrt(l^2-(r*sin(0.5))^2)", 0]
consistent = "project"
[run]
scheme = "event"
tolerance = 1e-11
step = 0.05
end_time = 1
)toml";
constexpr std::string_view kTwoContacts = R"toml(
[[contact]]
name = "bottom"
gap = "y"
slip = "x"
mu = "mu"
[[contact]]
name = "top"
gap = "-y"
slip = "x"
mu = "mu"
)toml";
constexpr std::string_view kGuide = R"toml(
[[constraint]]
name = "guide"
position = "y"
[[friction]]
name = "shoe"
on = "x"
limit = "mu*abs(r_guide)"
)toml";

TEST(FollowingLimit, GuideAsAConstraintMovesAsTheOneOfTwoContacts) {
  struct Variant {
    double mu, torque, reversal, end;
  };
  for (const Variant& v : {Variant{0, 1, 10, 1}, Variant{0.1, 1, 10, 1}, Variant{0.2, 1, 10, 1}, Variant{0.4, 1, 10, 1},
                           Variant{0.6, 1, 10, 1}, Variant{0.2, 0.3, 10, 2}, Variant{0.2, 3, 10, 0.7},
                           Variant{0.3, -1, 10, 1}, Variant{0.3, 1, 0.4, 1.5}, Variant{0.5, 2, 0.25, 1.2}}) {
    const std::vector<std::string> given{set("parameters.mu", v.mu), set("parameters.torque", v.torque),
                                         set("parameters.reversal", v.reversal), set("run.end_time", v.end)};
    const Simulation contacts = run_text(std::string(kCrank) + std::string(kTwoContacts), given);
    const Simulation guide = run_text(std::string(kCrank) + std::string(kGuide), given);
    const std::string what = fmt::format("mu {} torque {} reversal {}", v.mu, v.torque, v.reversal);
    ASSERT_EQ(contacts.status, Status::success) << what << ": " << contacts.message;
    ASSERT_EQ(guide.status, Status::success) << what << ": " << guide.message;
    EXPECT_TRUE(passed(guide.audit)) << what;
    // 1e-11 per step; both wander by their own errors of integration.
    EXPECT_LT((contacts.final.q - guide.final.q).lpNorm<Eigen::Infinity>(), 1e-8) << what;
    EXPECT_LT((contacts.final.v - guide.final.v).lpNorm<Eigen::Infinity>(),
              1e-8 * (1 + guide.final.v.lpNorm<Eigen::Infinity>()))
        << what;
    EXPECT_GT(std::abs(guide.final.q[0] - 0.5), 0.05) << what;  // something moved
  }
}

// Three laws on the one freedom that a constraint leaves, limits from its reaction: which of them carries what is open,
// and the shortest choice has a reaction of the sign that cannot hold. Sticking is admissible with 0.8 N to spare at t
// = 3.4445 (a linear programme over the reactions says so), where the search for a choice once gave up.
constexpr std::string_view kSharedFreedom = R"toml(
[equations]
coordinates = ["x", "y"]
mass = [[1.252, 0], [0, 2.343]]
force = ["-1.489+4.86*sin(3.267*t+0.026)-2.126*x", "-3.452+4.035*sin(4.223*t+3.815)-2.254*y"]
[[constraint]]
name = "c0"
position = "-0.413*x - 0.02*y"
[[friction]]
direction = [-0.626, -0.019]
limit = "0.14*abs(r_c0)"
static_limit = "1.3*0.14*abs(r_c0)"
[[friction]]
direction = [0.415, 0.265]
limit = "0.022*sqrt(2)*abs(r_c0)"
static_limit = "1.3*0.022*sqrt(2)*abs(r_c0)"
[[friction]]
direction = [0.181, 0.423]
limit = "0.131*abs(r_c0)"
static_limit = "1.3*0.131*abs(r_c0)"
[run]
scheme = "event"
step = 0.01
end_time = 3.47
)toml";

// The three laws of a slider-crank turn round together, at instants that round-off tells apart.
constexpr std::string_view kCrankOfBodies = R"toml(
[gravity]
vector = [0, -9.81, 0]
[[body]]
name = "crank"
mass = 0.5
center = [0.1, 0, 0]
inertia = [0.0001, 0.0017, 0.0017]
[[body]]
name = "rod"
mass = 0.8
center = [0.25, 0, 0]
inertia = [0.0002, 0.017, 0.017]
[[body]]
name = "slider"
mass = 1.0
inertia = [0.001, 0.001, 0.001]
[[hinge]]
name = "main"
parent = "ground"
child = "crank"
axes = ["rz"]
position_0 = 0.4
[[hinge]]
name = "pin"
parent = "crank"
child = "rod"
position = [0.2, 0, 0]
axes = ["rz"]
position_0 = -0.5563994
[[hinge]]
name = "guide"
parent = "ground"
child = "slider"
position = [0.7, 0, 0]
axes = ["tx"]
stiffness = 40
position_0 = -0.02191
[[loop]]
name = "wrist"
body_a = "rod"
point_a = [0.5, 0, 0]
body_b = "slider"
axes = ["tz", "rx", "ry", "rz"]
[[friction]]
on = "main.rz"
mu = 0.2
radius = 0.02
[[friction]]
on = "pin.rz"
mu = 0.2
radius = 0.02
[[friction]]
on = "guide.tx"
mu = 0.1
[initial]
consistent = "project"
[run]
scheme = "event"
step = 0.01
end_time = 3
)toml";

TEST(FollowingLimit, LawsThatShareAFreedomStickTurnAndStopTogether) {
  for (const std::string_view text : {kSharedFreedom, kCrankOfBodies}) {
    Vector fine;
    for (const double tolerance : {1e-10, 1e-9, 1e-8, 1e-7}) {
      const Simulation run = run_text(std::string(text), {set("run.tolerance", tolerance)});
      ASSERT_EQ(run.status, Status::success) << tolerance << ": " << run.message;
      EXPECT_EQ(run.final.modes, std::vector<Mode>(3, Mode::stick)) << tolerance;
      if (fine.size() == 0) fine = run.final.q;
      EXPECT_LT((run.final.q - fine).lpNorm<Eigen::Infinity>(), 1e3 * tolerance) << tolerance;
    }
  }
}

// Friction in every joint of a heavy crank: its laws stop together at velocities that the tolerance leaves, and which
// of them holds the load afterwards is open.
constexpr std::string_view kHeavyCrank = R"toml(
[parameters]
mu=0.6
r=0.05
[equations]
coordinates=["x1","y1","a1","x2","y2","a2","x3","y3"]
mass=[[1,0,0,0,0,0,0,0],[0,1,0,0,0,0,0,0],[0,0,0.003333333333333334,0,0,0,0,0],[0,0,0,1,0,0,0,0],[0,0,0,0,1,0,0,0],[0,0,0,0,0,0.020833333333333332,0,0],[0,0,0,0,0,0,2,0],[0,0,0,0,0,0,0,2]]
force=[0,-9.81,"4*sin(3*t)",0,-9.81,0,"-40*(x3-0.5)",-19.62]
[[constraint]]
name="ax"
position="x1-0.1*cos(a1)"
[[constraint]]
name="ay"
position="y1-0.1*sin(a1)"
[[constraint]]
name="bx"
position="x1+0.1*cos(a1)-x2+0.25*cos(a2)"
[[constraint]]
name="by"
position="y1+0.1*sin(a1)-y2+0.25*sin(a2)"
[[constraint]]
name="cx"
position="x2+0.25*cos(a2)-x3"
[[constraint]]
name="cy"
position="y2+0.25*sin(a2)-y3"
[[constraint]]
name="g"
position="y3"
[[friction]]
name="A"
on="a1"
limit="mu*r*sqrt(r_ax^2+r_ay^2)"
[[friction]]
name="B"
direction=[0,0,1,0,0,-1,0,0]
limit="mu*r*sqrt(r_bx^2+r_by^2)"
[[friction]]
name="C"
on="a2"
limit="mu*r*sqrt(r_cx^2+r_cy^2)"
[[friction]]
name="S"
on="x3"
limit="0.4*abs(r_g)"
[initial]
consistent="project"
position=[0.08775825618903728, 0.0479425538604203, 0.5, 0.4208764755532851, 0.0479425538604203, -0.19296552201272513, 0.6662364387284957, 0]
velocity=[-0.0, 0.0, 0.0, -0.0, 0.0, -0.0, -0.0, 0]

[run]
scheme="event"
step=0.01
end_time=1.3
)toml";

TEST(FollowingLimit, HeavyCrankStopsAtEveryTolerance) {
  Vector fine;
  for (const double tolerance : {1e-9, 1e-8, 1e-7, 1e-6}) {
    const Simulation run = run_text(std::string(kHeavyCrank), {set("run.tolerance", tolerance)});
    ASSERT_EQ(run.status, Status::success) << tolerance << ": " << run.message;
    EXPECT_EQ(run.final.modes, std::vector<Mode>(4, Mode::stick)) << tolerance;
    if (fine.size() == 0) fine = run.final.q;
    EXPECT_LT((run.final.q - fine).lpNorm<Eigen::Infinity>(), 1e3 * tolerance) << tolerance;
  }
}

// A block on an incline that a constraint holds: a = g (sin α - μ cos α) down, sticks where tan α <= μ.
constexpr std::string_view kIncline = R"toml(
[parameters]
alpha = 0.5
mu = 0.3
v0 = 0
[equations]
coordinates = ["x", "y"]
kinetic_energy = "0.5*2*(v_x^2 + v_y^2)"
potential = "2*9.81*(y*cos(alpha) - x*sin(alpha))"
[[constraint]]
name = "plane"
position = "y"
[[friction]]
name = "block"
on = "x"
limit = "mu*abs(r_plane)"
[initial]
position = [0, 0]
velocity = ["v0", 0]
[run]
scheme = "event"
tolerance = 1e-11
steps = 10
end_time = 2
)toml";

TEST(FollowingLimit, BlockOnAnInclineWhoseNormalForceIsAReaction) {
  const double g = 9.81, alpha = 0.5;
  const Simulation slides = run_text(kIncline);
  ASSERT_EQ(slides.status, Status::success) << slides.message;
  EXPECT_NEAR(slides.final.q[0], 2 * g * (std::sin(alpha) - 0.3 * std::cos(alpha)), 1e-10);
  EXPECT_NEAR(slides.final_reaction[0], -0.3 * 2 * g * std::cos(alpha), 1e-9);
  EXPECT_TRUE(passed(slides.audit));

  const Simulation rests = run_text(kIncline, {set("parameters.mu", std::tan(alpha) + 1e-6)});
  ASSERT_EQ(rests.status, Status::success) << rests.message;
  EXPECT_EQ(rests.final.q[0], 0);
  EXPECT_NEAR(rests.final_reaction[0], -2 * g * std::sin(alpha), 1e-9);

  // Thrown uphill it stops at v²/2a, and comes back where tan α > μ.
  const double up = g * (std::sin(alpha) + 0.3 * std::cos(alpha)), down = g * (std::sin(alpha) - 0.3 * std::cos(alpha));
  const Simulation thrown = run_text(kIncline, {set("parameters.v0", -3)});
  ASSERT_EQ(thrown.status, Status::success) << thrown.message;
  ASSERT_EQ(thrown.trajectory.events.size(), 1u);
  EXPECT_NEAR(thrown.trajectory.events[0].t, 3 / up, 1e-11);
  EXPECT_NEAR(thrown.final.q[0], -9 / (2 * up) + 0.5 * down * std::pow(2 - 3 / up, 2), 1e-9);
}

// A normal force that grows until the block holds: r_N = m g cos α + k t, stick where μ r_N = m g sin α with v = 0.
TEST(FollowingLimit, StuckBlockIsReleasedWhenItsNormalForceHasFallenToItsLimit) {
  const double alpha = 0.3, mu = 0.5, weight = 2 * 9.81;
  const Simulation s =
      run_text(kIncline, {set("parameters.alpha", alpha), set("parameters.mu", mu), "equations.force=[0, \"6*t\"]"});
  ASSERT_EQ(s.status, Status::success) << s.message;
  // μ (m g cos α - 6 t) = m g sin α
  const double release = (weight * std::cos(alpha) - weight * std::sin(alpha) / mu) / 6;
  ASSERT_LT(release, 2);
  ASSERT_EQ(s.trajectory.events.size(), 1u);
  EXPECT_NEAR(s.trajectory.events[0].t, release, 1e-10);
  // From there m a = μ 6 (t - t_r)
  const double since = 2 - release;
  EXPECT_NEAR(s.final.q[0], mu * 6 * std::pow(since, 3) / 12, 1e-10);
}

// A bead on a circle in the plane without gravity: v' = -μ v²/R, v = v0/(1 + μ v0 t/R). Friction acts along both
// coordinates of the path; a coordinate of its own is the arc.
TEST(FollowingLimit, BeadOnACircularWireSlowsDownByItsCentripetalForce) {
  constexpr std::string_view kBead = R"toml(
[parameters]
mu = 0.4
[equations]
coordinates = ["rho", "s"]
kinetic_energy = "0.5*1.5*(v_rho^2 + (rho/2)^2*v_s^2)"
[[constraint]]
name = "wire"
position = "rho - 2"
[[friction]]
name = "bead"
on = "s"
limit = "mu*abs(r_wire)"
[initial]
position = [2, 0]
velocity = [0, 3]
[run]
scheme = "event"
tolerance = 1e-11
steps = 10
end_time = 4
)toml";
  const Simulation s = run_text(kBead);
  ASSERT_EQ(s.status, Status::success) << s.message;
  const double mu = 0.4, R = 2, v0 = 3;
  EXPECT_NEAR(s.final.v[1], v0 / (1 + mu * v0 * 4 / R), 1e-9);
  EXPECT_NEAR(s.final.q[1], R / mu * std::log(1 + mu * v0 * 4 / R), 1e-9);
  EXPECT_TRUE(passed(s.audit));
}

// A bead on a rod that turns at ω: the normal force is the Coriolis force 2 m ω ρ', ρ'' = ω² ρ - 2 μ ω |ρ'|:
// ρ = e^{λ t}, λ = ω (-μ ± √(μ² + 1)).
TEST(FollowingLimit, BeadOnATurningRodIsHeldByItsCoriolisForce) {
  constexpr std::string_view kRod = R"toml(
[parameters]
mu = 0.5
w = 2
[equations]
coordinates = ["rho", "phi"]
kinetic_energy = "0.5*0.7*(v_rho^2 + rho^2*v_phi^2) + 0.5*v_phi^2"
[[constraint]]
name = "motor"
position = "phi - w*t"
[[friction]]
name = "bead"
on = "rho"
limit = "mu*abs(r_motor)/max(rho, 1e-3)"
[initial]
position = [0.5, 0]
velocity = [0, "w"]
[run]
scheme = "event"
tolerance = 1e-11
steps = 10
end_time = 1
)toml";
  // The motor's moment is 2 m ρ ρ' ω: over ρ the force between rod and bead.
  const Simulation s = run_text(kRod);
  ASSERT_EQ(s.status, Status::success) << s.message;
  const double mu = 0.5, w = 2, root = std::sqrt(mu * mu + 1), l1 = w * (-mu + root), l2 = w * (-mu - root);
  const double A = 0.5 * -l2 / (l1 - l2), B = 0.5 * l1 / (l1 - l2);
  EXPECT_NEAR(s.final.q[0], A * std::exp(l1) + B * std::exp(l2), 1e-9);
  EXPECT_NEAR(s.final.v[0], A * l1 * std::exp(l1) + B * l2 * std::exp(l2), 1e-9);
}

// A bracket on a column, loaded at the distance d: it touches at two edges, l apart, with |r| = |F d + b r|/l each,
// where r is the friction and b its arm. Locked, whatever F is, where 2 μ d >= l.
constexpr std::string_view kBracket = R"toml(
[parameters]
F = 10
d = 1
l = 0.4
b = 0
mu = 0.3
v0 = 0
[matrices]
coordinates = ["x", "y", "phi"]
mass = [[2, 0, 0], [0, 2, 0], [0, 0, 0.1]]
force = ["-F", 0, "F*d"]
[[constraint]]
name = "top"
position = "y + l/2*phi"
[[constraint]]
name = "bottom"
position = "y - l/2*phi"
[[friction]]
name = "edges"
direction = [1, 0, "b"]
limit = "mu*(abs(r_top) + abs(r_bottom))"
[initial]
velocity = ["v0", 0, 0]
[run]
scheme = "event"
tolerance = 1e-10
steps = 10
end_time = 1
)toml";

TEST(FollowingLimit, LoadedBracketJamsAboveItsThresholdWhateverTheLoad) {
  for (const double F : {1e-6, 1.0, 1e9})
    for (const double over : {1 - 1e-9, 1 + 1e-9}) {
      const double mu = over * 0.4 / 2;
      const Simulation s = run_text(kBracket, {set("parameters.F", F), set("parameters.mu", mu)});
      ASSERT_EQ(s.status, Status::success) << s.message;
      if (over > 1) {
        EXPECT_EQ(s.final.q[0], 0) << F;
      } else {
        // m a = F (1 - 2 μ d/l), whose last digits are those of 1 - over
        EXPECT_NEAR(s.final.q[0] / (-0.5 * F * 1e-9 / 2), 1, 1e-5) << F;
      }
    }
}

TEST(FollowingLimit, FrictionThatLoadsItsOwnGuideHasTheLimitOfBothTogether) {
  // Sliding down r = c, c = k |F d + b c| with k = 2 μ/l.
  for (const double b : {-0.5, -0.1, 0.1, 0.3}) {
    const double mu = 0.3, k = 2 * mu / 0.4, F = 1, c = k * F / (1 - k * b);
    const Simulation s = run_text(
        kBracket, {set("parameters.b", b), set("parameters.F", F), set("parameters.v0", -5), set("run.end_time", 0.2)});
    ASSERT_EQ(s.status, Status::success) << b << s.message;
    EXPECT_NEAR(s.final_reaction[0], c, 1e-10 * c) << b;
    EXPECT_NEAR(s.final.v[0], -5 + 0.2 * (c - F) / 2, 1e-10) << b;
    EXPECT_TRUE(passed(s.audit));
  }
}

TEST(FollowingLimit, NoAndTwoSolutionsAreReportedWithTheNameOfTheLaw) {
  // k = 2 μ/l = 1.5: k b >= 1 leaves no limit, k b <= -1 two of them.
  const Simulation none = run_text(kBracket, {set("parameters.b", 0.7), set("parameters.v0", -5)});
  EXPECT_EQ(none.status, Status::no_solution);
  EXPECT_NE(none.message.find("'edges'"), std::string::npos) << none.message;
  EXPECT_NE(none.message.find("no acceleration"), std::string::npos) << none.message;
  const Simulation two = run_text(kBracket, {set("parameters.b", -0.7), set("parameters.v0", -5)});
  EXPECT_EQ(two.status, Status::refused);
  EXPECT_NE(two.message.find("'edges'"), std::string::npos) << two.message;
  EXPECT_NE(two.message.find("several accelerations"), std::string::npos) << two.message;
  // The other way round each has one.
  const Simulation up =
      run_text(kBracket, {set("parameters.b", 0.6), set("parameters.v0", 1), set("run.end_time", 0.01)});
  EXPECT_EQ(up.status, Status::success) << up.message;
}

// Driven by a motor it cannot stop on the way to the gain 1, where the limit grows without bound.
TEST(FollowingLimit, EndsWhereTheGainOfItsLoopReachesOne) {
  const std::string motor = std::string(kBracket) + "[[constraint]]\nname = \"motor\"\nposition = \"x + 0.5*t\"\n";
  const Simulation s = run_text(motor, {set("parameters.b", 0.5), set("parameters.v0", -0.5),
                                        "friction.edges.limit=(0.1 + 0.4*t)*(abs(r_top) + abs(r_bottom))"});
  EXPECT_EQ(s.status, Status::no_solution) << s.message;
  EXPECT_NE(s.message.find("'edges'"), std::string::npos) << s.message;
  EXPECT_NE(s.message.find("without bound"), std::string::npos) << s.message;
  EXPECT_NEAR(s.final.t, (0.4 / (2 * 0.5) - 0.1) / 0.4, 1e-12);  // 2 μ b = l
}

// Reactions of a contact, both components, in the limit of another law: a block that drags a brake along.
TEST(FollowingLimit, NamesReactionsOfContactsAndStaticLimits) {
  constexpr std::string_view kBrake = R"toml(
[matrices]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = ["4*t", -10, "3*t"]
[[contact]]
name = "floor"
gap = "y"
slip = "x"
mu = 0.2
[[friction]]
name = "brake"
on = "z"
limit = "0.1*r_floor_n + 0.25*abs(r_floor_t1)"
static_limit = "0.2*r_floor_n + 0.5*abs(r_floor_t1)"
[run]
scheme = "event"
tolerance = 1e-11
steps = 20
end_time = 4
)toml";
  const Simulation s = run_text(kBrake);
  ASSERT_EQ(s.status, Status::success) << s.message;
  // The block slips at 4 t = 2; then |r_t| = 2. The brake holds up to 3 t = 2 + 0.5 · 2 and slips under 1 + 0.25 · 2.
  ASSERT_EQ(s.trajectory.events.size(), 2u);
  EXPECT_NEAR(s.trajectory.events[0].t, 0.5, 1e-11);
  EXPECT_NEAR(s.trajectory.events[1].t, 1.0, 1e-11);
  EXPECT_NEAR(s.final.q[2], (64.0 - 1) / 2 - 1.5 * 3 - 0.75 * 9 + 0, 1e-9 * 30);
  EXPECT_TRUE(passed(s.audit));
}

TEST(FollowingLimit, ALimitThatBecomesNegativeIsBlamedWithItsRemedy) {
  try {
    run_text(kIncline, {"friction.block.limit=-mu*r_plane"});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("friction.block.limit"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("abs(r)"), std::string::npos) << error.what();
  }
}

TEST(FollowingLimit, ExactFlowSaysWhyItDoesNotApply) {
  try {
    run_text(kBracket, {"run.event.flow=exact"});
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("the limit of friction 'edges' depends on reactions"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace stickslip::event_following_test
