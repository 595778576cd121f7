// SPDX-License-Identifier: Apache-2.0
// A pendulum in a journal bearing: friction follows the reactions of two constraints. Steps of any length carry all of
// their impulse, however light the turning part is beside the rest.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/motion/moreau/reaction_audit.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::journal_test {
namespace {

Simulation run(std::string_view scheme, double inertia, double step, double unit = 1) {
  return run_text(fmt::format(R"toml([equations]
coordinates = ["x", "y", "th"]
mass = [[{0}, 0, 0], [0, {0}, 0], [0, 0, {1}]]
potential = "{0}*{2}*y"
[[constraint]]
name = "px"
position = "x - {3}*sin(th)"
[[constraint]]
name = "py"
position = "y + {3}*cos(th)"
[[friction]]
name = "b"
on = "th"
limit = "{4}*sqrt(r_px^2 + r_py^2)"
[initial]
position = ["{3}*sin(1.0)", "-{3}*cos(1.0)", 1.0]
[run]
scheme = "{5}"
step = {6}
tolerance = 1e-13
end_time = 0.5
)toml",
                              2.0, inertia * unit * unit, 9.81 * unit, 1.5 * unit, 0.1 * unit, scheme, step));
}

double largest_jump(const Simulation& s) {
  const Trajectory& rows = s.trajectory;  // r_b, r_px, r_py
  double largest = 0;
  for (Index i = 4; i < rows.rows(); ++i)
    largest = std::max(largest, std::abs(rows.reaction(i, 1) - rows.reaction(i - 1, 1)));
  return largest;
}

TEST(Journal, StepsCarryAllOfTheirImpulse) {
  for (const double inertia : {1e-2, 1e-3, 1e-6, 1e-9}) {
    const double exact = run("event", inertia, 0.05).final.q[2];
    for (const double step : {5e-3, 1.25e-3, 6.25e-4, 3.125e-4}) {
      const std::string what = fmt::format("J = {} h = {}", inertia, step);
      const Simulation s = run("moreau", inertia, step);
      ASSERT_EQ(s.status, Status::success) << what << ": " << s.message;
      // Order 2: 1.14e-5 at h = 5e-3 measured.
      EXPECT_NEAR(s.final.q[2], exact, 1.2e-5 * std::pow(step / 5e-3, 2)) << what;
      EXPECT_LT(largest_jump(s), 50 * step) << what;  // r' is 46 N/s at most
      EXPECT_LT(audit_value(s, "constraint_reaction"), 1e-3) << what;
    }
  }
}

TEST(Journal, StepsCarryAllOfTheirImpulseInAnyUnit) {
  const double exact = run("event", 1e-3, 0.05).final.q[2];
  for (const double unit : {1e-6, 1e6}) {
    const Simulation s = run("moreau", 1e-3, 6.25e-4, unit);
    ASSERT_EQ(s.status, Status::success) << unit << ": " << s.message;
    EXPECT_NEAR(s.final.q[2], exact, 1.2e-5 / 64) << unit;
  }
}

// A step that leaves 3 N s of 12 N s to the projection, among steps that leave O(h²): the audit says so.
TEST(Journal, ReactionsThatTheLawHasNotSeenAreAudited) {
  const Vector inverse = Vector::Constant(2, 0.5), whole{{12e-3, 0}}, part{{9e-3, 0}}, rest{{3e-3, 0}},
               small{{1e-8, 0}};
  const AuditLedger run;
  const AuditLimits limits;
  ReactionAudit audit;
  for (int step = 0; step < 10; ++step) audit.add(whole, whole, small, inverse, 1e-3);
  std::vector<AuditItem> before, after;
  audit.add_items(run, limits, before);
  EXPECT_TRUE(passed(before));
  audit.add(part, part, rest, inverse, 1e-3);
  audit.add_items(run, limits, after);
  EXPECT_FALSE(passed(after));
  EXPECT_NEAR(after.front().value, 0.25, 1e-3);
}

}  // namespace
}  // namespace stickslip::journal_test
