// SPDX-License-Identifier: Apache-2.0
// Trees of bodies under the schemes beside moreau and event, and closed loops through positions where they lose rank.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/periodic/solve_periodic.hpp"
#include "tests/support/den_hartog.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::tree_schemes_test {
namespace {

/// N + 1 cranks of 1 m on the ground, joined at their tips by N couplers: thin rods of 1 kg, upright, the tips with 1
/// m/s. `pins`: loops hold five directions instead of the two that are needed.
std::string cranks(int N, bool pins) {
  std::string text = "[gravity]\nvector = [0, -9.81, 0]\n";
  const auto rod = [&](const std::string& name) {
    text += "[[body]]\nname = \"" + name +
            "\"\nmass = 1.0\ncenter = [0.5, 0, 0]\ninertia = [0, 0.08333333333333333, 0.08333333333333333]\n";
  };
  for (int i = 0; i <= N; ++i) rod(fmt::format("crank{}", i));
  for (int i = 1; i <= N; ++i) rod(fmt::format("coupler{}", i));
  for (int i = 0; i <= N; ++i)
    text += fmt::format(
        "[[hinge]]\nname = \"b{0}\"\nparent = \"ground\"\nchild = \"crank{0}\"\nposition = [{0}, 0, 0]\naxes = "
        "[\"rz\"]\n"
        "position_0 = \"pi/2\"\nvelocity_0 = -1\n",
        i);
  for (int i = 1; i <= N; ++i)
    text += fmt::format(
        "[[hinge]]\nname = \"c{0}\"\nparent = \"crank{1}\"\nchild = \"coupler{0}\"\nposition = [1, 0, 0]\naxes = "
        "[\"rz\"]\n"
        "position_0 = \"-pi/2\"\nvelocity_0 = 1\n"
        "[[loop]]\nname = \"l{0}\"\nbody_a = \"coupler{0}\"\npoint_a = [1, 0, 0]\nbody_b = \"crank{0}\"\n"
        "point_b = [1, 0, 0]\naxes = {2}\n",
        i, i - 1, pins ? "[\"rz\"]" : "[\"tz\", \"ball\"]");
  return text + "[run]\nscheme = \"event\"\ntolerance = 1e-9\nend_time = 10\nstep = 0.001\noutput_step = 1\n";
}

/// Whenever the cranks lie flat the loops lose rank; the motion goes on as a parallelogram.
TEST(TreeSchemes, CranksPassFlatPositions) {
  for (const bool pins : {false, true})
    for (const double tolerance : {1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12}) {
      const Simulation run = run_text(cranks(2, pins), {fmt::format("run.tolerance={}", tolerance),
                                                        fmt::format("run.event.absolute_tolerance={}", tolerance)});
      ASSERT_EQ(run.status, Status::success) << pins << " " << tolerance << " " << run.message;
      const double error =
          std::hypot(std::cos(run.final.q[0]) - 0.328458111539, std::sin(run.final.q[0]) - 0.944518538179);
      // A step across a flat position is longer than the tolerance asks for: 1400 of them at 1e-6, below 70 from 1e-7
      // on.
      EXPECT_LT(error, (tolerance > 1e-7 ? 2e3 : 2e2) * tolerance) << pins << " " << tolerance;
    }
}

/// Loops as stiff spring-dampers: the error falls with epsilon.
TEST(TreeSchemes, ViscoelasticLoopsComeNearRigidOnes) {
  double last = HUGE_VAL;
  for (const double epsilon : {1e-4, 1e-5, 1e-6}) {
    const Simulation run = run_text(cranks(2, false), {"run.scheme=viscoelastic", "run.end_time=1",
                                                       fmt::format("run.viscoelastic.epsilon={}", epsilon)});
    ASSERT_EQ(run.status, Status::success) << run.message;
    const double error =
        std::hypot(std::cos(run.final.q[0]) + 0.195020301949, std::sin(run.final.q[0]) + 0.980799205662);
    EXPECT_LT(error, 0.2 * last);
    last = error;
  }
  EXPECT_LT(last, 3e-4);
}

/// An arm falls on the ground and rests on it: the compliant one as much deeper as its load over its stiffness.
TEST(TreeSchemes, ACompliantContactOfAHingedBodyRests) {
  const std::string text = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "arm"
mass = 1.0
center = [0.5, 0, 0]
inertia = [0.01, 0.08, 0.08]
[[shape]]
body = "arm"
kind = "sphere"
radius = 0.1
position = [1, 0, 0]
[[shape]]
body = "ground"
kind = "plane"
position = [0, 0, -0.5]
[[hinge]]
name = "j"
parent = "ground"
child = "arm"
axes = ["ry"]
[[contact]]
name = "floor"
between = ["arm", "ground"]
mu = 1e-6
compliance = { stiffness = [[1e4, 0, 0], [0, 1e4, 0], [0, 0, 1e4]], damping = [[300, 0], [0, 300]], normal_damping = 100 }
[run]
scheme = "compliant"
tolerance = 1e-8
end_time = 3
step = 0.001
)toml";
  const double rigid = std::asin(0.4);
  const Simulation hard = run_text(text, {"run.scheme=moreau"}), soft = run_text(text);
  ASSERT_EQ(hard.status, Status::success) << hard.message;
  ASSERT_EQ(soft.status, Status::success) << soft.message;
  EXPECT_NEAR(hard.final.q[0], rigid, 1e-9);
  // N cos q = m g cos q / 2, depth N/k = sin q - 0.4
  EXPECT_NEAR(std::sin(soft.final.q[0]) - 0.4, 9.81 / 2 / 1e4, 1e-8);
}

/// A hinge with a spring, dry friction and a harmonic moment is Den Hartog's oscillator.
TEST(TreeSchemes, APeriodicOrbitOfAHingeIsDenHartogs) {
  const double b = 0.7, f = 0.4;
  const ModelFile model = parse_model(fmt::format(R"toml(
[[body]]
name = "disc"
mass = 1.0
inertia = [1, 1, 1]
[[hinge]]
name = "shaft"
parent = "ground"
child = "disc"
axes = ["rz"]
stiffness = 1.0
force = "cos({0:.17g}*t)"
[[friction]]
name = "dry"
on = "shaft.rz"
limit = {1}
[run]
scheme = "event"
tolerance = 1e-11
end_time = 100
[periodic]
period = "2*pi/{0:.17g}"
method = "event"
start = "run"
)toml",
                                                  b, f),
                                      "m.toml");
  ASSERT_TRUE(model.periodic);
  const PeriodicSolution found = solve_periodic({*model.system, model.initial, model.periodic->options});
  ASSERT_EQ(found.status, Status::success) << found.message;
  EXPECT_NEAR(0.5 * (found.orbit.maximum[0] - found.orbit.minimum[0]), den_hartog(b, f)->X, 1e-9);
}

TEST(TreeSchemes, AStartThatDoesNotCloseNamesTheNearestThatDoes) {
  std::string text = cranks(1, false);
  text.replace(text.find("position_0 = \"-pi/2\""), 20, "position_0 = -1.4");
  try {
    parse_model(text, "m.toml");
    FAIL() << "the loop does not close";
  } catch (const InputError& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("violates constraint 'l1.t"), std::string::npos) << message;
    EXPECT_NE(message.find("nearest position on the constraints: b0.rz = "), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace stickslip::tree_schemes_test
