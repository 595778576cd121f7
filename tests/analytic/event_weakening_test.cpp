// SPDX-License-Identifier: Apache-2.0
// A mass that friction stops while the friction grows on its last bit of way: a step across u = 0 sees none of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/model_text.hpp"

namespace stickslip::event_weakening_test {
namespace {

/// m u' = -c (1 - β (1 - exp(-u/ε))) stops after ∫ m du / (c (1 - γ)), with the antiderivative
/// (u + ε log(1 - β + β exp(-u/ε))) / (1 - β).
double stopping_time(double speed, double beta, double epsilon) {
  auto primitive = [&](double u) {
    return (u + epsilon * std::log(1 - beta + beta * std::exp(-u / epsilon))) / (1 - beta);
  };
  return primitive(speed) - primitive(0);
}

TEST(EventWeakening, StopsWhenTheFrictionThatGrowsAtTheVeryEndStopsIt) {
  for (const double beta : {0.3, 0.5, 0.9})
    for (const double epsilon : {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6}) {
      const Simulation r =
          run_text(R"toml(
[parameters]
beta = 0.5
eps = 1
[matrices]
coordinates = ["x"]
mass = [[1]]
[[friction]]
name = "f"
on = "x"
limit = 1
weakening = { shape = "exponential", beta = "beta", epsilon = "eps" }
[initial]
velocity = [1]
[run]
scheme = "event"
step = 0.5
end_time = 12
)toml",
                   {fmt::format("parameters.beta={}", beta), fmt::format("parameters.eps={}", epsilon)});
      ASSERT_EQ(r.status, Status::success) << r.message;
      ASSERT_EQ(r.trajectory.events.size(), 1u) << beta << ", " << epsilon;
      EXPECT_NEAR(r.trajectory.events[0].t, stopping_time(1, beta, epsilon), 1e-9) << beta << ", " << epsilon;
      EXPECT_EQ(r.final.v[0], 0);
    }
}

}  // namespace
}  // namespace stickslip::event_weakening_test
