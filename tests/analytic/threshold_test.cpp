// SPDX-License-Identifier: Apache-2.0
// Rest exactly at the limit of friction: a load that equals it moves nothing, however it is computed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/support/model_text.hpp"

namespace stickslip::threshold_test {
namespace {

Simulation run_planar(const std::string& force, double limit) {
  return run_text(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
[[friction]]
on = ["x", "y"]
limit = 1
[run]
scheme = "event"
step = 0.01
end_time = 3
)toml",
                  {"matrices.force=" + force, fmt::format("friction.0.limit={}", limit)});
}

void expect_rest(const Simulation& r, const std::string& what) {
  ASSERT_EQ(r.status, Status::success) << what << ": " << r.message;
  EXPECT_LT(r.final.q.lpNorm<Eigen::Infinity>(), 1e-12) << what;
  EXPECT_LT(r.final.v.lpNorm<Eigen::Infinity>(), 1e-12) << what;
}

TEST(Threshold, PlanarFrictionHoldsALoadThatEqualsItsLimit) {
  expect_rest(run_planar("[0.5, 0]", 0.5), "along x");
  expect_rest(run_planar("[0.3, 0.4]", 0.5), "oblique");
  expect_rest(run_planar("[3, 4]", 5), "larger");
  expect_rest(run_planar("[\"0.5*cos(t)\", \"0.5*sin(t)\"]", 0.5), "turning");
  const Simulation above = run_planar("[0.3006, 0.4008]", 0.5);  // 0.501 N: a = 0.001 m/s²
  ASSERT_EQ(above.status, Status::success) << above.message;
  EXPECT_NEAR(above.final.v.norm(), 0.003, 1e-12);
}

TEST(Threshold, ContactWithTwoTangentsHoldsALoadThatEqualsItsLimit) {
  expect_rest(run_text(R"toml(
[matrices]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = [3, 4, -10]
[[contact]]
gap = "z"
slip = ["x", "y"]
mu = 0.5
[run]
scheme = "event"
step = 0.01
end_time = 0.5
)toml"),
              "point");
}

/// A ladder on a rough floor against a smooth wall stands up to tan θ = 1/(2μ).
TEST(Threshold, LadderAtItsAngleOfFrictionEndsAtRestOrBarelyMoves) {
  for (const double mu : {0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8}) {
    const Simulation r = run_text(R"toml(
[parameters]
mu = 0.4
a = "atan(1/(2*mu))"
[equations]
coordinates = ["x", "y", "th"]
kinetic_energy = "0.5*(v_x^2+v_y^2)+v_th^2/6"
potential = "9.81*y"
[[contact]]
name = "floor"
gap = "y-sin(th)"
slip = "x+cos(th)"
mu = "mu"
[[contact]]
name = "wall"
gap = "x-cos(th)"
[initial]
position = ["cos(a)", "sin(a)", "a"]
[run]
scheme = "event"
step = 0.01
end_time = 1
)toml",
                                  {fmt::format("parameters.mu={}", mu)});
    ASSERT_EQ(r.status, Status::success) << mu << ": " << r.message;
    EXPECT_NEAR(r.final.q[2], std::atan(1 / (2 * mu)), 1e-9) << mu;
  }
}

/// Reactions that no friction acts on: 5 N and 1 N, a = 2 - 0.2 (5 + 1) m/s².
TEST(Threshold, TwoLawsOnOneCoordinateFollowTheirOwnReactions) {
  const Simulation r = run_text(R"toml(
[matrices]
coordinates = ["x", "y", "phi"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 0.1]]
force = [2, -5, 1]
[[constraint]]
name = "r1"
position = "y"
[[constraint]]
name = "r2"
position = "phi"
[[friction]]
on = "x"
limit = "0.2*abs(r_r1)"
[[friction]]
on = "x"
limit = "0.2*abs(r_r2)"
[run]
scheme = "event"
step = 0.1
end_time = 1
)toml");
  ASSERT_EQ(r.status, Status::success) << r.message;
  EXPECT_NEAR(r.final.v[0], 0.8, 1e-12);
  EXPECT_NEAR(r.final.q[0], 0.4, 1e-12);
}

}  // namespace
}  // namespace stickslip::threshold_test
