// SPDX-License-Identifier: Apache-2.0
// Shooting and fitting against closed forms.
#include "stickslip/boundary/shooting.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/model_file.hpp"
#include "tests/support/noisy_belt.hpp"

namespace stickslip::shooting_test {
namespace {

ShootingSolution shoot_text(const std::string& text, const std::vector<std::string>& overrides = {}) {
  const ModelFile model = parse_model(text, "test.toml", overrides);
  return shoot(shooting_problem(model), model.shoot->options);
}

const std::string kBall = R"(
[parameters]
g = 9.81
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["0", "-g"]
[initial]
velocity = [1, 1]
[run]
scheme = "event"
end_time = 1
)";

constexpr double kTarget = 1e-9;  // what a condition is met to, over slopes of the order of 1

TEST(Shooting, BallHitsItsTargetAfterAnUnknownTime) {
  const ShootingSolution found = shoot_text(kBall + R"(
[shoot]
unknowns = [{ name = "vx", key = "initial.velocity.0" }, { name = "vy", key = "initial.velocity.1" },
            { name = "T", key = "shoot.end_time", min = 0.01 }]
conditions = ["x - 3", "y - 1", "v_y + 2"]
)");
  ASSERT_EQ(found.status, Status::success) << found.message;
  const double g = 9.81, T = (2 + std::sqrt(4 + 2 * g)) / g;
  EXPECT_NEAR(found.unknowns[2], T, kTarget);
  EXPECT_NEAR(found.unknowns[0], 3 / T, 10 * kTarget);
  EXPECT_NEAR(found.unknowns[1], g * T - 2, 10 * kTarget);
}

TEST(Shooting, AStopWhileTheStartIsRunEndsInterrupted) {
  const ModelFile model = parse_model(kBall + R"(
[shoot]
unknowns = [{ name = "vy", key = "initial.velocity.1" }]
conditions = ["y - 1"]
)",
                                      "test.toml");
  std::atomic<bool> stop{false};
  ShootingOptions options = model.shoot->options;
  options.stop = &stop;
  options.progress = [&](double) { stop = true; };
  const ShootingSolution found = shoot(shooting_problem(model), options);
  EXPECT_EQ(found.status, Status::interrupted) << found.message;
  EXPECT_EQ(found.unknowns.size(), 1);
}

TEST(Shooting, ConditionsAtTheStartAndOnTheWayFixGravityAsWell) {
  const ShootingSolution found = shoot_text(kBall + R"(
[shoot]
unknowns = [{ name = "vy", key = "initial.velocity.1" }, { name = "g", key = "parameters.g", start = 5 }]
conditions = [{ at = 0.5, value = "y - 1" }, { at = "start", value = "v_y - g" }]
)");
  ASSERT_EQ(found.status, Status::success) << found.message;
  EXPECT_NEAR(found.unknowns[1], 1 / (0.5 - 0.125), kTarget);  // g t - g t²/2 = 1 at t = 1/2
}

const std::string kPuck = R"(
[parameters]
mu = 0.3
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
[[friction]]
name = "ice"
on = ["x", "y"]
limit = "mu*9.81"
[initial]
velocity = [1, 1]
[run]
scheme = "event"
end_time = 5
)";

TEST(Shooting, PuckStopsWhereItShall) {
  const ShootingSolution found = shoot_text(kPuck + R"(
[shoot]
unknowns = [{ name = "vx", key = "initial.velocity.0" }, { name = "vy", key = "initial.velocity.1" }]
conditions = ["x - 0.6", "y - 0.35"]
)");
  ASSERT_EQ(found.status, Status::success) << found.message;
  const double d = std::hypot(0.6, 0.35), v = std::sqrt(2 * 0.3 * 9.81 * d);
  EXPECT_NEAR(found.unknowns[0], v * 0.6 / d, kTarget);
  EXPECT_NEAR(found.unknowns[1], v * 0.35 / d, kTarget);
}

TEST(Shooting, FrictionIsFoundFromTheStoppingDistance) {
  const ShootingSolution found = shoot_text(kPuck + R"(
[shoot]
unknowns = [{ name = "mu", key = "parameters.mu", min = 0.01, max = 2 }]
conditions = ["sqrt(x^2 + y^2) - 0.5"]
)");
  ASSERT_EQ(found.status, Status::success) << found.message;
  EXPECT_NEAR(found.unknowns[0], 2 / (2 * 9.81 * 0.5), kTarget);  // v² = 2
}

TEST(Shooting, FixedStepsShootAsWell) {
  const ShootingSolution found = shoot_text(kPuck + R"(
[shoot]
unknowns = [{ name = "vx", key = "initial.velocity.0" }, { name = "vy", key = "initial.velocity.1" }]
conditions = ["x - 0.6", "y - 0.35"]
)",
                                            {"run.scheme=moreau", "run.step=0.001"});
  ASSERT_EQ(found.status, Status::success) << found.message;
  const double d = std::hypot(0.6, 0.35), v = std::sqrt(2 * 0.3 * 9.81 * d);
  EXPECT_NEAR(std::hypot(found.unknowns[0], found.unknowns[1]), v, 0.01);  // one step of 0.001 s
}

/// x'' = 400 x from x = 1 to x = 1 after 2 s: e^40 between start and end. x'(0) = -20 tanh 20.
const std::string kUnstable = R"(
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[-400]]
[initial]
position = [1]
velocity = [0]
[run]
scheme = "event"
end_time = 2
[shoot]
unknowns = [{ name = "v", key = "initial.velocity.0", start = 0, scale = 1 }]
conditions = ["x - 1"]
)";

TEST(Shooting, SegmentsHoldAnUnstableMotion) {
  const ShootingSolution parts = shoot_text(kUnstable, {"shoot.segments=20"});
  ASSERT_EQ(parts.status, Status::success) << parts.message;
  EXPECT_NEAR(parts.unknowns[0], -20 * std::tanh(20.0), 1e-7);  // differences of runs in the Jacobian
  const ModelFile model = parse_model(kUnstable, "test.toml", std::vector<std::string>{"shoot.segments=20"});
  const Simulation motion = follow(shooting_problem(model), parts);
  double largest = 0;
  for (Index k = 0; k < motion.trajectory.rows(); ++k) largest = std::max(largest, std::abs(motion.trajectory.q(k, 0)));
  EXPECT_NEAR(largest, 1, 1e-6);
  EXPECT_EQ(motion.trajectory.t(motion.trajectory.rows() - 1), 2);
}

TEST(Shooting, MoreConditionsThanUnknownsAreLeastSquares) {
  const ShootingSolution found = shoot_text(kBall + R"(
[shoot]
unknowns = [{ name = "vx", key = "initial.velocity.0" }]
conditions = ["x - 3", { at = 0.5, value = "x - 1" }]
)");
  ASSERT_EQ(found.status, Status::success) << found.message;
  EXPECT_TRUE(found.least_squares);
  EXPECT_NEAR(found.unknowns[0], (3 + 0.5) / 1.25, 1e-7);
}

TEST(Shooting, UnmetConditionNamesWhatSticks) {
  const ShootingSolution found = shoot_text(kPuck + R"(
[shoot]
unknowns = [{ name = "vx", key = "initial.velocity.0", max = 1.2 }]
conditions = ["x - 30"]
)");
  EXPECT_EQ(found.status, Status::not_converged);
  EXPECT_NE(found.message.find("x - 30"), std::string::npos) << found.message;
  EXPECT_NE(found.message.find("'ice' stuck"), std::string::npos) << found.message;
  EXPECT_NE(found.message.find("'vx' is at a bound"), std::string::npos) << found.message;
}

std::string error_of(const std::string& text) {
  try {
    shoot_text(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Shooting, MistakesAreToldWithTheirPlace) {
  const auto message = [](const std::string& shoot) { return error_of(kBall + "[shoot]\n" + shoot); };
  EXPECT_NE(message("unknowns = [{ name = \"vx\", key = \"initial.velocity.0\" }, { name = \"vy\", key = "
                    "\"initial.velocity.1\" }]\nconditions = [\"x - 1\"]")
                .find("too few"),
            std::string::npos);
  EXPECT_NE(message("unknowns = [{ name = \"vy\", key = \"initial.velocity.1\" }]\nconditions = [\"x - 1\"]")
                .find("no condition depends on the unknown 'vy'"),
            std::string::npos);
  const std::string bounds =
      message("unknowns = [{ name = \"a\", key = \"parameters.g\", start = 1, min = 2 }]\nconditions = [\"y\"]");
  EXPECT_NE(bounds.find("test.toml:14:"), std::string::npos) << bounds;
  EXPECT_NE(bounds.find("bounds"), std::string::npos) << bounds;
  const std::string key =
      message("unknowns = [{ name = \"a\", key = \"initial.velocty.0\", start = 1 }]\nconditions = [\"y\"]");
  EXPECT_NE(key.find("velocity"), std::string::npos) << key;
  EXPECT_NE(key.find("test.toml:14:"), std::string::npos) << key;
}

// 100 seeds: docs/theory-shooting.md. With 8 seeds a right covariance puts fewer than 6 of one unknown within two
// standard errors once in 2000.
TEST(Fit, FrictionOfANoisyBeltLiesWithinItsStandardErrors) {
  const Coverage found = coverage({}, 8, 1);
  EXPECT_EQ(found.converged, 8);
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_GE(found.within_two[j], 6) << j;
    EXPECT_EQ(found.within_three[j], 8) << j;
  }
}

TEST(Fit, DataWithoutNoiseGiveTheTruth) {
  NoisyBelt belt;
  belt.position_noise = 0;
  const FitSolution found = fit(belt.problem(1));
  ASSERT_EQ(found.status, Status::success) << found.message;
  constexpr double kTolerance = 1e-6;  // the iteration ends at relative changes of 1e-8
  EXPECT_NEAR(found.unknowns[0], 1.0, kTolerance);
  EXPECT_NEAR(found.unknowns[1], 1.5, kTolerance);
  EXPECT_NEAR(found.unknowns[2], 0.1, kTolerance);
}

TEST(Fit, ColumnsCountByTheirNoise) {
  NoisyBelt belt;
  belt.velocity_noise = 0.002;  // far better than the positions
  const FitSolution found = fit(belt.problem(3));
  ASSERT_EQ(found.status, Status::success) << found.message;
  EXPECT_NEAR(found.column_rms[0], 0.02, 0.003);  // 400 values: 4 standard errors
  EXPECT_NEAR(found.column_rms[1], 0.002, 0.0003);
  EXPECT_NEAR(found.chi_square, 1, 0.01);
}

TEST(Fit, WhatTheDataDoNotTellIsNamed) {
  NoisyBelt belt;
  belt.end_time = 5;  // dragged along, then stuck to the end: nothing breaks away yet
  FitProblem problem = belt.problem(1);
  try {
    fit(problem);
    FAIL() << "no value of the static limit changes the motion";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("no measured column depends on the unknown 'static_limit'"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace stickslip::shooting_test
