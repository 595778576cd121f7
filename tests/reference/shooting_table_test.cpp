// SPDX-License-Identifier: Apache-2.0
// A block on a compliant plane shot to a target: iterates and sensitivities computed independently, with an 8th-order
// integrator and the variational equation.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>

#include "stickslip/io/boundary_case.hpp"
#include "stickslip/io/model_file.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::shooting_table_test {
namespace {

ShootingSolution shoot_puck(const std::vector<std::string>& overrides) {
  const ModelFile model = read_model(source_folder() + "/models/puck-to-target.toml", overrides);
  return shoot(shooting_problem(model), model.shoot->options);
}

constexpr double kVx = 1.750694390055, kVy = 1.021586791918;

TEST(ShootingTable, NewtonFromAFairStartTakesThePublishedSteps) {
  const ShootingSolution found = shoot_puck({});
  ASSERT_EQ(found.status, Status::success) << found.message;
  const std::array<std::array<double, 3>, 5> table{{{1, 1, 3.790e-01},
                                                    {2.019422971456, 0.967507377203, 1.658e-01},
                                                    {1.769967486014, 1.013328713968, 1.041e-02},
                                                    {1.750808604160, 1.021532083243, 6.068e-05},
                                                    {1.750694394134, 1.021586789994, 2.170e-09}}};
  ASSERT_GE(found.history.size(), table.size());
  for (std::size_t k = 0; k < table.size(); ++k) {
    EXPECT_NEAR(found.history[k].unknowns[0], table[k][0], 1e-9) << k;
    EXPECT_NEAR(found.history[k].unknowns[1], table[k][1], 1e-9) << k;
  }
  EXPECT_NEAR(found.unknowns[0], kVx, 1e-11);
  EXPECT_NEAR(found.unknowns[1], kVy, 1e-11);
  EXPECT_LE(found.iterations, 6);
  constexpr double kSlope = 1e-8;
  EXPECT_NEAR(found.sensitivity(0, 0), 0.60055323156, kSlope);
  EXPECT_NEAR(found.sensitivity(0, 1), 0.150669926852, kSlope);
  EXPECT_NEAR(found.sensitivity(1, 0), 0.150760889279, kSlope);
  EXPECT_NEAR(found.sensitivity(1, 1), 0.43008689305, kSlope);
}

TEST(ShootingTable, SlowStartConverges) {
  const ShootingSolution found = shoot_puck({"shoot.unknowns.vx.start=0.2", "shoot.unknowns.vy.start=0.1"});
  ASSERT_EQ(found.status, Status::success) << found.message;
  EXPECT_LE(found.residual, 1e-9);
  EXPECT_NEAR(found.unknowns[0], kVx, 1e-9);
  EXPECT_NEAR(found.unknowns[1], kVy, 1e-9);
}

/// With nodes behind the sliding contact, from both starts: no more iterations than about what one segment needs.
TEST(ShootingTable, SegmentsConvergeAsOneDoes) {
  for (const auto& start : {std::array{1.0, 1.0}, std::array{0.2, 0.1}})
    for (const int segments : {2, 4, 8}) {
      const ShootingSolution found =
          shoot_puck({fmt::format("shoot.unknowns.vx.start={}", start[0]),
                      fmt::format("shoot.unknowns.vy.start={}", start[1]), fmt::format("shoot.segments={}", segments)});
      ASSERT_EQ(found.status, Status::success) << segments << ": " << found.message;
      EXPECT_NEAR(found.unknowns[0], kVx, 1e-9) << segments;
      EXPECT_NEAR(found.unknowns[1], kVy, 1e-9) << segments;
      EXPECT_LE(found.iterations, 12) << segments;
    }
}

}  // namespace
}  // namespace stickslip::shooting_table_test
