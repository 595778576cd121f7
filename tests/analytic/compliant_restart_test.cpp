// SPDX-License-Identifier: Apache-2.0
// A run with compliant contacts that is stopped and goes on: motion and derivatives of the one that never stopped.
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/io/model_case.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::compliant_restart_test {
namespace {

/// Slides to rest on a spring-loaded floor; a push ends at tp, which is an unknown.
const std::string kSlider = R"toml(
[parameters]
mu = 0.3
tp = 0.35
[equations]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["if(t < tp, 2, 0)", "-9.81"]
[[contact]]
name = "floor"
gap = "z"
slip = ["x"]
mu = "mu"
compliance = { stiffness = [[1000, 100], [100, 800]], damping = [[20]] }
[initial]
position = [0, 0.01]
velocity = [1.2, 0]
[run]
scheme = "compliant"
tolerance = 1e-10
end_time = 1
output_step = 0.05
sensitivities = ["mu", "tp", "initial.velocity.0"]
)toml";

/// The same without inertia: pulled by a spring whose end stops at tp.
const std::string kPulled = R"toml(
[parameters]
mu = 0.3
tp = 0.8
[equations]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["50*(0.1*min(t, tp) - x)", "-9.81"]
[[contact]]
name = "floor"
gap = "z"
slip = ["x"]
mu = "mu"
compliance = { stiffness = [[1000, 0], [0, 800]], damping = [[20]] }
[initial]
position = [0, -0.00981]
[run]
scheme = "compliant"
tolerance = 1e-10
end_time = 1
output_step = 0.05
sensitivities = ["mu", "tp"]
[run.compliant]
quasistatic = true
)toml";

/// Points come and go; compliance by default, from the bodies at the start.
const std::string kCube = R"toml(
[parameters]
mu = 0.3
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "cube"
mass = 1
inertia = [0.00166, 0.0017, 0.0016]
position_0 = [0, 0, 0.08]
velocity_0 = [0.5, 0.1, 0]
spin_0 = [0, 3, 1]
[[shape]]
body = "cube"
kind = "box"
size = [0.1, 0.1, 0.1]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
between = ["cube", "ground"]
mu = "mu"
restitution = 0.3
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = 0.3
output_step = 0.01
sensitivities = ["mu", "body.cube.velocity_0.0"]
)toml";

Simulation run(const std::string& text, const std::vector<std::string>& settings, double end = 0,
               const SimulationHooks& hooks = {}) {
  Case made = make_case(parse_model(text, "test.toml", settings));
  SimulationOptions options = made.options();
  if (end > 0) options.end_time = end;
  made.set_options(options);
  return made.run(hooks);
}

void expect_the_same(const std::string& text, const std::vector<std::string>& settings, double stop, double accuracy) {
  const Simulation whole = run(text, settings), part = run(text, settings, stop);
  ASSERT_EQ(whole.status, Status::success) << whole.message;
  SimulationHooks hooks;
  hooks.resume = &part.last;
  const Simulation rest = run(text, settings, 0, hooks);
  ASSERT_EQ(rest.status, Status::success) << rest.message;
  EXPECT_LE((rest.final.q - whole.final.q).lpNorm<Eigen::Infinity>(), accuracy);
  ASSERT_EQ(rest.final_sensitivity.rows(), whole.final_sensitivity.rows());
  const double size = whole.final_sensitivity.lpNorm<Eigen::Infinity>();
  EXPECT_LE((rest.final_sensitivity - whole.final_sensitivity).lpNorm<Eigen::Infinity>(), accuracy * size);
  // Rows of the second part: every column, reactions among them, but where they are means over a shorter time.
  const Index before = whole.trajectory.rows() - rest.trajectory.rows();
  for (Index row = 2; row < rest.trajectory.rows(); ++row)
    for (Index i = 0; i < static_cast<Index>(rest.trajectory.names().derivatives()); ++i)
      for (Index j = 0; j < static_cast<Index>(rest.trajectory.names().unknowns.size()); ++j)
        EXPECT_NEAR(rest.trajectory.sensitivity(row, i, j), whole.trajectory.sensitivity(before + row, i, j),
                    10 * accuracy * (size + std::abs(whole.trajectory.sensitivity(before + row, i, j))))
            << row << " " << i << " " << j;
}

TEST(CompliantRestart, ColumnsGoOnBesideABreakpointThatAnUnknownMoves) {
  for (const double stop : {0.2, 0.6}) expect_the_same(kSlider, {}, stop, 1e-7);
  expect_the_same(kSlider, {"run.compliant.integrator=stiff"}, 0.2, 1e-6);
}

TEST(CompliantRestart, ColumnsGoOnWithoutInertia) {
  // Velocities beside a breakpoint that an unknown moves are known to 1e-5 of x'' (docs/theory-compliant.md).
  for (const double stop : {0.3, 0.7, 0.9}) expect_the_same(kPulled, {}, stop, 1e-5);
  for (const double stop : {0.3, 0.7, 0.9}) expect_the_same(kPulled, {"run.sensitivities=[\"mu\"]"}, stop, 1e-8);
}

TEST(CompliantRestart, ColumnsOfBodiesGoOn) { expect_the_same(kCube, {}, 0.17, 1e-5); }

/// A block that is stopped within an impact is pressed harder than its weight could press it: no mistake of the model.
TEST(CompliantRestart, WithinAnImpact) {
  const std::vector<std::string> fast{"initial.position=[0,0]", "initial.velocity=[0,-30]",
                                      "contact.floor.compliance.stiffness=[[100000,0],[0,80000]]"};
  expect_the_same(kSlider, fast, 0.005, 1e-6);
}

}  // namespace
}  // namespace stickslip::compliant_restart_test
