// SPDX-License-Identifier: Apache-2.0
// Scheme `compliant` with friction laws, constraints and static coefficients beside its contacts; where forces jump;
// facets; bodies that spin; the compliance of contacts that have none of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "stickslip/io/model_case.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/case.hpp"
#include "tests/support/audit_value.hpp"

namespace stickslip::compliant_laws_test {
namespace {

Simulation run_text(const std::string& text, const std::vector<std::string>& settings = {}) {
  const ModelFile model = parse_model(text, "test.toml", settings);
  Simulation s = simulate(*model.system, model.initial, model.run);
  EXPECT_EQ(s.status, Status::success) << s.message;
  return s;
}

/// Block on a floor, pulled by a spring, beside a mass with a friction law of its own that hangs on the block.
const char* const kTwo = R"toml(
[matrices]
coordinates = ["x", "z", "y"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 2]]
stiffness = [[40, 0, -40], [0, 0, 0], [-40, 0, 40]]
force = [0, -9.81, 0]
[[friction]]
name = "brake"
on = "y"
limit = 1.5
viscous = 0.2
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = 0.1
compliance = { stiffness = 1e6, damping = 1e3 }
[initial]
position = [0.3, -9.81e-6, 0]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = 1.5
output_step = 0.05
)toml";

TEST(CompliantLaws, FrictionLawBesideAContactComesToTheRigidMotion) {
  const Simulation exact = run_text(kTwo, {"run.scheme=event", "initial.position=[0.3,0,0]"});
  std::vector<double> errors;
  for (const double epsilon : {1e-6, 1e-8}) {
    const Simulation s =
        run_text(kTwo, {fmt::format("run.compliant.epsilon={}", epsilon),
                        fmt::format("contact.floor.compliance.stiffness={:.17g}", 1 / epsilon),
                        fmt::format("contact.floor.compliance.damping={:.17g}", 2 / std::sqrt(epsilon)),
                        fmt::format("initial.position=[0.3,{:.17g},0]", -9.81 * epsilon)});
    errors.push_back(std::abs(s.final.q[2] - exact.final.q[2]) + std::abs(s.final.q[0] - exact.final.q[0]));
    EXPECT_LT(audit_value(s, "energy"), 1e-6);
    EXPECT_GT(audit_value(s, "energy_friction_loss"), 0.1);
  }
  EXPECT_LT(errors[0], 1e-4);
  EXPECT_NEAR(errors[1] / errors[0], 0.1, 0.02);  // √ε where a slip reverses
}

/// Two balls on a rod that falls on the floor with its lower end.
const char* const kRod = R"toml(
[equations]
coordinates = ["x1", "y1", "x2", "y2"]
mass = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
force = [0, -9.81, 0, -9.81]
[[constraint]]
name = "rod"
position = "(x2 - x1)^2 + (y2 - y1)^2 - 1"
[[contact]]
name = "foot"
gap = "y1"
slip = "x1"
mu = 0.5
compliance = { stiffness = [[2e4, 0], [0, 2e4]], damping = 200, normal_damping = 100 }
[initial]
position = [0, 0.05, 0.6, 0.85]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = 0.4
output_step = 0.02
)toml";

TEST(CompliantLaws, ConstraintHoldsToRoundOffAndEnergyCloses) {
  for (const char* integrator : {"explicit", "stiff"}) {
    const Simulation s = run_text(kRod, {fmt::format("run.compliant.integrator={}", integrator)});
    const Vector& q = s.final.q;
    EXPECT_NEAR(std::hypot(q[2] - q[0], q[3] - q[1]), 1, 1e-13) << integrator;
    EXPECT_LT(audit_value(s, "constraint_position"), 1e-13) << integrator;
    EXPECT_LT(audit_value(s, "energy"), 1e-6) << integrator;
  }
  // The same with the rod as a coordinate: no constraint.
  const char* angle = R"toml(
[equations]
coordinates = ["x", "y", "phi"]
mass = [[2, 0, "-sin(phi)"], [0, 2, "cos(phi)"], ["-sin(phi)", "cos(phi)", 1]]
force = ["cos(phi)*v_phi^2", "-2*9.81 + sin(phi)*v_phi^2", "-9.81*cos(phi)"]
[[contact]]
name = "foot"
gap = "y"
slip = "x"
mu = 0.5
compliance = { stiffness = [[2e4, 0], [0, 2e4]], damping = 200, normal_damping = 100 }
[initial]
position = [0, 0.05, 0.9272952180016122]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = 0.4
output_step = 0.02
)toml";
  const Simulation with = run_text(kRod), without = run_text(angle);
  EXPECT_NEAR(with.final.q[0], without.final.q[0], 1e-7);
  EXPECT_NEAR(with.final.q[1], without.final.q[1], 1e-7);
}

/// A block pulled by a spring whose end moves at V: gives way at kp V t = mu_static m g (less what creeps).
const char* const kPulled = R"toml(
[parameters]
V = 0.1
mus = 0.4
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
stiffness = [[50, 0], [0, 0]]
force = ["50*V*t", -9.81]
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = 0.25
mu_static = "mus"
compliance = { stiffness = 1e6, damping = 1e3 }
[initial]
position = [0, -9.81e-6]
[run]
scheme = "compliant"
tolerance = 1e-10
end_time = 1.4
output_step = 0.05
)toml";

TEST(CompliantLaws, StaticCoefficientHoldsUntilItGivesWay) {
  const Simulation s = run_text(kPulled), exact = run_text(kPulled, {"run.scheme=event", "initial.position=[0,0]"});
  ASSERT_GE(s.trajectory.events.size(), 1u);
  EXPECT_EQ(s.trajectory.events[0].kind, EventKind::slip);
  EXPECT_NEAR(s.trajectory.events[0].t, 0.4 * 9.81 / 5, 1e-4);
  EXPECT_NEAR(s.final.q[0], exact.final.q[0], 1e-4);
  EXPECT_LT(audit_value(s, "energy"), 1e-7);
  const Simulation once = run_text(kPulled, {"contact.floor.mu_static=0.25"});
  EXPECT_GT(std::abs(once.final.q[0] - s.final.q[0]), 1e-3);
}

/// d(final q, v)/dp of a run against differences of whole runs.
void expect_slopes(const char* text, const std::string& key, double p, double step, double accuracy,
                   std::vector<std::string> settings = {}) {
  std::vector<std::string> with = settings;
  with.push_back(fmt::format("run.sensitivities=[\"{}\"]", key));
  with.push_back(fmt::format("{}={:.17g}", key, p));
  const Simulation s = make_case(parse_model(text, "test.toml", with)).run();
  ASSERT_EQ(s.status, Status::success) << s.message;
  const auto at = [&](double value) {
    std::vector<std::string> moved = settings;
    moved.push_back(fmt::format("{}={:.17g}", key, value));
    const Simulation run = run_text(text, moved);
    Vector x(run.final.q.size() + run.final.v.size());
    x << run.final.q, run.final.v;
    return x;
  };
  const Vector slope = (8 * (at(p + step) - at(p - step)) - (at(p + 2 * step) - at(p - 2 * step))) / (12 * step);
  for (Index i = 0; i < slope.size(); ++i)
    EXPECT_NEAR(s.final_sensitivity(i, 0), slope[i], accuracy * (1 + std::abs(slope[i]))) << key << " " << i;
}

TEST(CompliantLaws, DerivativesGoThroughForcesThatJump) {
  const std::vector<std::string> tight{"run.tolerance=1e-12"};
  expect_slopes(kPulled, "parameters.mus", 0.4, 1e-4, 1e-6, tight);
  expect_slopes(kPulled, "parameters.V", 0.1, 1e-5, 1e-6, tight);
  expect_slopes(kRod, "contact.foot.mu", 0.5, 1e-4, 1e-6, tight);
  const char* drop = R"toml(
[parameters]
c = 20
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = [0, -9.81]
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = 0.3
compliance = { stiffness = [[4000, 100], [100, 3000]], damping = 40, normal_damping = "c" }
[initial]
position = [0, 0.02]
velocity = [1, 0]
[run]
scheme = "compliant"
end_time = 0.35
output_step = 0.05
)toml";
  expect_slopes(drop, "initial.position.1", 0.02, 1e-5, 1e-6, tight);
  expect_slopes(drop, "initial.velocity.0", 1, 1e-4, 1e-6, tight);
}

TEST(CompliantLaws, DerivativesUnderConstraintsAndFrictionLaws) {
  expect_slopes(kRod, "contact.foot.mu", 0.5, 1e-4, 1e-6,
                {"run.tolerance=1e-12", "contact.foot.compliance.normal_damping=0"});
  expect_slopes(kTwo, "friction.brake.limit", 1.5, 1e-3, 1e-6,
                {"run.tolerance=1e-11", "run.compliant.epsilon=1e-4", "contact.floor.compliance.stiffness=1e4",
                 "contact.floor.compliance.damping=100", "initial.position=[0.3,-9.81e-4,0]"});
}

TEST(CompliantLaws, FacetsOfPolygonsAreEvents) {
  const char* block = R"toml(
[matrices]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = [0, 0, -9.81]
[[contact]]
name = "floor"
gap = "z"
slip = ["x", "y"]
mu = 0.3
cone = "polygon"
polygon = { facets = 8, circumscribed = true, angle = 0 }
compliance = { stiffness = [[1000, 100, 50], [100, 800, 30], [50, 30, 700]], damping = 20 }
[initial]
position = [0, 0, -0.00981]
velocity = [2, 1, 0]
[run]
scheme = "compliant"
end_time = 1.5
)toml";
  const Simulation s = run_text(block);
  // On a vertex, then on one facet, then stick (paper 3, two switches).
  ASSERT_EQ(s.trajectory.events.size(), 2u);
  const Event &facet = s.trajectory.events[0], &stick = s.trajectory.events[1];
  EXPECT_EQ(facet.kind, EventKind::facet);
  EXPECT_EQ(facet.before, Mode::slip);
  EXPECT_EQ(facet.after, Mode::slip);
  EXPECT_GE(facet.facets_before.second, 0);
  EXPECT_EQ(facet.facets_after.second, -1);
  EXPECT_TRUE(facet.facets_after.first == facet.facets_before.first ||
              facet.facets_after.first == facet.facets_before.second);
  EXPECT_EQ(stick.kind, EventKind::stick);
  EXPECT_EQ(stick.facets_before, facet.facets_after);
  EXPECT_EQ(stick.facets_after, ActiveFacets{});
  EXPECT_EQ(s.event_counts[static_cast<std::size_t>(EventKind::facet)], 1);
  ASSERT_EQ(s.final.facets.size(), 1u);
}

/// The same block in other units: the compliance of contacts without one follows the motion.
TEST(CompliantLaws, ComplianceOfItsOwnDoesNotDependOnUnits) {
  const auto model = [](double length, double mass, double time) {
    return fmt::format(R"toml(
[matrices]
coordinates = ["x", "z"]
mass = [[{0}, 0], [0, {0}]]
force = [0, {1}]
[[contact]]
gap = "z"
slip = "x"
mu = 0.3
restitution = 0.5
[initial]
position = [0, {2}]
velocity = [{3}, 0]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = {4}
output_step = {4}
)toml",
                       2 * mass, -2 * 9.81 * mass * length / (time * time), 0.1 * length, 1.5 * length / time,
                       0.6 * time);
  };
  const Simulation si = run_text(model(1, 1, 1));
  for (const double unit : {1e-6, 1e6}) {
    const std::vector<std::array<double, 3>> units{{unit, 1, 1}, {1, unit, 1}, {1, 1, unit}};
    for (const auto& [length, mass, time] : units) {
      const Simulation s = run_text(model(length, mass, time));
      EXPECT_NEAR(s.final.q[0] / length, si.final.q[0], 1e-8) << length << " " << mass << " " << time;
      EXPECT_NEAR(s.final.q[1] / length, si.final.q[1], 1e-8) << length << " " << mass << " " << time;
      EXPECT_EQ(s.trajectory.events.size(), si.trajectory.events.size()) << length << " " << mass << " " << time;
    }
  }
}

/// A drive that turns round at a breakpoint, at every tolerance; and one that turns round smoothly.
TEST(CompliantLaws, QuasistaticStickBeginsWhereTheDriveTurnsRound) {
  const auto slider = [](const char* force, const char* surface) {
    return fmt::format(R"toml(
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
stiffness = [[50, 0], [0, 0]]
force = [{}, -9.81]
[[contact]]
gap = "z"
slip = "x"
mu = 0.3
surface_velocity = {}
compliance = {{ stiffness = [[1000, 0], [0, 800]], damping = 20 }}
[initial]
position = [0, -0.00981]
[run]
scheme = "compliant"
end_time = 4
output_step = 0.1
[run.compliant]
quasistatic = true
)toml",
                       force, surface);
  };
  for (const char* tolerance : {"1e-8", "1e-10", "1e-12"}) {
    const Simulation s =
        run_text(slider("\"5*if(t < 2, t, 4 - t)\"", "0"), {fmt::format("run.tolerance={}", tolerance)});
    ASSERT_EQ(s.trajectory.events.size(), 3u) << tolerance;
    EXPECT_EQ(s.trajectory.events[1].kind, EventKind::stick);
    EXPECT_NEAR(s.trajectory.events[1].t, 2, 1e-11) << tolerance;
  }
  const Simulation belt = run_text(slider("0", "\"0.1*cos(t)\""), {"run.tolerance=1e-10"});
  ASSERT_EQ(belt.trajectory.events.size(), 3u);
  EXPECT_NEAR(belt.trajectory.events[1].t, std::acos(0.0), 1e-9);
}

}  // namespace
}  // namespace stickslip::compliant_laws_test
