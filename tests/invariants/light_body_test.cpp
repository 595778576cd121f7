// SPDX-License-Identifier: Apache-2.0
// A light body between heavy ones is struck from both sides, more often than a step resolves and infinitely often at
// one instant: momentum stays, energy does not grow, and the motion goes on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/model_text.hpp"

namespace stickslip::light_body_test {
namespace {

constexpr const char* kRow = R"toml(
[parameters]
m = 1
[matrices]
coordinates = ["x0", "x1", "x2"]
mass = [[1, 0, 0], [0, "m", 0], [0, 0, 1]]
[[contact]]
name = "c1"
gap = "x1-x0"
restitution = 0.5
[[contact]]
name = "c2"
gap = "x2-x1"
restitution = 0.5
[initial]
position = [0, 0.001, 0.002]
velocity = [1, 0, 0]
[run]
step = 1e-3
end_time = 0.1
)toml";

constexpr const char* kBalls = R"toml(
[parameters]
m = 1
[matrices]
coordinates = ["a", "b"]
mass = [["m", 0], [0, 1]]
force = ["-9.81*m", -9.81]
[[contact]]
name = "c1"
gap = "a"
restitution = 0.5
[[contact]]
name = "c2"
gap = "b-a"
restitution = 0.5
[initial]
position = [0.01, 0.51]
[run]
step = 1e-3
end_time = 2
)toml";

Simulation run_case(const char* text, const char* scheme, double m, double e, const char* law) {
  return run_text(text, {std::string("run.scheme=") + scheme, fmt::format("parameters.m={}", m),
                         fmt::format("contact.c1.restitution={}", e), fmt::format("contact.c2.restitution={}", e),
                         fmt::format("contact.c1.impact={}", law), fmt::format("contact.c2.impact={}", law)});
}

/// Largest T + U of all rows over that of the first.
double growth(const Simulation& r, double m, double gravity) {
  const Trajectory& rows = r.trajectory;
  double first = 0, largest = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    double energy = 0;
    for (Index j = 0; j < r.final.v.size(); ++j) {
      const double mass = (gravity > 0 ? j == 0 : j == 1) ? m : 1.0, v = rows.v(i, j);
      energy += mass * (0.5 * v * v + gravity * rows.q(i, j));
    }
    if (i == 0) first = energy;
    largest = std::max(largest, energy);
  }
  return largest / first;
}

TEST(LightBody, BetweenHeavyOnesMakesNoEnergyInSteps) {
  for (const double m : {0.1, 0.03, 0.01, 1e-3, 1e-6})
    for (const double e : {0.0, 0.1, 0.5, 0.9, 1.0}) {
      const Simulation row = run_case(kRow, "moreau", m, e, "newton"),
                       balls = run_case(kBalls, "moreau", m, e, "newton");
      ASSERT_EQ(row.status, Status::success) << m << ", " << e << ": " << row.message;
      ASSERT_EQ(balls.status, Status::success) << m << ", " << e << ": " << balls.message;
      EXPECT_LT(growth(row, m, 0), 1 + 1e-9) << m << ", " << e;
      EXPECT_LT(growth(balls, m, 9.81), 1 + 1e-9) << m << ", " << e;
      EXPECT_NEAR(row.final.v[0] + m * row.final.v[1] + row.final.v[2], 1, 1e-10) << m << ", " << e;
    }
}

TEST(LightBody, BetweenHeavyOnesCollidesInfinitelyOftenAtOneInstant) {
  for (const double m : {1.0, 0.1, 0.05, 0.01, 1e-3})
    for (const double e : {0.1, 0.5, 0.7, 0.9})
      for (const char* law : {"newton", "poisson", "energetic"}) {
        const Simulation row = run_case(kRow, "event", m, e, law), balls = run_case(kBalls, "event", m, e, law);
        ASSERT_EQ(row.status, Status::success) << m << ", " << e << ", " << law << ": " << row.message;
        ASSERT_EQ(balls.status, Status::success) << m << ", " << e << ", " << law << ": " << balls.message;
        EXPECT_LT(growth(row, m, 0), 1 + 1e-9) << m << ", " << e << ", " << law;
        EXPECT_LT(growth(balls, m, 9.81), 1 + 1e-9) << m << ", " << e << ", " << law;
        EXPECT_NEAR(row.final.v[0] + m * row.final.v[1] + row.final.v[2], 1, 1e-9) << m << ", " << e << ", " << law;
      }
}

}  // namespace
}  // namespace stickslip::light_body_test
