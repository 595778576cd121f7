// SPDX-License-Identifier: Apache-2.0
// A block that rocks from edge to edge comes to rest after infinitely many impacts, none of which is a rebound.
//
//   half width b, half height h, no slip, e = 0:   ω⁺/ω⁻ = 1 - 3/2 sin²α,   tan α = b/h        (Housner 1963)
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::event_rocking_test {
namespace {

constexpr double kHalfWidth = 0.1, kHalfHeight = 0.15;

std::string block(const char* impact, double restitution, double mu, double angle, double spin, double lift = 0) {
  return fmt::format(R"toml(
[parameters]
b = {0}
h = {1}
[equations]
coordinates = ["x", "y", "th"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, "(b^2 + h^2)/3"]]
potential = "9.81*y"
[[contact]]
name = "left"
gap = "y - b*sin(th) - h*cos(th)"
slip = "x - b*cos(th) + h*sin(th)"
mu = {2}
restitution = {3}
impact = "{4}"
[[contact]]
name = "right"
gap = "y + b*sin(th) - h*cos(th)"
slip = "x + b*cos(th) + h*sin(th)"
mu = {2}
restitution = {3}
impact = "{4}"
[initial]
position = [0, "b*sin({5}) + h*cos({5}) + {7}", {5}]
velocity = [0, 0, {6}]
[run]
scheme = "event"
step = 0.01
end_time = 1.5
)toml",
                     kHalfWidth, kHalfHeight, mu, restitution, impact, angle, spin, lift);
}

void expect_rest_on_both_edges(const Simulation& s, const std::string& what) {
  ASSERT_EQ(s.status, Status::success) << what << ": " << s.message;
  EXPECT_TRUE(passed(s.audit)) << what;
  EXPECT_LT(s.trajectory.events.size(), 200u) << what;
  for (const Mode mode : s.final.modes) EXPECT_NE(mode, Mode::open) << what;
  EXPECT_NEAR(s.final.q[1], kHalfHeight, 1e-12) << what;
  EXPECT_NEAR(s.final.q[2], 0, 1e-12) << what;
  EXPECT_EQ(std::abs(s.final.v[2]) < 1e-12, true) << what;
}

TEST(RockingBlock, LosesHousnersShareAtEveryImpactAndComesToRest) {
  const double sine2 = kHalfWidth * kHalfWidth / (kHalfWidth * kHalfWidth + kHalfHeight * kHalfHeight);
  const double ratio = 1 - 1.5 * sine2;
  for (const char* impact : {"newton", "poisson", "energetic"}) {
    const Simulation s = run_text(block(impact, 0, 2, 0.05, 0));
    expect_rest_on_both_edges(s, impact);
    // The impulse of an impact is proportional to the spin before it.
    std::vector<double> impulses;
    for (const Event& event : s.trajectory.events)
      if (event.kind == EventKind::impact) impulses.push_back(event.impulse);
    ASSERT_GT(impulses.size(), 10u) << impact;
    for (std::size_t k = 1; k < 10; ++k) EXPECT_NEAR(impulses[k] / impulses[k - 1], ratio, 1e-6) << impact << " " << k;
  }
}

// Dropped on an edge, with and without friction: it ends in finite time, whatever the law.
TEST(RockingBlock, ComesToRestUnderEveryImpactLaw) {
  for (const char* impact : {"newton", "poisson", "energetic"})
    for (const double mu : {0.0, 0.3, 1.0})
      expect_rest_on_both_edges(run_text(block(impact, 0, mu, 0.15, -0.4, 0.02)), fmt::format("{} mu {}", impact, mu));
}

// Dropped at random with restitution: impacts at two edges accumulate together, each opening and closing the other, and
// end on both of them. Lengths, masses and times in other units make no difference.
TEST(RockingBlock, ComesToRestAfterImpactsThatAccumulateAtBothEdges) {
  for (const char* impact : {"newton", "poisson", "energetic"})
    for (const double e : {0.2, 0.5, 0.8, 0.9})
      for (const double mu : {0.0, 0.1, 0.3}) {
        const Simulation s = run_text(block(impact, e, mu, 0.03 + 0.1 * mu, -0.3, 0.002), {"run.end_time=6"});
        const std::string what = fmt::format("{} e {} mu {}", impact, e, mu);
        ASSERT_EQ(s.status, Status::success) << what << ": " << s.message;
        EXPECT_TRUE(passed(s.audit)) << what;
        EXPECT_NEAR(s.final.q[1], kHalfHeight, 1e-9) << what;  // what the accumulation leaves out, and no more
        EXPECT_NEAR(s.final.q[2], 0, 1e-9) << what;
        EXPECT_LT(std::abs(s.final.v[2]), 1e-9) << what;
        for (const Mode mode : s.final.modes) EXPECT_NE(mode, Mode::open) << what;
      }
}

// The edge that a rocking block leaves is not struck.
TEST(RockingBlock, HasNoImpactsOfTheSizeOfRoundOff) {
  for (const char* impact : {"newton", "poisson", "energetic"}) {
    const Simulation s = run_text(block(impact, 0, 2, 0.05, 0));
    double largest = 0;
    for (const Event& event : s.trajectory.events) largest = std::max(largest, event.impulse);
    for (const Event& event : s.trajectory.events)
      if (event.kind == EventKind::impact) {
        EXPECT_GT(event.impulse, 1e-9 * largest) << impact << " t " << event.t;
      }
  }
}

}  // namespace
}  // namespace stickslip::event_rocking_test
