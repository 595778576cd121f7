// SPDX-License-Identifier: Apache-2.0
// The convex relaxation of Coulomb's law (run.moreau.relaxation = "convex"), -u ∈ N_C(r), and what it does wrong.
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::convex_relaxation_test {
namespace {

constexpr std::string_view kBlock = R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = [0, -9.81]
[[contact]]
gap = "y"
slip = "x"
mu = 0.4
[initial]
velocity = [2, 0]
[run]
step = 0.001
end_time = 0.001
[run.moreau]
relaxation = "convex"
)toml";

// r ⊥ u on the surface of the cone: u_N = μ |u_T|, r_T = -μ r_N. With m = 1 and the momentum of the step,
// u_T = v - μ r_N and u_N = -g h + r_N, hence r_N = (μ v + g h)/(1 + μ²).
TEST(ConvexRelaxation, SlidingBlockLiftsOffWithMuTimesItsSpeed) {
  const Simulation s = run_text(kBlock);
  ASSERT_EQ(s.status, Status::success) << s.message;
  const double mu = 0.4, impulse = (mu * 2 + 9.81e-3) / (1 + mu * mu);
  EXPECT_NEAR(s.final.v[0], 2 - mu * impulse, 1e-12);
  EXPECT_NEAR(s.final.v[1], mu * s.final.v[0], 1e-12);
  EXPECT_LT(audit_value(s, "energy"), 1e-12);
  const Simulation coulomb = run_text(kBlock, {"run.moreau.relaxation=none"});
  EXPECT_EQ(coulomb.final.v[1], 0);
  EXPECT_NEAR(coulomb.final.v[0], 2 - mu * 9.81e-3, 1e-15);
}

TEST(ConvexRelaxation, IsCoulombsLawWhereNothingSlides) {
  const std::vector<std::string> resting{"initial.velocity=[0, 0]", "matrices.force=[3, -9.81]", "run.end_time=0.1"};
  const Simulation s = run_text(kBlock, resting);
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_TRUE(s.final.q.isZero(0));
  EXPECT_EQ(s.final.modes[0], Mode::stick);
}

TEST(ConvexRelaxation, SaysWhatItIsAndRefusesOtherWords) {
  const Simulation s = run_text(kBlock);
  bool said = false;
  for (const std::string& note : s.notes) said |= note.find("not Coulomb's law") != std::string::npos;
  EXPECT_TRUE(said);
  EXPECT_THROW(run_text(kBlock, {"run.moreau.relaxation=concave"}), InputError);
}

}  // namespace
}  // namespace stickslip::convex_relaxation_test
