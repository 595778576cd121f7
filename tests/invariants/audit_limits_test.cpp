// SPDX-License-Identifier: Apache-2.0
// The audit lets rounding pass, whatever the sizes and units, and nothing else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>

#include "stickslip/motion/contact_audit.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/body_models.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::audit_limits_test {
namespace {

using namespace body_models;

std::string number(double x) { return fmt::format("{:.17g}", x); }

/// A ladder between floor and wall, at a share of its limit angle atan(2μ/(1-μ²)).
constexpr const char* kLadder = R"toml(
[parameters]
L = 1
mu = 0.3
angle = 0
[equations]
coordinates = ["x", "y", "th"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, "L^2/3"]]
potential = "9.81*L*y"
[[contact]]
name = "floor"
gap = "y - L*cos(th)"
slip = "x + L*sin(th)"
mu = "mu"
[[contact]]
name = "wall"
gap = "x - L*sin(th)"
slip = "y + L*cos(th)"
mu = "mu"
[initial]
position = ["L*sin(angle)", "L*cos(angle)", "angle"]
[run]
step = 0.01
end_time = 1
)toml";

Simulation run_ladder(double mu, double share, double scale) {
  const double angle = share * std::atan2(2 * mu, 1 - mu * mu);
  return run_text(
      kLadder, {"parameters.mu=" + number(mu), "parameters.angle=" + number(angle), "parameters.L=" + number(scale)});
}

TEST(AuditLimits, LaddersBelowTheirLimitAngleStandStillInAnyUnit) {
  for (const double scale : {1e-6, 1.0, 1e6})
    for (const double mu : {0.1, 0.3, 0.6, 0.9})
      for (const double share : {0.1, 0.5, 0.8, 0.99}) {
        const Simulation r = run_ladder(mu, share, scale);
        ASSERT_EQ(r.status, Status::success) << "mu " << mu << ", share " << share << ": " << r.message;
        EXPECT_LT(std::abs(r.final.v[2]), 1e-12);
        EXPECT_LT(std::abs(r.final.v[0]), 1e-12 * scale);
      }
}

TEST(AuditLimits, LaddersAboveTheirLimitAngleSlide) {
  for (const double mu : {0.1, 0.3, 0.6}) {
    const Simulation r = run_ladder(mu, 1.05, 1);
    ASSERT_EQ(r.status, Status::success) << r.message;
    EXPECT_GT(r.final.v[2], 0.05) << mu;
  }
}

/// Half width b, half height h, pushed at its centre by 2t: it tips about its front edge when 2 t h = g b.
constexpr const char* kBox = R"toml(
[parameters]
b = 0.1
h = 0.2
push = 2
[equations]
coordinates = ["x", "y", "th"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, "(4*b^2+4*h^2)/12"]]
force = ["push*t", "-9.81", 0]
[[contact]]
name = "front"
gap = "y - h*cos(th) - b*sin(th)"
slip = "x - h*sin(th) + b*cos(th)"
mu = 0.8
[[contact]]
name = "rear"
gap = "y - h*cos(th) + b*sin(th)"
slip = "x - h*sin(th) - b*cos(th)"
mu = 0.8
[initial]
position = [0, "h", 0]
[run]
step = 0.01
end_time = 2.6
)toml";

TEST(AuditLimits, PushedBoxStandsUntilItTips) {
  for (const char* step : {"0.01", "0.002"}) {
    const Simulation r = run_text(kBox, {std::string("run.step=") + step});
    ASSERT_EQ(r.status, Status::success) << r.message;
    double tips = 0;
    for (Index row = 0; row < r.trajectory.rows() && tips == 0; ++row)
      if (std::abs(r.trajectory.q(row, 2)) > 1e-12) tips = r.trajectory.t(row);
    EXPECT_NEAR(tips, 9.81 * 0.1 / (2 * 0.2), 2 * std::stod(step));
  }
}

TEST(AuditLimits, BoxThatNobodyPushesHasNoEnergyToMiss) {
  for (const char* step : {"1e-2", "1e-3", "1e-4"}) {
    const Simulation r = run_text(kBox, {"parameters.push=0", "run.end_time=0.5", std::string("run.step=") + step});
    ASSERT_EQ(r.status, Status::success) << r.message;
    EXPECT_LT(std::abs(r.final.v[2]), 1e-12);
  }
}

/// A mass on a spring that comes to rest by friction, with steps so small and limits so large that stops take parts of
/// a step, or follow one another within rounding.
constexpr const char* kStops = R"toml(
[matrices]
coordinates = ["x1", "x2"]
mass = [[2, 1], [1, 2]]
stiffness = [[2, -1], [-1, 2]]
force = ["2*sin(7*t)", "cos(3*t)"]
[[friction]]
on = "x1"
limit = 1
weakening = { shape = "algebraic", beta = 0.333, epsilon = 0.1 }
[[friction]]
on = "x2"
limit = 1
weakening = { shape = "algebraic", beta = 0.333, epsilon = 0.1 }
[initial]
velocity = [1, 0.5]
[run]
step = 0.003
end_time = 0.3
)toml";

TEST(AuditLimits, MomentumIsBalancedToRoundOffOfItsTerms) {
  for (const char* step : {"3e-3", "5e-5", "2e-6"}) {
    const Simulation r = run_text(kStops, {std::string("run.step=") + step, "run.output_step=0.1"});
    EXPECT_EQ(r.status, Status::success) << step << ": " << r.message;
  }
  for (const char* limit : {"1e3", "1e6", "1e10", "1e15"}) {
    const Simulation r =
        run_text(kStops, {std::string("friction.0.limit=") + limit, std::string("friction.1.limit=") + limit});
    EXPECT_EQ(r.status, Status::success) << limit << ": " << r.message;
    EXPECT_LT(audit_value(r, "momentum"), 1e-12) << limit;
  }
}

constexpr const char* kPendulum = R"toml(
[parameters]
l = 1
s = 0
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
potential = "9.81*y"
[[constraint]]
name = "rod"
position = "(x-s)^2 + y^2 - l^2"
[initial]
position = ["s + l", 0]
[run]
scheme = "event"
end_time = 2
output_step = 0.01
)toml";

TEST(AuditLimits, RodsHoldToRoundOffOfTheirTermsWhereverTheyAre) {
  for (const char* tolerance : {"1e-6", "1e-9"})
    for (const char* l : {"1", "2", "10"})
      for (const char* s : {"0", "1e5"}) {
        const Simulation r = run_text(kPendulum, {std::string("parameters.l=") + l, std::string("parameters.s=") + s,
                                                  std::string("run.tolerance=") + tolerance});
        for (const char* name : {"constraint_position", "constraint_velocity"}) {
          const AuditItem& item = audit_item(r, name);
          EXPECT_TRUE(item.guaranteed);
          EXPECT_TRUE(item.ok) << item.name << ' ' << item.value << " > " << item.limit << ", l " << l << ", s " << s;
        }
      }
}

// The limit is round-off of the row, not of the length of the run.
TEST(AuditLimits, OfConstraintsDoNotGrowWithTheTimeOfTheRun) {
  const auto limit = [](const char* name, const char* end) {
    return audit_item(run_text(kPendulum, {std::string("run.end_time=") + end}), name).limit;
  };
  for (const char* name : {"constraint_position", "constraint_velocity"}) {
    EXPECT_LT(limit(name, "40"), 1.5 * limit(name, "2")) << name;
    EXPECT_LT(limit(name, "2"), 1e-11) << name;
  }
}

// Nor of where time begins.
TEST(AuditLimits, OfConstraintsDoNotDependOnTheOriginOfTime) {
  const auto limit = [](const char* name, double start) {
    const Simulation r = run_text(fmt::format(R"toml(
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
potential = "9.81*y"
[[constraint]]
name = "drive"
position = "x - 0.3*sin(2*(t - {0}))"
[initial]
velocity = [0.6, 0]
[run]
scheme = "event"
start_time = {0}
end_time = {1}
output_step = 0.01
)toml",
                                              number(start), number(start + 2)));
    EXPECT_EQ(r.status, Status::success) << r.message;
    return audit_item(r, name).limit;
  };
  for (const char* name : {"constraint_position", "constraint_velocity"})
    EXPECT_NEAR(limit(name, 4096) / limit(name, 0), 1, 0.05) << name;
}

/// The same bead with M(q) given as `mass`, the velocity terms in `force`, and as `kinetic_energy`.
TEST(AuditLimits, EnergyIsTheSameForBothFormsOfTheInertia) {
  const std::string run = R"toml(
[initial]
position = [1]
[run]
step = 1e-3
end_time = 5
output_step = 0.1
)toml";
  const std::string mass = R"toml(
[equations]
coordinates = ["x"]
mass = [["1+x^2"]]
force = ["-x*v_x^2 - 9.81*x"]
)toml" + run;
  const std::string energy = R"toml(
[equations]
coordinates = ["x"]
kinetic_energy = "(1+x^2)*v_x^2/2"
force = ["-9.81*x"]
)toml" + run;
  const auto both = [&](const std::string& scheme, const std::string& tolerance) {
    const std::string law = scheme == "viscoelastic" ? "\n[[friction]]\non = \"x\"\nlimit = 0.1\n" : "";
    std::array<double, 2> unexplained;
    for (int form : {0, 1}) {
      const Simulation s =
          run_text((form == 0 ? mass : energy) + law, {"run.scheme=\"" + scheme + "\"", "run.tolerance=" + tolerance});
      EXPECT_EQ(s.status, Status::success) << scheme << ": " << s.message;
      unexplained[form] = audit_value(s, "energy");
    }
    return unexplained;
  };
  for (const char* scheme : {"moreau", "event"}) {
    const auto [a, b] = both(scheme, "1e-9");
    EXPECT_LT(a, 1e-5) << scheme;
    EXPECT_NEAR(a, b, 1e-3 * b + 1e-12) << scheme;
  }
  // The stiff integrator takes other steps for each form (its Jacobian differs in the last digits): both are as good as
  // the tolerance, and get better with it.
  for (const double tolerance : {1e-9, 1e-10, 1e-11})
    for (const double unexplained : both("viscoelastic", fmt::format("{}", tolerance)))
      EXPECT_LT(unexplained, 5 * tolerance);
}

BodyModel two_balls(double stiffness, double damping, double rest) {
  BodyModel model;
  model.gravity = {0, 0, -9.81};
  model.bodies = {body("a", 1, {0, 0, 1}), body("b", 2, {0.5, 0, 1.1})};
  for (RigidBody& b : model.bodies) b.inertia = 0.004 * Eigen::Matrix3d::Identity();
  PointSpring spring;
  spring.name = "spring";
  spring.body_a = 0;
  spring.body_b = 1;
  spring.point_a = {0.05, 0.02, 0};
  spring.point_b = {-0.03, 0, 0.04};
  spring.stiffness = stiffness;
  spring.damping = damping;
  spring.rest = rest;
  model.springs.push_back(spring);
  return model;
}

TEST(AuditLimits, StiffSpringsAndDampersBetweenBodiesNeverExplode) {
  const double length = Eigen::Vector3d(0.5 - 0.03 - 0.05, -0.02, 0.1 + 0.04).norm();
  for (const double stiffness : {1e2, 1e5, 1e8, 1e11})
    for (const double damping : {0.0, 1e2, 1e6}) {
      BodyModel model = two_balls(stiffness, damping, length);
      model.bodies[0].velocity = {0, 0.5, 0};
      const State s = start(model);
      const Simulation r = run(model, options(1e-3, 2));
      ASSERT_EQ(r.status, Status::success) << "k " << stiffness << ", c " << damping << ": " << r.message;
      const Eigen::Vector3d fall(0, 0, -9.81 * 3 * 2);
      EXPECT_LT((momentum(model, r.final.v) - momentum(model, s.v) - fall).norm(), 1e-10);
      // Relative motion cannot have more energy than it began with.
      const Eigen::Vector3d relative = r.final.v.segment<3>(0) - r.final.v.segment<3>(6);
      EXPECT_LT(relative.norm(), 2) << "k " << stiffness << ", c " << damping;
    }
}

TEST(AuditLimits, AngularMomentumIsKeptByStiffSprings) {
  BodyModel model = two_balls(1e7, 1e2, 0.45);
  model.gravity.setZero();
  model.bodies[0].velocity = {0, 0.5, 0};
  const State s = start(model);
  const Simulation r = run(model, options(1e-3, 1));
  const Eigen::Vector3d before = angular_momentum(model, s.q, s.v),
                        after = angular_momentum(model, r.final.q, r.final.v);
  EXPECT_LT((after - before).norm(), 1e-11 * before.norm());
}

/// Order of a spring pendulum that the step resolves: the slopes in the step matrix do not cost it.
TEST(AuditLimits, SpringsThatTheStepResolvesKeepTheirEnergy) {
  std::vector<double> missing;
  for (const double h : {4e-3, 2e-3, 1e-3}) {
    const Simulation r = run(two_balls(1e3, 0, 0.4), options(h, 1));
    ASSERT_EQ(r.status, Status::success) << r.message;
    missing.push_back(audit_value(r, "energy"));
  }
  EXPECT_LT(missing.back(), 1e-3);
  EXPECT_LT(missing[2], 0.5 * missing[0]);
}

TEST(AuditLimits, EnergyThatNothingExplainsIsNoSuccess) {
  // Transverse motion of a spring under a tension far beyond h² F (1/m_a + 1/m_b) = 4 l cannot be followed.
  BodyModel model = two_balls(1e8, 0, 0.2);
  model.bodies[0].velocity = {0, 5, 0};
  const Simulation r = run(model, options(1e-2, 2));
  if (r.status == Status::success) {
    EXPECT_LT(audit_value(r, "energy"), 0.1);
  } else {
    EXPECT_NE(r.message.find("reduce run.step"), std::string::npos) << r.message;
  }
}

TEST(AuditLimits, BodyInsideAnotherAtTheEndIsNoSuccess) {
  // Nothing but the search at the end knows: the second box has no contact law with the first until then.
  BodyModel model = cube_on_plane(0.5);
  const Simulation r = run(model, options(1e-3, 0.1));
  ASSERT_EQ(r.status, Status::success) << r.message;
  EXPECT_LT(audit_value(r, "penetration_end"), 1e-9);
  AuditLedger ledger;
  ledger.steps = 1;
  ledger.longest = 1e-3;
  ContactAudit contacts;
  contacts.step.approach = 1;
  contacts.account(ledger);
  contacts.guarantees.length = 1;
  auto audit = [&](double final_penetration) {
    ledger.final_penetration = final_penetration;
    AuditPart* const part = &contacts;
    return audit_report(ledger, {}, {&part, 1});
  };
  EXPECT_FALSE(passed(audit(0.3)));
  EXPECT_TRUE(passed(audit(0.001)));
}

/// A heavy box on a light one: it rests, or the status says that it does not.
TEST(AuditLimits, HeavyOnLightRestsOrIsNoSuccess) {
  for (const double mass : {1e2, 1e4, 1e6, 1e7, 1e8, 1e9, 1e10, 1e12}) {
    BodyModel model;
    model.gravity = {0, 0, -9.81};
    model.bodies = {body("a", 1, {0, 0, 0.1}), body("b", mass, {0, 0, 0.3})};
    model.shapes = {box(0, {0.2, 0.2, 0.2}), box(1, {0.2, 0.2, 0.2}), ground_plane()};
    model.contacts = {contact("*", "*", 0.5, 0)};
    const Simulation r = run(model, options(1e-3, 0.05));
    const bool rests = std::abs(r.final.q[2] - 0.1) < 1e-3 && std::abs(r.final.q[9] - 0.3) < 1e-3;
    EXPECT_TRUE(rests || r.status != Status::success) << mass;
    if (mass <= 1e6) {
      EXPECT_EQ(r.status, Status::success) << mass << ": " << r.message;
    }
  }
}

/// A force that touches the limit at its peaks: the springs slip for milliseconds in steps of tenths of a second.
TEST(AuditLimits, SlipsWithinAStepOfSpringsAreAccountedFor) {
  for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11})
    for (const double excess : {0.0, 1e-6, 1e-4, -1e-4}) {
      const Simulation r = run_text(R"toml(
[matrices]
coordinates = ["x"]
mass = [[2]]
force = ["1.5*(1 + excess)*sin(t)"]
[parameters]
excess = 0
[[friction]]
name = "f"
on = "x"
limit = 1.5
[run]
scheme = "viscoelastic"
step = 0.01
end_time = 10
)toml",
                                    {"run.tolerance=" + number(tolerance), "parameters.excess=" + number(excess)});
      EXPECT_EQ(r.status, Status::success) << tolerance << ", " << excess << ": " << r.message;
      EXPECT_LE(audit_value(r, "energy"), 10 * tolerance) << tolerance << ", " << excess;
    }
}

}  // namespace
}  // namespace stickslip::audit_limits_test
