// SPDX-License-Identifier: Apache-2.0
// Derivatives of compliant motion against differences of whole runs, through impacts, slip and stick.
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_case.hpp"

namespace stickslip::compliant_sensitivity_test {
namespace {

const char* const kBlock = R"toml(
[parameters]
mu = 0.3
k = 800
g = 9.81
[matrices]
coordinates = ["px", "py", "pz"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = [0, 0, "-g"]
[[contact]]
name = "floor"
gap = "pz"
slip = ["px", "py"]
mu = "mu"
compliance = { stiffness = [[1000, 100, 50], [100, "k", 30], [50, 30, 700]], damping = [[20, 3], [3, 25]] }
[initial]
position = [0, 0, 0.02]
velocity = [1.2, 0.7, 0]
deformation = [0.001, 0.002]
[run]
scheme = "compliant"
tolerance = 1e-13
end_time = 0.6
output_step = 0.3
[run.compliant]
locate_switches = true
)toml";

/// Lies on its two feet, one lifted: rows turn with the body, mass in general coordinates.
const char* const kRocker = R"toml(
[parameters]
mu = 0.4
m = 1
w = 0.5
[equations]
coordinates = ["x", "z", "th"]
kinetic_energy = "0.5*m*(v_x^2 + v_z^2) + 0.06*v_th^2"
potential = "m*9.81*z"
[[contact]]
name = "a"
gap = "z - w*sin(th) - 0.3*cos(th)"
slip = ["x - w*cos(th) + 0.3*sin(th)"]
mu = "mu"
compliance = { stiffness = [[2000, 100], [100, 1500]], damping = 30 }
[[contact]]
name = "b"
gap = "z + w*sin(th) - 0.3*cos(th)"
slip = ["x + w*cos(th) + 0.3*sin(th)"]
mu = "mu"
compliance = { stiffness = [[2000, 0], [0, 1500]], damping = 30, exponent = 1.5 }
[initial]
position = [0, 0.34, 0.1]
velocity = [0.8, 0, 0]
[run]
scheme = "compliant"
tolerance = 1e-13
end_time = 0.35
output_step = 0.35
[run.compliant]
locate_switches = true
)toml";

const char* const kCube = R"toml(
[parameters]
mu = 0.4
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "cube"
mass = 1
position_0 = [0, 0, 0.12]
orientation_0 = [0.98, 0.1, 0.15, 0]
velocity_0 = [0.5, 0.2, 0]
spin_0 = [1, 0, 2]
[[shape]]
body = "cube"
kind = "box"
size = [0.2, 0.2, 0.2]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
between = ["cube", "ground"]
mu = "mu"
compliance = { stiffness = 2000, damping = 30 }
[run]
scheme = "compliant"
tolerance = 1e-13
end_time = 0.25
output_step = 0.25
[run.compliant]
locate_switches = true
)toml";

/// Largest difference between the derivative that the run carries and a central difference of fourth order, over the
/// size of the column.
void expect_derivatives(const char* text, const std::vector<std::string>& names, double step, double tolerance,
                        const std::vector<std::string>& settings = {}) {
  const Case center = make_case(parse_model(text, "test.toml", settings));
  Case with = center;
  SimulationOptions options = with.options();
  options.sensitivities = names;
  with.set_options(options);
  const Simulation s = with.run();
  ASSERT_EQ(s.status, Status::success) << s.message;
  const Index last = s.trajectory.rows() - 1, nq = with.system().info().nq(), nv = with.system().info().nv();
  for (std::size_t k = 0; k < names.size(); ++k) {
    const double value = center.get(names[k]), h = step * (value != 0 ? std::abs(value) : 1);
    Vector difference = Vector::Zero(nq + nv);
    for (const auto& [place, weight] :
         {std::pair{1.0, 8.0 / 12}, {-1.0, -8.0 / 12}, {2.0, -1.0 / 12}, {-2.0, 1.0 / 12}}) {
      Case near = center;
      near.set(names[k], value + place * h);
      const Simulation other = near.run();
      ASSERT_EQ(other.status, Status::success);
      for (Index i = 0; i < nq; ++i) difference[i] += weight / h * other.final.q[i];
      for (Index i = 0; i < nv; ++i) difference[nq + i] += weight / h * other.final.v[i];
    }
    Vector carried(nq + nv);
    for (Index i = 0; i < nq + nv; ++i) carried[i] = s.trajectory.sensitivity(last, i, static_cast<Index>(k));
    EXPECT_LT((carried - difference).lpNorm<Eigen::Infinity>(), tolerance * difference.lpNorm<Eigen::Infinity>())
        << names[k] << "\n"
        << carried.transpose() << "\n"
        << difference.transpose();
  }
}

TEST(CompliantSensitivity, BlockThroughAnImpactSlipAndStick) {
  expect_derivatives(kBlock,
                     {"mu", "k", "g", "initial.velocity.0", "initial.position.2", "initial.deformation.1",
                      "contact.floor.compliance.damping.0.0"},
                     1e-3, 1e-7);
}

TEST(CompliantSensitivity, TheSameWithTheStiffIntegrator) {
  expect_derivatives(kBlock, {"mu", "initial.velocity.0"}, 1e-3, 1e-7,
                     {"run.compliant.integrator=stiff", "run.tolerance=1e-12"});
}

TEST(CompliantSensitivity, RockingBodyWithTurningRowsAndAHertzianFoot) {
  expect_derivatives(kRocker, {"mu", "m", "w", "initial.velocity.0", "initial.position.2"}, 1e-4, 1e-6);
}

TEST(CompliantSensitivity, ALimitThatIsNotReachedMovesNothing) {
  const std::string text = R"toml(
[parameters]
mu = 0.5
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["2*cos(t)", -10]
[[contact]]
gap = "y"
slip = ["x"]
mu = "mu"
compliance = { stiffness = 10000, damping = 100 }
[initial]
position = [0, -0.001]
[run]
scheme = "compliant"
end_time = 0.2
sensitivities = ["mu"]
)toml";
  const Simulation s = make_case(parse_model(text, "test.toml")).run();
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_LT(std::abs(s.trajectory.sensitivity(s.trajectory.rows() - 1, 0, 0)), 1e-9);
}

TEST(CompliantSensitivity, TumblingCubeWithQuaternions) {
  expect_derivatives(kCube, {"mu", "body.cube.velocity_0.0", "body.cube.spin_0.2"}, 3e-4, 1e-6);
}

}  // namespace
}  // namespace stickslip::compliant_sensitivity_test
