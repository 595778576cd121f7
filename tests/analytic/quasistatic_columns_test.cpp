// SPDX-License-Identifier: Apache-2.0
// Motion without inertia: derivatives behind a jump of the velocity, and dampers that relax in no time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_case.hpp"
#include "stickslip/io/model_file.hpp"

namespace stickslip::quasistatic_columns_test {
namespace {

/// Two feet of different coefficients on one coordinate, pulled to and fro: one slips while the other relaxes in 7e-5
/// s.
const char* const kTwoFeet = R"toml(
[parameters]
mu = 0.3
kp = 50
[equations]
coordinates = ["x", "z", "w"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = ["kp*(0.2*sin(4*t) - x)", "-9.81", "-9.81"]
[[contact]]
name = "one"
gap = "z"
slip = ["x"]
mu = "mu"
compliance = { stiffness = [[1000, 0], [0, 800]], damping = [[0.02]] }
[[contact]]
name = "two"
gap = "w"
slip = ["x"]
mu = "2*mu"
compliance = { stiffness = [[1000, 0], [0, 300]], damping = [[0.02]] }
[initial]
position = [0, -0.00981, -0.00981]
[run]
scheme = "compliant"
end_time = 1.2
output_step = 0.00333
sensitivities = ["mu", "kp"]
[run.compliant]
quasistatic = true
)toml";

Simulation run(const std::string& text, const std::vector<std::string>& settings = {}) {
  return make_case(parse_model(text, "test.toml", settings)).run();
}

/// Columns of positions are as exact as the motion; those of velocities as that over the time of relaxation.
TEST(QuasistaticColumns, AreExactBehindAJump) {
  const Simulation exact = run(kTwoFeet, {"run.tolerance=1e-12"});
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    const Simulation s = run(kTwoFeet, {fmt::format("run.tolerance={}", tolerance)});
    ASSERT_EQ(s.status, Status::success) << s.message;
    ASSERT_EQ(s.trajectory.rows(), exact.trajectory.rows());
    constexpr double kRelaxation = 6.7e-5;
    for (Index j = 0; j < 2; ++j) {
      double size = 0, x_error = 0, v_error = 0;
      for (Index row = 0; row < s.trajectory.rows(); ++row) {
        size = std::max(size, std::abs(exact.trajectory.sensitivity(row, 0, j)));
        x_error =
            std::max(x_error, std::abs(s.trajectory.sensitivity(row, 0, j) - exact.trajectory.sensitivity(row, 0, j)));
        v_error =
            std::max(v_error, std::abs(s.trajectory.sensitivity(row, 3, j) - exact.trajectory.sensitivity(row, 3, j)));
      }
      EXPECT_LE(x_error, tolerance * size) << tolerance << " " << j;
      EXPECT_LE(v_error, 0.1 * tolerance * size / kRelaxation) << tolerance << " " << j;
    }
  }
}

/// x = V t - μ N/k in slip, whatever the damper; one whose force is round-off is refused.
TEST(QuasistaticColumns, DampersOfAnySize) {
  const std::string slider = R"toml(
[equations]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["50*(0.1*t - x)", "-9.81"]
[[contact]]
name = "plane"
gap = "z"
slip = ["x"]
mu = 0.3
compliance = { stiffness = [[1000, 0], [0, 800]], damping = [[20]] }
[initial]
position = [0, -0.00981]
[run]
scheme = "compliant"
tolerance = 1e-9
end_time = 1
[run.compliant]
quasistatic = true
)toml";
  for (const double relaxation : {1e-3, 1e-6, 1e-9, 1e-10, 1.01e-11}) {
    const Simulation s = run(slider, {fmt::format("contact.plane.compliance.damping=[[{}]]", 800 * relaxation)});
    ASSERT_EQ(s.status, Status::success) << relaxation << ": " << s.message;
    EXPECT_NEAR(s.final.q[0], 0.1 - 0.3 * 9.81 / 50, 1e-8) << relaxation;
    ASSERT_EQ(s.trajectory.events.size(), 1u) << relaxation;
    // Where 50 (0.1 t - x) = 0.3 N and x = 50 (0.1 t - x)/800.
    EXPECT_NEAR(s.trajectory.events[0].t, 2.943 * (1 / 5.0 + 1 / 80.0), 1e-4 + relaxation) << relaxation;
  }
  for (const double relaxation : {1e-13, 1e-17, 1e-30}) try {
      run(slider, {fmt::format("contact.plane.compliance.damping=[[{}]]", 800 * relaxation)});
      FAIL() << relaxation;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("the damper of contact 'plane' relaxes in"), std::string::npos);
    }
}

}  // namespace
}  // namespace stickslip::quasistatic_columns_test
