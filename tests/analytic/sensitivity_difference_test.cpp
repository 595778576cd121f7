// SPDX-License-Identifier: Apache-2.0
// Derivatives of whole runs, through impacts and changes between stick and slip, against differences of whole runs.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "stickslip/io/model_case.hpp"
#include "stickslip/motion/case.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::sensitivity_difference_test {
namespace {

struct Unknown {
  std::string name;
  double step;  ///< of the differences
};

/// The final state as one vector, in tangent directions from `reference`.
Vector numbers_of(const Simulation& run, const System& system, const State& reference) {
  Vector delta(system.info().nv()), all(2 * system.info().nv());
  system.kinematics().difference(run.final.q, reference.q, delta);
  all << delta, run.final.v;
  return all;
}

/// S of the run beside [8 (f(δ) - f(-δ)) - (f(2δ) - f(-2δ))]/12δ of whole runs: the largest difference in a column, of
/// the largest number in it (and of what velocities and positions are, where a column vanishes).
void expect_derivatives(Case run, const std::vector<Unknown>& unknowns, double tolerance, long events) {
  SimulationOptions options = run.options();
  options.sensitivities.clear();
  options.output_step = 0;
  options.output_times = {options.end_time};
  Case plain = run;
  plain.set_options(options);
  for (const Unknown& unknown : unknowns) options.sensitivities.push_back(unknown.name);
  run.set_options(options);
  const Simulation center = run.run();
  ASSERT_EQ(center.status, Status::success) << center.message;
  for (const std::string& note : center.notes) EXPECT_EQ(note.find("derivative"), std::string::npos) << note;
  EXPECT_GE(static_cast<long>(center.trajectory.events.size()), events);
  ASSERT_EQ(center.final_sensitivity.cols(), static_cast<Index>(unknowns.size()));
  for (std::size_t j = 0; j < unknowns.size(); ++j) {
    const double value = plain.get(unknowns[j].name), step = unknowns[j].step;
    auto at = [&](int k) {
      Case moved = plain;
      moved.set(unknowns[j].name, value + k * step);
      moved.set_options(plain.options());
      const Simulation result = moved.run();
      EXPECT_EQ(result.status, Status::success) << result.message;
      EXPECT_EQ(result.trajectory.events.size(), center.trajectory.events.size()) << "a kink lies between the runs";
      return numbers_of(result, moved.system(), center.final);
    };
    const Vector difference = (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step);
    const Vector own = center.final_sensitivity.col(static_cast<Index>(j));
    const double size = difference.lpNorm<Eigen::Infinity>();
    EXPECT_GT(size, 0) << unknowns[j].name;
    EXPECT_LE((own - difference).lpNorm<Eigen::Infinity>(), tolerance * size)
        << unknowns[j].name << "\n  ours        " << own.transpose() << "\n  differences " << difference.transpose();
  }
}

Case case_of(const std::string& text) { return make_case(parse_model(text, "test.toml")); }

Case model(const std::string& name, std::vector<std::string> settings) {
  settings.push_back("run.scheme=event");
  return read_case(source_folder() + "/models/" + name, settings);
}

TEST(SensitivityDifference, ForcedOscillatorSticksAndSlips) {
  expect_derivatives(model("forced-oscillator.toml", {"run.end_time=40"}),
                     {{"omega", 1e-4}, {"c", 1e-4}, {"matrices.stiffness.0.0", 1e-4}}, 1e-7, 8);
}

TEST(SensitivityDifference, BeltWithStaticLimit) {
  expect_derivatives(model("belt.toml", {"run.end_time=30"}),
                     {{"friction.belt.limit", 1e-3},
                      {"friction.belt.static_limit", 1e-3},
                      {"friction.belt.surface_velocity", 1e-3},
                      {"matrices.mass.0.0", 1e-3}},
                     1e-7, 3);
}

TEST(SensitivityDifference, BeltIntegratedInsteadOfExpanded) {
  expect_derivatives(model("belt.toml", {"run.end_time=30", "run.tolerance=1e-12", "run.event.flow=integrator"}),
                     {{"friction.belt.limit", 1e-3}, {"friction.belt.static_limit", 1e-3}}, 1e-7, 3);
}

TEST(SensitivityDifference, BouncingBall) {
  expect_derivatives(model("bouncing-ball.toml", {"run.end_time=3"}),
                     {{"g", 1e-4}, {"contact.ground.restitution", 1e-4}, {"initial.position.0", 1e-4}}, 1e-7, 4);
}

TEST(SensitivityDifference, Woodpecker) {
  expect_derivatives(
      model("woodpecker.toml", {"run.end_time=0.12", "initial.position.1=-0.1034"}),
      {{"c", 1e-7}, {"contact.beak.restitution", 1e-5}, {"contact.lower.mu", 1e-5}, {"initial.velocity.2", 1e-4}}, 1e-7,
      8);
}

TEST(SensitivityDifference, TwoMassesWithWeakening) {
  expect_derivatives(model("two-masses.toml", {"run.end_time=3.9", "run.tolerance=1e-12", "friction.shoe1.limit=1.05",
                                               "initial.velocity.1=-0.3"}),
                     {{"beta", 1e-4}, {"friction.shoe2.limit", 1e-4}, {"initial.velocity.0", 1e-4}}, 1e-7, 3);
}

TEST(SensitivityDifference, BlockLandsAndSlidesToRest) {
  expect_derivatives(case_of(R"toml(
[parameters]
mu = 0.3
g = 9.81
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["0", "-g"]
[[contact]]
gap = "y"
slip = "x"
mu = "mu"
restitution = 0.4
[initial]
position = [0, 0.2]
velocity = [3, 0]
[run]
scheme = "event"
end_time = 2
)toml"),
                     {{"mu", 1e-4}, {"g", 1e-3}, {"initial.position.1", 1e-4}, {"initial.velocity.0", 1e-3}}, 1e-7, 5);
}

TEST(SensitivityDifference, PendulumHitsAWallWithJointFriction) {
  expect_derivatives(case_of(R"toml(
[parameters]
l = 1.1
mu = 0.2
[equations]
coordinates = ["phi"]
mass = [["l^2"]]
force = ["-9.81*l*sin(phi)"]
[[friction]]
on = "phi"
limit = "mu*(1 + 0.3*cos(phi))"
viscous = 0.02
[[contact]]
gap = "phi + 0.5"
restitution = 0.6
[initial]
position = [1.2]
velocity = [0]
[run]
scheme = "event"
tolerance = 1e-12
end_time = 3
)toml"),
                     {{"l", 1e-3}, {"mu", 1e-4}, {"initial.position.0", 1e-3}, {"contact.contact1.restitution", 1e-3}},
                     1e-7, 4);
}

TEST(SensitivityDifference, ForceThatJumpsAtATimeThatIsAParameter) {
  expect_derivatives(case_of(R"toml(
[parameters]
t0 = 0.7
F = 3.0
[matrices]
coordinates = ["x"]
mass = [[1.3]]
stiffness = [[2]]
force = ["if(t < t0, F*cos(t), if(t < 2*t0 + 0.3, -F + t, 0.4))"]
[[friction]]
on = "x"
limit = 0.8
[run]
scheme = "event"
end_time = 4
)toml"),
                     {{"t0", 1e-4}, {"F", 1e-4}}, 1e-7, 2);
}

TEST(SensitivityDifference, PlanarFrictionTurnsAndStops) {
  expect_derivatives(
      case_of(R"toml(
[parameters]
c = 1.5
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
stiffness = [[4, 1], [1, 7]]
[[friction]]
on = ["x", "y"]
limit = "c"
[initial]
position = [0.1, -0.2]
velocity = [2, 1]
[run]
scheme = "event"
tolerance = 1e-12
end_time = 3
)toml"),
      {{"c", 1e-3}, {"initial.velocity.0", 1e-3}, {"initial.velocity.1", 1e-3}, {"initial.position.0", 1e-3}}, 1e-7, 1);
}

/// The load turns while the law hardly moves: neighbours break away at other times, in other directions.
TEST(SensitivityDifference, PlanarFrictionBreaksAway) {
  expect_derivatives(case_of(R"toml(
[parameters]
c = 2.5
f = 1
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 2]]
force = ["f", "0.5*t"]
[[friction]]
on = ["x", "y"]
limit = "c"
[run]
scheme = "event"
tolerance = 1e-12
end_time = 6
)toml"),
                     {{"c", 1e-3}, {"f", 1e-3}}, 1e-8, 1);
}

/// The same with a static limit above: what breaks away has an acceleration, and a direction that turns with it.
TEST(SensitivityDifference, PlanarFrictionBreaksAwayFromAStaticLimit) {
  const char* turning = R"toml(
[parameters]
s = 0.5
c = 0.4
w = 2
[matrices]
coordinates = ["x", "y", "z"]
mass = [[2, 0, 0], [0, 2, 0], [0, 0, 2]]
force = ["3*t*cos(w*t)", "3*t*sin(w*t)", "-3"]
[run]
scheme = "event"
tolerance = 1e-11
end_time = 1.2
)toml";
  const char* laws[] = {"[[friction]]\non = [\"x\", \"y\"]\nlimit = \"3*c\"\nstatic_limit = \"3*s\"\n",
                        "[[contact]]\ngap = \"z\"\nslip = [\"x\", \"y\"]\nmu = \"c\"\nmu_static = \"s\"\n"};
  for (const char* law : laws)
    expect_derivatives(case_of(std::string(turning) + law), {{"s", 1e-3}, {"c", 1e-3}, {"w", 1e-3}}, 1e-7, 1);
}

/// Two cranks and a coupler, with friction in a joint; the start is put onto the constraints.
TEST(SensitivityDifference, FourBarWithJointFriction) {
  expect_derivatives(case_of(R"toml(
[parameters]
m = 1.2
c = 0.4
[equations]
coordinates = ["b0", "b1", "c1"]
kinetic_energy = "m/6*(v_b0^2 + v_b1^2) + m/2*(v_b0^2 + v_b0*v_c1*cos(b0 - c1) + v_c1^2/3)"
potential = "9.81*m*(0.5*(sin(b0) + sin(b1)) + sin(b0) + 0.5*sin(c1))"
[[constraint]]
position = "cos(b0) + cos(c1) - 1.1 - cos(b1)"
[[constraint]]
position = "sin(b0) + sin(c1) - sin(b1)"
[[friction]]
name = "joint"
on = "b0"
limit = "c"
[initial]
position = [-1.2, -1.1, 0.05]
velocity = [1, 1, 0]
consistent = "project"
[run]
scheme = "event"
tolerance = 1e-12
end_time = 1.2
)toml"),
                     {{"m", 1e-3}, {"c", 1e-3}, {"initial.velocity.0", 1e-3}}, 1e-7, 1);
}

/// Stiff: the implicit integrator, whose steps are far longer than the fast motion.
TEST(SensitivityDifference, StiffDamperWithFriction) {
  expect_derivatives(case_of(R"toml(
[parameters]
k = 1e4
d = 500.0
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 0.01]]
force = ["-3*x - k*(x - y) - d*(v_x - v_y)", "-k*(y - x) - d*(v_y - v_x) - 0.1*y^3"]
[[friction]]
name = "shoe"
on = "x"
limit = 0.6
[initial]
position = [1, 1]
velocity = [0, 0]
[run]
scheme = "event"
tolerance = 1e-11
end_time = 3
[run.event]
integrator = "radau"
)toml"),
                     {{"friction.shoe.limit", 1e-3}, {"initial.position.0", 1e-4}}, 1e-6, 1);
}

/// A surface whose velocity swings, a contact that rests on a floor that moves, a limit of the position.
TEST(SensitivityDifference, MovingSurfacesAndFloors) {
  expect_derivatives(case_of(R"toml(
[parameters]
w = 3.0
a = 0.05
mu = 0.4
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 2]]
force = ["-4*x", "-2*9.81"]
[[contact]]
name = "floor"
gap = "y - a*sin(w*t)"
slip = "x - 0.3*y"
mu = "mu"
restitution = 0.3
surface_velocity = ["0.5*cos(2*t)"]
[initial]
position = [0.3, 0.2]
velocity = [0, 0]
[run]
scheme = "event"
tolerance = 1e-12
end_time = 2.5
)toml"),
                     {{"w", 1e-4}, {"a", 1e-5}, {"initial.position.1", 1e-4}}, 1e-7, 5);
}

/// A free body: rotations as unit quaternions, derivatives in the tangent space.
TEST(SensitivityDifference, TumblingBody) {
  expect_derivatives(case_of(R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "top"
mass = 2
inertia = [0.02, 0.05, 0.06]
velocity_0 = [1, 0, 5]
spin_0 = [1.5, 4, 0.7]
[run]
scheme = "event"
tolerance = 1e-12
end_time = 1
)toml"),
                     {{"body.top.spin_0.1", 1e-3}, {"body.top.inertia.0", 1e-5}}, 1e-7, 0);
}

}  // namespace
}  // namespace stickslip::sensitivity_difference_test
