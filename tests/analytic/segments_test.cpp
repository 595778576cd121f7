// SPDX-License-Identifier: Apache-2.0
// Multiple shooting of compliant contacts: any number of segments finds what one does, in about as many iterations.
#include <gtest/gtest.h>

#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::segments_test {
namespace {

/// Falls, bounces and slides: a node may lie within an impact.
const char* const kDropped = R"toml(
[equations]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
potential = "9.81*z"
[[contact]]
name = "plane"
gap = "z"
slip = ["x", "y"]
mu = 0.3
compliance = { stiffness = [[1000, 100, 50], [100, 800, 30], [50, 30, 700]], damping = [[20, 0], [0, 20]] }
[initial]
position = [0, 0, 0.05]
velocity = [1, 0.5, 0]
[run]
scheme = "compliant"
tolerance = 1e-11
end_time = 1
[shoot]
unknowns = [{ name = "vx", key = "initial.velocity.0", start = 1.0 },
            { name = "vy", key = "initial.velocity.1", start = 0.5 }]
conditions = ["x - 0.45", "y - 0.3"]
)toml";

/// Two contacts that are coupled by stiffness and damping; the body rocks.
const char* const kRocking = R"toml(
[equations]
coordinates = ["x", "z", "th"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 0.113333333333333]]
potential = "9.81*z"
[[contact]]
name = "left"
gap = "z - 0.5*sin(th) - 0.3*cos(th)"
slip = ["x - 0.5*cos(th) + 0.3*sin(th)"]
mu = 0.3
[[contact]]
name = "right"
gap = "z + 0.5*sin(th) - 0.3*cos(th)"
slip = ["x + 0.5*cos(th) + 0.3*sin(th)"]
mu = 0.3
[compliance]
stiffness = [[2000, 300, 200, 0], [300, 2000, 0, -150], [200, 0, 1500, 100], [0, -150, 100, 1500]]
damping = [[30, 5], [5, 30]]
[initial]
position = [0, 0.297, 0.0]
velocity = [1.5, 0, 0]
[run]
scheme = "compliant"
tolerance = 1e-8
end_time = 0.8
[shoot]
tolerance = 1e-7
unknowns = [{ name = "vx", key = "initial.velocity.0", start = 1.0 }]
conditions = ["x - 0.35"]
)toml";

/// Compliance by default, from a mass that varies: that of the start of the run holds in every segment.
const char* const kByDefault = R"toml(
[parameters]
mu = 0.2
[equations]
coordinates = ["s", "n"]
mass = [["1 + 0.5*sin(s)^2", 0], [0, "1 + 0.5*sin(s)^2"]]
force = ["1.962 - s", "-9.81"]
[[contact]]
name = "rail"
gap = "n"
slip = ["s"]
mu = "mu"
restitution = 0.3
[initial]
velocity = [1, 0]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = 1.5
[shoot]
tolerance = 1e-8
unknowns = [{ name = "v0", key = "initial.velocity.0", start = 1 },
            { name = "mu", key = "parameters.mu", start = 0.2, min = 0 }]
conditions = ["s - 0.7", { at = 0.4, value = "s - 0.42" }]
)toml";

ShootingSolution shoot_in(const char* text, int segments) {
  const ModelFile model = parse_model(text, "test.toml", std::vector{"shoot.segments=" + std::to_string(segments)});
  return shoot(shooting_problem(model), model.shoot->options);
}

void expect_the_same(const char* text, double accuracy, std::initializer_list<int> cuts = {2, 4, 8}) {
  const ShootingSolution one = shoot_in(text, 1);
  ASSERT_EQ(one.status, Status::success) << one.message;
  for (const int segments : cuts) {
    const ShootingSolution many = shoot_in(text, segments);
    ASSERT_EQ(many.status, Status::success) << segments << ": " << many.message;
    EXPECT_LE((many.unknowns - one.unknowns).lpNorm<Eigen::Infinity>(), accuracy) << segments;
    EXPECT_LE(many.iterations, 2 * one.iterations + 4) << segments;
  }
}

TEST(Segments, ADroppedBlock) { expect_the_same(kDropped, 1e-8); }
TEST(Segments, ARockingBodyOnCoupledContacts) { expect_the_same(kRocking, 1e-5, {2}); }
TEST(Segments, ComplianceByDefaultIsThatOfTheWholeRun) { expect_the_same(kByDefault, 1e-6); }

}  // namespace
}  // namespace stickslip::segments_test
