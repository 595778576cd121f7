// SPDX-License-Identifier: Apache-2.0
// Contacts without a compliance of their own, between bodies of very different mass under one law.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/io/model_case.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::compliant_masses_test {
namespace {

/// A box of 1 kg on the ground, and another one beside it, or on it.
Simulation two_boxes(double mass, double x, double z) {
  return make_case(parse_model(fmt::format(R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "low"
mass = 1
position_0 = [0, 0, 0.1]
[[shape]]
body = "low"
kind = "box"
size = [0.4, 0.4, 0.2]
[[body]]
name = "other"
mass = {}
position_0 = [{}, 0, {}]
[[shape]]
body = "other"
kind = "box"
size = [0.3, 0.3, 0.2]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
between = ["*", "*"]
mu = 0.4
[run]
scheme = "compliant"
tolerance = 1e-7
end_time = 0.6
output_step = 0.05
)toml",
                                           mass, x, z),
                               "boxes.toml"))
      .run();
}

/// Each pair has a contact for its own masses: with that of the lightest body for all of a law the heavy one fell
/// through the ground.
TEST(CompliantMasses, AHeavyBodyRestsBesideAndUnderALightOne) {
  constexpr double kDepth = 0.02 * 0.2;  // 2 % of the smallest shape
  for (const double mass : {1e-2, 1e-4, 1e-6}) {
    for (const auto& [x, z] : {std::pair{5.0, 0.1}, {0.0, 0.3}}) {
      const Simulation s = two_boxes(mass, x, z);
      ASSERT_EQ(s.status, Status::success) << s.message << mass;
      EXPECT_NEAR(s.final.q[2], 0.1, kDepth) << mass << " at " << x;
      EXPECT_NEAR(s.final.q[9], z, 2 * kDepth) << mass << " at " << x;
    }
  }
}

/// What a contact carries beyond what it was made for it does not hold: no success.
TEST(CompliantMasses, AContactThatGivesWayFailsTheAudit) {
  const Simulation s = two_boxes(1e6, 0, 0.3);
  EXPECT_EQ(s.status, Status::audit_failed);
  EXPECT_NE(s.message.find("penetration"), std::string::npos) << s.message;
  EXPECT_NE(s.message.find("epsilon"), std::string::npos) << s.message;
}

}  // namespace
}  // namespace stickslip::compliant_masses_test
