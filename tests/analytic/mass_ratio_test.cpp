// SPDX-License-Identifier: Apache-2.0
// Light bodies under heavy ones, as far apart as a double holds both.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::mass_ratio_test {
namespace {

// A light plank under a heavy load that friction takes along, pulled by a force that grows: a = t (1 + M) / (1 + M) =
// t, so x = t³/6 while they stick; friction of 0.3 g M carries a load up to a = 0.3 g, t = 2.943 s.
TEST(PlankUnderALoad, SticksWhateverTheMasses) {
  for (const double load : {1.0, 1e6, 1e9, 1e12})
    for (const double unit : {1.0, 1e-6}) {
      const Simulation s = run_text(fmt::format(R"toml([matrices]
coordinates = ["x1", "x2"]
mass = [[{1}, 0], [0, {2}]]
force = ["t*{1}*(1+{0})", 0]
[[friction]]
name = "top"
direction = [-1, 1]
limit = "0.3*9.81*{2}"
[run]
scheme = "event"
step = 0.01
end_time = 2.9
)toml",
                                                load, unit, load * unit));
      ASSERT_EQ(s.status, Status::success) << load << ": " << s.message;
      EXPECT_EQ(s.trajectory.events.size(), 0u) << load;
      EXPECT_NEAR(s.final.q[0], std::pow(2.9, 3) / 6, 1e-12) << load;
      EXPECT_NEAR(s.final.q[1], s.final.q[0], 1e-13) << load;
    }
}

}  // namespace
}  // namespace stickslip::mass_ratio_test
