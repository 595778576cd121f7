// SPDX-License-Identifier: Apache-2.0
// Scheme `compliant` with friction laws, constraints and static coefficients beside its contacts; where forces jump;
// facets; bodies that spin; the compliance of contacts that have none of their own.
#include <fmt/format.h>
#include <gtest/gtest.h>

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
    const Simulation s = run_text(kTwo, {fmt::format("run.compliant.epsilon={}", epsilon)});
    errors.push_back(std::abs(s.final.q[2] - exact.final.q[2]) + std::abs(s.final.q[0] - exact.final.q[0]));
    EXPECT_LT(audit_value(s, "energy"), 1e-6);
    EXPECT_GT(audit_value(s, "energy_friction_loss"), 0.1);
  }
  EXPECT_LT(errors[0], 3e-4);
  EXPECT_LT(errors[1], 2e-5);  // 10 µm of the floor's own compliance stay
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
  expect_slopes(kRod, "initial.position.0", 0, 1e-5, 1e-6, {"run.tolerance=1e-12", "contact.foot.compliance.normal_damping=0"});
  expect_slopes(kTwo, "friction.brake.limit", 1.5, 1e-3, 1e-6, {"run.tolerance=1e-12", "run.compliant.epsilon=1e-4",
                "contact.floor.compliance.stiffness=1e4", "contact.floor.compliance.damping=100", "initial.position=[0.3,-9.81e-4,0]"});
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
  // With the disk there are none.
  EXPECT_TRUE(run_text(block, {"contact.floor.cone=disk"}).final.facets.empty());
}

/// A box on a disc that spins about the vertical, held there by friction.
const char* const kTurntable = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "table"
mass = 1000
inertia = [100, 100, 200]
position_0 = [0, 0, 0.5]
spin_0 = [0, 0, 3]
[[shape]]
body = "table"
kind = "box"
size = [2, 2, 0.2]
[[body]]
name = "box"
mass = 1
inertia = [0.01, 0.01, 0.01]
position_0 = [0.3, 0, 0.69998]
velocity_0 = [0, 0.9, 0]
spin_0 = [0, 0, 3]
[[shape]]
body = "box"
kind = "box"
size = [0.2, 0.2, 0.2]
[[body]]
name = "hub"
mass = 1
inertia = [1, 1, 1]
position_0 = [0, 0, -50]
[[contact]]
name = "top"
between = ["box", "table"]
mu = 0.6
compliance = { stiffness = 5e4, damping = 500, normal_damping = 300 }
[run]
scheme = "compliant"
tolerance = 1e-8
end_time = 1
output_step = 0.5
)toml";

}  // namespace
}  // namespace stickslip::compliant_laws_test
