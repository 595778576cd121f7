// SPDX-License-Identifier: Apache-2.0
// What rests has no events in `moreau`: slip slower than the round-off of what meets at a contact is no slip. And
// impacts of Poisson's law at two corners settle at any step.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/model_text.hpp"

namespace stickslip::resting_contact_test {
namespace {

std::string box(double mu, std::string_view impact, double step, double end) {
  return fmt::format(R"toml([parameters]
b = 0.5
h = 0.4
m = 2
mu = {}
[equations]
coordinates = ["x", "y", "th"]
mass = [["m", 0, 0], [0, "m", 0], [0, 0, "m*(b^2+h^2)/12"]]
potential = "m*9.81*y"
[[contact]]
name = "L"
gap = "y-b/2*sin(th)-h/2*cos(th)"
slip = "x-b/2*cos(th)+h/2*sin(th)"
mu = "mu"
restitution = 0.5
impact = "{}"
[[contact]]
name = "R"
gap = "y+b/2*sin(th)-h/2*cos(th)"
slip = "x+b/2*cos(th)+h/2*sin(th)"
mu = "mu"
restitution = 0.5
impact = "{}"
[initial]
position = [0, 0.6, -0.5]
[run]
scheme = "moreau"
step = {}
end_time = {}
)toml",
                     mu, impact, impact, step, end);
}

TEST(RestingContact, OfABoxThatHasComeToRestHasNoEvents) {
  const Simulation s = run_text(box(0, "newton", 5e-4, 4));
  ASSERT_EQ(s.status, Status::success) << s.message;
  ASSERT_LT(s.final.v.lpNorm<Eigen::Infinity>(), 1e-12);
  // Bounces, and the slip of the corners between them, take less than 2.5 s.
  const auto late = std::count_if(s.trajectory.events.begin(), s.trajectory.events.end(),
                                  [](const Event& event) { return event.t > 3; });
  EXPECT_EQ(late, 0);
}

// At the friction angle: the reaction is at the edge of the cone, and nothing moves.
TEST(RestingContact, AtTheFrictionAngleHasNoEventsInAnyUnit) {
  for (const double unit : {1.0, 1e-6, 1e6})
    for (const double angle : {0.1, 0.3, 0.7}) {
      const Simulation s = run_text(fmt::format(R"toml([matrices]
coordinates = ["x", "y"]
mass = [[3, 0], [0, 3]]
force = ["{0}*sin({1})", "-{0}*cos({1})"]
[[contact]]
name = "floor"
gap = "y"
slip = "x"
mu = "tan({1})"
[run]
scheme = "moreau"
step = 0.01
end_time = 2
)toml",
                                                3 * 9.81 * unit, angle));
      ASSERT_EQ(s.status, Status::success) << s.message;
      EXPECT_EQ(s.trajectory.events.size(), 0u) << angle << " unit " << unit;
      EXPECT_LT(std::abs(s.final.q[0]), 1e-12 * unit);
    }
}

TEST(PoissonImpact, AtTwoCornersSettlesAtAnyStep) {
  for (const double step : {1e-3, 5e-4, 2e-4}) {
    const Simulation s = run_text(box(0.3, "poisson", step, 1.5));
    EXPECT_EQ(s.status, Status::success) << step << ": " << s.message;
  }
}

}  // namespace
}  // namespace stickslip::resting_contact_test
