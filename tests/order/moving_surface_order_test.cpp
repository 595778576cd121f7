// SPDX-License-Identifier: Apache-2.0
// Contacts on surfaces that speed up: the law holds at the end of a step and must know the surface there.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "stickslip/motion/comparison.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::moving_surface_order_test {
namespace {

const std::vector<double> kSteps{0.02, 0.01, 0.005, 0.0025};

/// A block on a belt of velocity t² that holds it all the time.
constexpr const char* kBelt = R"toml(
[[contact]]
name = "belt"
gap = "y"
slip = "x"
mu = 2
surface_velocity = "t^2"
[run]
step = 0.01
end_time = 3
)toml";
constexpr const char* kMatrices = R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = [0, -9.81]
)toml";
constexpr const char* kEquations = R"toml(
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
potential = "9.81*y"
)toml";
constexpr const char* kBodies = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "block"
mass = 1
position_0 = [0, 0, 0.1]
[[shape]]
body = "block"
kind = "box"
size = [0.4, 0.4, 0.2]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
name = "belt"
between = ["block", "ground"]
mu = 2
surface_velocity = ["t^2", 0, 0]
[run]
step = 0.01
end_time = 3
)toml";

TEST(MovingSurface, BeltThatSpeedsUpCarriesItsLoadWithOrderTwo) {
  for (const std::string& text :
       {std::string(kMatrices) + kBelt, std::string(kEquations) + kBelt, std::string(kBodies)}) {
    std::vector<double> errors;
    for (const double h : kSteps) {
      const Simulation r = run_text(text, {"run.step=" + std::to_string(h)});
      ASSERT_EQ(r.status, Status::success) << r.message;
      EXPECT_NEAR(r.final.v[0], 9, 1e-12);  // the belt's own velocity at the end, not that half a step before
      errors.push_back(std::abs(r.final.q[0] - 9));
    }
    EXPECT_NEAR(fitted_order(kSteps, errors), 2, 0.02) << text;
  }
}

/// A floor that swings below a sliding block: N = m (g + s''), x' = v0 - μ (g t + s'(t) - s'(0)), s = 0.1 sin 3t.
TEST(MovingSurface, FloorThatSwingsCarriesASlidingBlockWithOrderTwo) {
  const std::string contact = R"toml(
[[contact]]
name = "floor"
gap = "y - 0.1*sin(3*t)"
slip = "x"
mu = 0.3
[initial]
velocity = [10, 0.3]
[run]
step = 0.01
end_time = 2
)toml";
  const double mu = 0.3, g = 9.81, t = 2;
  const double y = 0.1 * std::sin(3 * t), vy = 0.3 * std::cos(3 * t), vx = 10 - mu * (g * t + vy - 0.3),
               x = 10 * t - mu * (g * t * t / 2 + y - 0.3 * t);
  for (const char* kind : {kMatrices, kEquations}) {
    std::vector<double> ex, evx, ey, evy;
    for (const double h : kSteps) {
      const Simulation r = run_text(kind + contact, {"run.step=" + std::to_string(h)});
      ASSERT_EQ(r.status, Status::success) << r.message;
      ex.push_back(std::abs(r.final.q[0] - x));
      ey.push_back(std::abs(r.final.q[1] - y));
      evx.push_back(std::abs(r.final.v[0] - vx));
      evy.push_back(std::abs(r.final.v[1] - vy));
    }
    EXPECT_GT(fitted_order(kSteps, ex), 1.9) << kind;
    EXPECT_GT(fitted_order(kSteps, ey), 1.9) << kind;
    EXPECT_GT(fitted_order(kSteps, evx), 1.9) << kind;
    EXPECT_GT(fitted_order(kSteps, evy), 1.9) << kind;
    EXPECT_LT(evy.back(), 1e-4) << kind;
  }
}

/// A block on an incline that tilts, its limits falling as the cosine: it breaks away where tan(w t) = μ_s and then
/// has s'' = g (sin w t - μ cos w t). Closed form against the step: order 2 asks for the static limit at the instant
/// of the break-away.
TEST(MovingLimit, BreakAwayIsLocatedAtTheLimitOfItsInstant) {
  constexpr const char* kIncline = R"toml(
[matrices]
coordinates = ["s"]
mass = [[3]]
force = ["3*9.81*sin(0.05*t)"]
[[friction]]
name = "plane"
on = "s"
limit = "0.4*3*9.81*cos(0.05*t)"
static_limit = "0.5*3*9.81*cos(0.05*t)"
[run]
scheme = "moreau"
step = 0.01
end_time = 11
)toml";
  const double w = 0.05, g = 9.81, mu = 0.4, t0 = std::atan(0.5) / w, end = 11;
  const auto speed = [&](double t) { return -g / w * (std::cos(w * t) + mu * std::sin(w * t)); };
  const auto way = [&](double t) { return -g / (w * w) * (std::sin(w * t) - mu * std::cos(w * t)); };
  const double exact = way(end) - way(t0) - speed(t0) * (end - t0);
  double largest = 0, product = 1;
  for (const double h : {0.04, 0.02, 0.01, 0.005}) {
    const Simulation r = run_text(kIncline, {"run.step=" + std::to_string(h)});
    ASSERT_EQ(r.status, Status::success) << r.message;
    const double error = std::abs(r.final.q[0] - exact);
    largest = std::max(largest, error / (h * h));
    product *= error / (h * h);
  }
  // Of order 2 the quotient is a constant; of order 1 it would grow eightfold.
  EXPECT_LT(largest, 2 * std::pow(product, 0.25));
}

}  // namespace
}  // namespace stickslip::moving_surface_order_test
