// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/drawn_contact.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/io/model_file.hpp"
#include "stickslip/io/simulation_scene.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::drawn_contact_test {
namespace {

std::optional<DrawnContact> contact_of(const ModelFile& model, const Vector& q) {
  const System& system = *model.system;
  SystemWorkspace workspace(system);
  ContactPoints found;
  system.laws().contact_source().find(0, q, HUGE_VAL, workspace, found);
  Variables state(q.size(), q.size());
  state.set(0, q, Vector::Zero(q.size()));
  return drawn_contact(model.drawings, state.span(), DenseMatrix(found.Wt));
}

/// A box that turns, on a ramp: the corner is where the rows say, in whatever unit the angle is measured.
TEST(DrawnContact, TheCornerOfABoxFollowsFromItsRows) {
  const ModelFile model = parse_model(R"toml(
[parameters]
unit = 1e3
[equations]
coordinates = ["x", "y", "milli"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
[[contact]]
name = "corner"
gap = "0.8*(y + 0.5*sin(milli/unit) - 0.3*cos(milli/unit)) - 0.6*(x + 0.5*cos(milli/unit) + 0.3*sin(milli/unit))"
slip = ["0.6*(y + 0.5*sin(milli/unit) - 0.3*cos(milli/unit)) + 0.8*(x + 0.5*cos(milli/unit) + 0.3*sin(milli/unit))"]
mu = 0.3
[[drawing]]
name = "ramp"
kind = "line"
points = [[0, 0], [4, 3]]
[[drawing]]
name = "box"
kind = "box"
size = [1, 0.6]
position = ["x", "y"]
angle = "milli/unit"
)toml",
                                      "test.toml");
  const double angle = 0.4;
  Vector q(3);
  q << 2, 3, 1e3 * angle;
  const auto drawn = contact_of(model, q);
  ASSERT_TRUE(drawn);
  EXPECT_NEAR(drawn->point.x(), 2 + 0.5 * std::cos(angle) + 0.3 * std::sin(angle), 1e-9);
  EXPECT_NEAR(drawn->point.y(), 3 + 0.5 * std::sin(angle) - 0.3 * std::cos(angle), 1e-9);
  EXPECT_NEAR(drawn->directions[0].x(), -0.6, 1e-12);
  EXPECT_NEAR(drawn->directions[0].y(), 0.8, 1e-12);
  EXPECT_NEAR(drawn->directions[1].x(), 0.8, 1e-12);
}

/// A ball that is thrown at another one: the force acts between them, at the surface of the first.
TEST(DrawnContact, BetweenTwoDrawings) {
  const ModelFile model = parse_model(R"toml(
[equations]
coordinates = ["a", "b"]
mass = [[1, 0], [0, 1]]
[[contact]]
name = "hit"
gap = "b - a - 0.3"
[[drawing]]
name = "first"
kind = "sphere"
radius = 0.1
position = ["a", 0.5]
[[drawing]]
name = "second"
kind = "sphere"
radius = 0.2
position = ["b", 0.5]
)toml",
                                      "test.toml");
  Vector q(2);
  q << 1, 1.3;
  const auto drawn = contact_of(model, q);
  ASSERT_TRUE(drawn);
  EXPECT_NEAR(drawn->point.x(), 1.1, 1e-12);
  EXPECT_NEAR(drawn->point.y(), 0.5, 1e-12);
  EXPECT_NEAR(drawn->directions[0].x(), -1, 1e-12);
}

TEST(DrawnContact, ADrawingThatDoesNotShowTheGapSaysNothing) {
  const ModelFile model = parse_model(R"toml(
[equations]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
[[contact]]
name = "floor"
gap = "z"
slip = ["x"]
mu = 0.3
[[drawing]]
name = "block"
kind = "box"
size = [1, 1]
position = ["x", 0]
)toml",
                                      "test.toml");
  EXPECT_FALSE(contact_of(model, Vector::Zero(2)));
}

/// The scene of a run: an arrow in every frame that has a reaction.
TEST(DrawnContact, ForcesStandInTheScene) {
  const ModelFile model = parse_model(R"toml(
[equations]
coordinates = ["y"]
mass = [[2]]
force = ["-19.62"]
[[contact]]
name = "floor"
gap = "y - 0.1"
[[drawing]]
name = "ball"
kind = "sphere"
radius = 0.1
position = [0.4, "y"]
[initial]
position = [0.1]
[run]
step = 0.1
end_time = 1
)toml",
                                      "test.toml");
  const Simulation run = simulate(*model.system, model.initial, model.run);
  const std::optional<ReportScene> scene = simulation_scene(model, run);
  ASSERT_TRUE(scene);
  ASSERT_EQ(scene->forces.size(), scene->times.size());
  ASSERT_EQ(scene->forces.back().size(), 1u);
  const SceneForce& force = scene->forces.back().front();
  EXPECT_NEAR(force.force[1], 19.62, 1e-9);
  EXPECT_NEAR(force.point[0], 0.4, 1e-12);
  EXPECT_NEAR(force.point[1], 0, 1e-9);
  EXPECT_EQ(force.law, 0u);
}

}  // namespace
}  // namespace stickslip::drawn_contact_test
