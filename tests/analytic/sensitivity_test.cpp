// SPDX-License-Identifier: Apache-2.0
// Derivatives of motions against closed forms, and where there are none.
#include "stickslip/motion/sensitivity.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>
#include <string>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_case.hpp"
#include "stickslip/motion/state_transition.hpp"

namespace stickslip::sensitivity_test {
namespace {

constexpr double kRoundOff = 1e-11;  // of numbers of size 1, through differences of parameters

Case case_of(const std::string& text) { return make_case(parse_model(text, "test.toml")); }

std::string block(const std::string& run) {
  return R"toml(
[parameters]
mu = 0.3
g = 9.81
v0 = 2.0
[matrices]
coordinates = ["x"]
mass = [[1.7]]
[[friction]]
name = "floor"
on = "x"
limit = "1.7*mu*g"
[initial]
velocity = ["v0"]
[run]
scheme = "event"
)toml" + run;
}

bool has_note(const Simulation& run, const std::string& words) {
  for (const std::string& note : run.notes)
    if (note.find(words) != std::string::npos) return true;
  return false;
}

/// d = v0²/(2 mu g), and while it slides x = v0 t - mu g t²/2.
TEST(Sensitivity, StoppingDistance) {
  const Simulation run =
      case_of(block("end_time = 1\noutput_times = [0.25, 1]\nsensitivities = [\"v0\", \"mu\", \"g\"]")).run();
  ASSERT_EQ(run.status, Status::success) << run.message;
  const Trajectory& t = run.trajectory;
  ASSERT_EQ(t.rows(), 2);
  const double mu = 0.3, g = 9.81, v0 = 2.0, time = 0.25;
  EXPECT_NEAR(t.sensitivity(0, 0, 0), time, kRoundOff);
  EXPECT_NEAR(t.sensitivity(0, 1, 0), 1, kRoundOff);
  EXPECT_NEAR(t.sensitivity(0, 0, 1), -g * time * time / 2, kRoundOff);
  EXPECT_NEAR(t.sensitivity(0, 1, 2), -mu * time, kRoundOff);
  EXPECT_NEAR(t.sensitivity(1, 0, 0), v0 / (mu * g), kRoundOff);
  EXPECT_NEAR(t.sensitivity(1, 0, 1), -v0 * v0 / (2 * mu * mu * g), kRoundOff);
  EXPECT_NEAR(t.sensitivity(1, 0, 2), -v0 * v0 / (2 * mu * g * g), kRoundOff);
  for (Index j = 0; j < 3; ++j) EXPECT_NEAR(t.sensitivity(1, 1, j), 0, 1e-20) << "it rests, whatever changes";
}

/// After n impacts, t_n = τ + 2 τ (e + .. + e^n'), the height and speed of a ball that falls from h.
TEST(Sensitivity, BouncingBall) {
  const Simulation run = case_of(R"toml(
[parameters]
h = 1.0
e = 0.8
g = 9.81
[matrices]
coordinates = ["y"]
mass = [[1]]
force = ["-g"]
[[contact]]
gap = "y"
restitution = "e"
[initial]
position = ["h"]
[run]
scheme = "event"
end_time = 1.5
output_times = [1.5]
sensitivities = ["h", "e", "g"]
)toml")
                             .run();
  ASSERT_EQ(run.status, Status::success) << run.message;
  const double h = 1, e = 0.8, g = 9.81, t = 1.5, tau = std::sqrt(2 * h / g);
  ASSERT_EQ(run.trajectory.events.size(), 2U);
  // y = u s - g s²/2 with u = e² g τ, s = t - τ (1 + 2 e)
  const double u = e * e * g * tau, s = t - tau * (1 + 2 * e);
  EXPECT_NEAR(run.final.q[0], u * s - g * s * s / 2, 1e-13);
  auto dy = [&](double du, double ds, double dg) { return du * s + u * ds - g * s * ds - dg * s * s / 2; };
  auto dv = [&](double du, double ds, double dg) { return du - g * ds - dg * s; };
  const double tau_h = tau / (2 * h), tau_g = -tau / (2 * g);
  const double d[3][3] = {{e * e * g * tau_h, -tau_h * (1 + 2 * e), 0},
                          {2 * e * g * tau, -2 * tau, 0},
                          {e * e * (tau + g * tau_g), -tau_g * (1 + 2 * e), 1}};
  for (Index j = 0; j < 3; ++j) {
    EXPECT_NEAR(run.final_sensitivity(0, j), dy(d[j][0], d[j][1], d[j][2]), 10 * kRoundOff) << j;
    EXPECT_NEAR(run.final_sensitivity(1, j), dv(d[j][0], d[j][1], d[j][2]), 10 * kRoundOff) << j;
  }
}

/// Impacts without end: the ball slides to rest at x = ..., and where it comes to rest is smooth in e.
TEST(Sensitivity, ThroughTheAccumulationOfImpacts) {
  const Simulation run = case_of(R"toml(
[parameters]
h = 0.5
e = 0.5
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = ["0", "-9.81"]
[[contact]]
gap = "y"
slip = "x"
mu = 0.1
restitution = "e"
[initial]
position = [0, "h"]
velocity = [5, 0]
[run]
scheme = "event"
end_time = 2
output_times = [2]
sensitivities = ["h", "e"]
)toml")
                             .run();
  ASSERT_EQ(run.status, Status::success) << run.message;
  const double h = 0.5, e = 0.5, g = 9.81, mu = 0.1, t = 2, tau = std::sqrt(2 * h / g);
  // Friction takes mu (1 + e) times the normal speed at each impact: in all mu times the load over the time, from τ on.
  // v_x = 5 - mu g (t - τ) - mu g τ  as soon as it rests on the ground: its impulse is that of the weight since the
  // start.
  EXPECT_NEAR(run.final.v[0], 5 - mu * g * t, 1e-8);
  EXPECT_NEAR(run.final_sensitivity(2, 0), 0, 1e-7);
  EXPECT_NEAR(run.final_sensitivity(2, 1), 0, 1e-7);
  // x = ∫ v_x: momentum taken at times t_n; x = 5 t - mu Σ p_n (t - t_n) - mu g (t - T)²/2,  p_n = (1 + e) eⁿ g τ,
  // t_n = τ (1 + 2 e (1 - eⁿ)/(1 - e)), T their limit.
  auto x = [&](double height, double restitution) {
    const double fall = std::sqrt(2 * height / g), k = restitution, end = fall * (1 + k) / (1 - k);
    double sum = 0;
    for (int n = 0; n < 200; ++n)
      sum += (1 + k) * std::pow(k, n) * g * fall * (t - fall * (1 + 2 * k * (1 - std::pow(k, n)) / (1 - k)));
    return 5 * t - mu * sum - mu * g * (t - end) * (t - end) / 2;
  };
  EXPECT_GT(t, tau * (1 + e) / (1 - e));
  EXPECT_NEAR(run.final.q[0], x(h, e), 1e-8);
  const double d = 1e-3;
  auto slope = [&](auto f) { return (8 * (f(d) - f(-d)) - (f(2 * d) - f(-2 * d))) / (12 * d); };
  EXPECT_NEAR(run.final_sensitivity(0, 0), slope([&](double k) { return x(h + k, e); }), 1e-7);
  EXPECT_NEAR(run.final_sensitivity(0, 1), slope([&](double k) { return x(h, e + k); }), 1e-7);
}

/// A velocity given to a law that sticks is taken by friction at once.
TEST(Sensitivity, StickForgetsItsVelocity) {
  const Simulation run = case_of(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[2, 1], [1, 2]]
stiffness = [[3, -1], [-1, 2]]
[[friction]]
name = "shoe"
on = "x"
limit = 100
[initial]
position = [0.1, 1]
velocity = [0, 0]
[run]
scheme = "event"
end_time = 1
sensitivities = ["initial.velocity.0", "initial.position.0"]
)toml")
                             .run();
  ASSERT_EQ(run.status, Status::success) << run.message;
  // With x held, 2 y'' + 2 y = x; a push of x by δ is a push of y by δ/2: v_y' = δ/2 cos t.
  EXPECT_NEAR(run.final_sensitivity(0, 0), 0, kRoundOff);
  EXPECT_NEAR(run.final_sensitivity(1, 0), 0.5 * std::sin(1.0), kRoundOff);
  EXPECT_NEAR(run.final_sensitivity(3, 0), 0.5 * std::cos(1.0), kRoundOff);
  EXPECT_NEAR(run.final_sensitivity(0, 1), 1, kRoundOff);
  EXPECT_NEAR(run.final_sensitivity(1, 1), 0.5 * (1 - std::cos(1.0)), kRoundOff);
  EXPECT_FALSE(has_note(run, "one side"));
}

/// A block that begins to slip from rest: another motion for a push the other way.
TEST(Sensitivity, OneSidedStartIsNoted) {
  const Simulation run = case_of(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
force = ["3"]
[[friction]]
name = "floor"
on = "x"
limit = 1
[initial]
velocity = [0]
[run]
scheme = "event"
end_time = 1
sensitivities = ["initial.velocity.0", "friction.floor.limit"]
)toml")
                             .run();
  ASSERT_EQ(run.status, Status::success) << run.message;
  EXPECT_NEAR(run.final_sensitivity(0, 0), 1, kRoundOff);
  EXPECT_NEAR(run.final_sensitivity(0, 1), -0.5, kRoundOff);
  EXPECT_TRUE(has_note(run, "'initial.velocity.0' holds for changes to one side"));
  EXPECT_FALSE(has_note(run, "'friction.floor.limit'"));
}

/// A mass that only just reaches a wall.
TEST(Sensitivity, GrazingHasNoDerivative) {
  const Simulation run = case_of(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[1]]
[[contact]]
name = "wall"
gap = "x + 1"
restitution = 0.5
[initial]
position = [1.0000000000001]
[run]
scheme = "event"
end_time = 5
output_times = [3, 5]
sensitivities = ["initial.position.0"]
)toml")
                             .run();
  ASSERT_EQ(run.status, Status::success) << run.message;
  EXPECT_NEAR(run.trajectory.sensitivity(0, 0, 0), std::cos(3.0), 1e-9);
  EXPECT_TRUE(std::isnan(run.trajectory.sensitivity(1, 0, 0)));
  EXPECT_TRUE(has_note(run, "does not exist from t = 3.14159"));
}

/// Monodromy of an oscillator: rotation; of one with an impact every half period: det = e² per period pair of impacts.
TEST(Sensitivity, StateTransition) {
  const Case free = case_of(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[4]]
[run]
scheme = "event"
end_time = 1
)toml");
  const double t = 0.7, w = 2;
  StateTransition result =
      state_transition(free.system(), {0.0, Vector{{0.3}}, Vector{{-0.1}}, {}, {}}, free.options(), t);
  ASSERT_EQ(result.run.status, Status::success);
  const double c = std::cos(w * t), s = std::sin(w * t);
  EXPECT_LE((result.matrix - DenseMatrix{{c, s / w}, {-w * s, c}}).norm(), 1e-13);
  const Case wall = case_of(R"toml(
[matrices]
coordinates = ["x"]
mass = [[1]]
stiffness = [[4]]
[[contact]]
gap = "x"
restitution = 0.9
[run]
scheme = "event"
end_time = 1
)toml");
  result = state_transition(wall.system(), {0.0, Vector{{0.0}}, Vector{{1.0}}, {}, {}}, wall.options(), 4.0);
  ASSERT_EQ(result.run.status, Status::success);
  // Saltation of each of the two impacts has the determinant e².
  EXPECT_NEAR(result.matrix.determinant(), std::pow(0.9, 4), kRoundOff);
}

TEST(Sensitivity, WrongInputIsRefused) {
  auto message = [](const std::string& text) {
    try {
      case_of(text).run();
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message(block("end_time = 1\nsensitivities = [\"nu\"]")).find("nu"), std::string::npos);
  EXPECT_NE(message(block("end_time = 1\nsensitivities = [\"run.tolerance\"]")).find("number of the computation"),
            std::string::npos);
  EXPECT_NE(message(block("end_time = 1\nsensitivities = [\"mu\", \"mu\"]")).find("twice"), std::string::npos);
  std::string other = block("step = 0.01\nend_time = 1\nsensitivities = [\"mu\"]");
  other.replace(other.find("\"event\""), 7, "\"moreau\"");
  EXPECT_NE(message(other).find("scheme = \"event\""), std::string::npos) << message(other);
}

/// A run that is stopped and goes on has the derivatives of one that was not.
TEST(Sensitivity, RestartKeepsThem) {
  Case whole = case_of(block("end_time = 1\noutput_step = 0.1\nsensitivities = [\"v0\", \"mu\"]"));
  Simulation first, second;
  {
    Case half = whole;
    SimulationOptions options = whole.options();
    options.end_time = 0.3;
    half.set_options(options);
    first = half.run();
  }
  SimulationHooks hooks;
  hooks.resume = &first.last;
  second = whole.run(hooks);
  ASSERT_EQ(second.status, Status::success) << second.message;
  EXPECT_LE((second.final_sensitivity - whole.run().final_sensitivity).norm(), kRoundOff);
  hooks.resume = nullptr;
  Case plain = whole;
  SimulationOptions options = whole.options();
  options.sensitivities.clear();
  plain.set_options(options);
  const Simulation without = plain.run();
  hooks.resume = &without.last;
  EXPECT_THROW(whole.run(hooks), InputError);
}

}  // namespace
}  // namespace stickslip::sensitivity_test
