// SPDX-License-Identifier: Apache-2.0
// Motion without inertia: velocities, where positions follow a drive exactly over steps of any length.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stickslip/io/model_case.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::quasistatic_velocity_test {
namespace {

/// A slider with μ N = 2.943 N on a spring of 50 N/m, whose end goes along u(t); one row, at the end.
Simulation follow(const char* drive, double end, double tolerance) {
  return make_case(parse_model(fmt::format(R"toml(
[equations]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["50*(({}) - x)", "-9.81"]
[[contact]]
name = "pad"
gap = "z"
slip = "x"
mu = 0.3
compliance = {{ stiffness = [[1e5, 0], [0, 800]], damping = 20 }}
[initial]
position = [0, -9.81e-5]
[run]
scheme = "compliant"
tolerance = {}
end_time = {}
output_times = [{}]
[run.compliant]
quasistatic = true
)toml",
                                           drive, tolerance, end, end),
                               "slider.toml"))
      .run();
}

/// In slip x = u - μ N/k and v = u'. Slopes of steps as long as positions allow were 4e-3 to 6e-2 off at any tolerance.
TEST(QuasistaticVelocity, OfASlipIsThatOfTheDrive) {
  for (const double tolerance : {1e-6, 1e-9, 1e-11}) {
    const double limit = 10 * tolerance + 1e-10;  // round-off of positions over a step
    const Simulation grows = follow("0.02*exp(t)", 4, tolerance);
    ASSERT_EQ(grows.status, Status::success) << grows.message;
    EXPECT_NEAR(grows.final.v[0], 0.02 * std::exp(4.0), limit * 0.02 * std::exp(4.0)) << tolerance;
    const Simulation swings = follow("0.11*t + 0.02*sin(5*t)", 4, tolerance);
    ASSERT_EQ(swings.status, Status::success) << swings.message;
    EXPECT_NEAR(swings.final.v[0], 0.11 + 0.1 * std::cos(20.0), limit * 0.21) << tolerance;
  }
}

/// It comes to rest where the drive turns: u' = 0.
TEST(QuasistaticVelocity, SlipEndsWhereTheDriveTurns) {
  const Simulation s = follow("0.2*sin(2*t)", 3.9, 1e-9);
  ASSERT_EQ(s.status, Status::success) << s.message;
  int turn = 0;
  for (const Event& event : s.trajectory.events)
    if (event.kind == EventKind::stick && event.t > 0) {
      constexpr double kQuarter = std::numbers::pi / 4;
      EXPECT_NEAR(event.t, kQuarter * (1 + 2 * turn), 1e-6);  // 8e-4 when velocities did not steer the steps
      ++turn;
    }
  EXPECT_EQ(turn, 2);
  EXPECT_NEAR(s.final.v[0], 0.4 * std::cos(7.8), 1e-8);
}

}  // namespace
}  // namespace stickslip::quasistatic_velocity_test
