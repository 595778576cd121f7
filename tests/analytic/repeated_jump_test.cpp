// SPDX-License-Identifier: Apache-2.0
// Functions of time that jump again and again, by mod, floor and if: every scheme that ends its steps at jumps finds
// all of them, to round-off of the clock.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::repeated_jump_test {
namespace {

std::string belt(std::string_view velocity, double limit, double end, std::string_view scheme = "event") {
  return fmt::format(R"toml([matrices]
coordinates = ["x"]
mass = [[2]]
[[friction]]
name = "b"
on = "x"
limit = {}
surface_velocity = "{}"
[run]
scheme = "{}"
step = 0.01
end_time = {}
)toml",
                     limit, velocity, scheme, end);
}

// A belt that speeds up for two seconds and is back at rest. The mass is carried along at 1 m/s² < 15 m/s²; after the
// jump from 2 m/s to 0 it brakes at 15 m/s² until it has the velocity of the belt, after 2/16 s, while it has gone
// ahead of the belt by 2²/32. So x(t) = Σ over the periods of 2 + 1/8, the last second 1/2 + 1/8.
TEST(SawtoothBelt, JumpsAtTheEndOfEveryTooth) {
  for (const std::string_view velocity : {"mod(t, 2)", "t - 2*floor(t/2)", "mod(t, 2.0)*if(t < 100, 1, 2)"}) {
    const Simulation s = run_text(belt(velocity, 30, 7));
    ASSERT_EQ(s.status, Status::success) << velocity << ": " << s.message;
    EXPECT_NEAR(s.final.q[0], 6 + 0.5 + 3 * 0.125, 1e-12) << velocity;
    ASSERT_EQ(s.trajectory.events.size(), 6u) << velocity;
    for (int k = 0; k < 3; ++k) {
      EXPECT_EQ(s.trajectory.events[2 * k].kind, EventKind::slip);
      EXPECT_EQ(s.trajectory.events[2 * k].t, 2.0 * (k + 1)) << velocity;
      EXPECT_NEAR(s.trajectory.events[2 * k + 1].t, 2.0 * (k + 1) + 0.125, 1e-13) << velocity;
    }
  }
}

// Periods that are no numbers of two digits, at times that are none either, many of them.
TEST(SawtoothBelt, OfAnyPeriodJumpsAtEveryTooth) {
  for (const double period : {0.3, 0.7, 1.1, 2.1}) {
    const Simulation s = run_text(belt(fmt::format("mod(t + 0.123, {})", period), 300, 20));
    ASSERT_EQ(s.status, Status::success) << period << ": " << s.message;
    int k = 0;
    for (const Event& event : s.trajectory.events) {
      if (event.kind != EventKind::slip) continue;
      ++k;
      EXPECT_NEAR(event.t, k * period - 0.123, 4e-15 * event.t) << period;
    }
    EXPECT_EQ(k, static_cast<int>(std::floor((20 + 0.123) / period))) << period;
  }
}

// ±1 m/s: each turn takes 2 m/s of 0.85 m/s² or 15 m/s².
TEST(SquareBelt, TurnsTheMassAtEveryJump) {
  for (const std::string_view velocity : {"if(mod(t, 2) < 1, 1, -1)", "1 - 2*mod(floor(t), 2)"}) {
    const Simulation s = run_text(belt(velocity, 30, 70));
    ASSERT_EQ(s.status, Status::success) << velocity << ": " << s.message;
    // From rest to 1 m/s in 1/15 s, then 69 times from ±1 to ∓1 m/s in 2/15 s.
    ASSERT_EQ(s.trajectory.events.size(), 1u + 2 * 69u) << velocity;
    for (int k = 1; k <= 69; ++k) {
      EXPECT_EQ(s.trajectory.events[2 * k - 1].t, k) << velocity;
      EXPECT_NEAR(s.trajectory.events[2 * k].t, k + 2.0 / 15, 4e-14) << velocity;
    }
    EXPECT_LT(audit_value(s, "inclusion"), 1e-12) << velocity;
  }
}

// F = ±3 N on 1 kg against 1 N: 2 m/s² for 1 s, then -4 m/s² for 0.5 s to the reversal, -2 m/s² for 0.5 s, at t = 2 -1
// m/s; +4 m/s² for 0.25 s, and so on.
TEST(SquareForce, ReversesAsTheClosedFormSays) {
  const std::string model = R"toml([matrices]
coordinates = ["x"]
mass = [[1]]
force = ["if(mod(t, 2) < 1, 3, -3)"]
[[friction]]
name = "b"
on = "x"
limit = 1
[run]
scheme = "event"
step = 0.01
end_time = 7
)toml";
  const Simulation s = run_text(model);
  ASSERT_EQ(s.status, Status::success) << s.message;
  double v = 0, t = 0;
  std::vector<double> reversals;
  for (int second = 0; second < 7; ++second) {
    const double force = second % 2 == 0 ? 3 : -3;
    double left = 1;
    if (v * force < 0) {
      const double brake = std::abs(v) / 4;
      reversals.push_back(t + brake);
      left -= brake;
      v = 0;
    }
    v += std::copysign(2.0, force) * left;
    t += 1;
  }
  std::vector<double> found;
  for (const Event& event : s.trajectory.events)
    if (event.kind == EventKind::reversal) found.push_back(event.t);
  ASSERT_EQ(found.size(), reversals.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], reversals[i], 1e-14 * 7);
  EXPECT_NEAR(s.final.v[0], v, 1e-13);
}

// A limit that drops to nothing in every other second, on the slope of 1 N: 1 m/s² then, at rest otherwise after
// braking at 4 m/s².
TEST(SquareLimit, LetsTheMassGoInEveryOtherSecond) {
  const std::string model = R"toml([matrices]
coordinates = ["x"]
mass = [[1]]
force = [1]
[[friction]]
name = "b"
on = "x"
limit = "if(mod(t, 2) < 1, 0, 5)"
[run]
scheme = "event"
step = 0.01
end_time = 7
)toml";
  const Simulation s = run_text(model);
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.q[0], 3 * (0.5 + 0.125) + 0.5, 1e-13);
  EXPECT_NEAR(s.final.v[0], 1, 1e-13);
}

}  // namespace
}  // namespace stickslip::repeated_jump_test
