// SPDX-License-Identifier: Apache-2.0
// Closed forms that the fixed-step schemes once missed: guides without play, stiff viscous parts beside contacts,
// pulses of force shorter than a step, starts in other units.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "stickslip/common/error.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/model_text.hpp"

namespace stickslip::fixed_step_closed_form_test {
namespace {

// Loaded by 3 sin t across, friction 0.2 of that: v = 10 - 0.6 ∫|sin|. One side carries, the other is free; a squeeze
// of both would brake more.
TEST(GuideWithoutPlay, IsBrakedByTheLoadAndNotByASqueeze) {
  const double v_end = 10 - 0.6 * (4 + 1 - std::cos(7 - 2 * std::numbers::pi));
  for (const double h : {0.01, 0.001}) {
    const Simulation s = run_text(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
force = [0, "3*sin(t)"]
[[contact]]
name = "low"
gap = "y"
slip = "x"
mu = 0.2
[[contact]]
name = "high"
gap = "-y"
slip = "x"
mu = 0.2
[initial]
velocity = [10, 0]
[run]
end_time = 7
)toml",
                                  {fmt::format("run.step={}", h)});
    ASSERT_EQ(s.status, Status::success) << s.message;
    EXPECT_NEAR(s.final.v[0], v_end, 5 * h);
    EXPECT_LT(std::min(s.final_reaction[0], s.final_reaction[2]), 1e-9);
  }
}

TEST(GuideWithoutPlay, LetsABoxSlideStraight) {
  const Simulation s = run_text(R"toml(
[[body]]
name = "b"
mass = 1
position_0 = [0, 0, 0.1]
velocity_0 = [10, 0, 0]
force = [0, 0, "3*sin(t)"]
[[shape]]
body = "b"
kind = "box"
size = [0.2, 0.2, 0.2]
[[shape]]
body = "ground"
kind = "plane"
[[shape]]
body = "ground"
kind = "plane"
position = [0, 0, 0.2]
normal = [0, 0, -1]
[[contact]]
between = ["b", "ground"]
mu = 0.2
[run]
step = 0.01
end_time = 7
)toml",
                                {});
  ASSERT_EQ(s.status, Status::success) << s.message;
  EXPECT_NEAR(s.final.v[0], 10 - 0.6 * (5 - std::cos(7 - 2 * std::numbers::pi)), 0.05);
  EXPECT_NEAR(s.final.q[3], 1, 1e-6);  // no turn
}

// A contact that never touches changes nothing while the step resolves the decay; beyond that the midpoint rule neither
// grows nor moves on.
TEST(ViscousPart, StaysImplicitBesideContacts) {
  for (const double c : {1.0, 1e3, 1e6, 1e12}) {
    const auto run = [&](const char* contact) {
      return run_text(std::string(R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
[[friction]]
name = "pad"
on = "x"
limit = 0.1
viscous = 0
[initial]
velocity = [1, 0]
position = [0, 1]
[run]
step = 0.01
end_time = 0.2
)toml") + contact,
                      {fmt::format("friction.pad.viscous={}", c)});
    };
    const Simulation alone = run(""), beside = run("\n[[contact]]\ngap = \"y\"\nslip = \"x\"\nmu = 0.3\n");
    ASSERT_EQ(beside.status, Status::success) << c << ": " << beside.message;
    if (c == 1) {
      EXPECT_NEAR(beside.final.q[0], alone.final.q[0], 1e-12);
      EXPECT_NEAR(beside.final.v[0], alone.final.v[0], 1e-12);
    }
    EXPECT_LE(std::abs(beside.final.v[0]), 1.0) << c;
    EXPECT_NEAR(beside.final.q[0], alone.final.q[0], 1e-5) << c;
  }
}

// The mean of a step is the mean: a pulse shorter than the step gives its whole impulse, wherever it lies.
TEST(ForceMean, LosesNoPulse) {
  const auto velocity = [](const std::string& force, double h) {
    const Simulation s =
        run_text("[matrices]\ncoordinates = [\"x\"]\nmass = [[1]]\nforce = [\"" + force + "\"]\n[run]\nend_time = 5\n",
                 {fmt::format("run.step={}", h)});
    EXPECT_EQ(s.status, Status::success) << force << ": " << s.message;
    return s.final.v[0];
  };
  for (const double h : {0.01, 0.1})
    for (const double width : {0.1, 1e-3, 3e-5, 1e-7})
      EXPECT_NEAR(velocity(fmt::format("exp(-((t-pi)/{0})^2)/{0}", width), h), std::sqrt(std::numbers::pi), 1e-4)
          << width;
  for (const double width : {1e-3, 1e-9, 1e-12})
    EXPECT_NEAR(velocity(fmt::format("if(t > 0.3 and t < 0.3 + {0}, 1/{0}, 0)", width), 0.01), 1, 1e-3) << width;
}

TEST(ForceMean, OfAPoleIsNotANumber) {
  const Simulation s = run_text(
      "[matrices]\ncoordinates = [\"x\"]\nmass = [[1]]\nforce = [\"1/(t-0.503)^2\"]\n[run]\nend_time = 1\nstep = "
      "0.01\n",
      {});
  EXPECT_EQ(s.status, Status::not_finite);
}

// The same start in metres and in millimetres is taken, or refused, alike.
TEST(StartPenetration, IsMeasuredAgainstTheTermsOfTheGap) {
  const auto taken = [](double unit, double depth) {
    try {
      run_text(R"toml(
[parameters]
unit = 1
depth = 0
[matrices]
coordinates = ["y"]
mass = [[1]]
force = ["-9.81*unit"]
[[contact]]
gap = "y - unit"
[initial]
position = ["unit*(1 - depth)"]
[run]
step = 0.01
end_time = 0.1
)toml",
               {fmt::format("parameters.unit={}", unit), fmt::format("parameters.depth={}", depth)});
    } catch (const InputError&) {
      return false;
    }
    return true;
  };
  for (const double unit : {1e-6, 1e-3, 1.0, 1e3, 1e6}) {
    EXPECT_TRUE(taken(unit, 1e-3)) << unit;
    EXPECT_FALSE(taken(unit, 0.1)) << unit;
  }
}

// A mechanism of a micrometre whose start is wrong by a tenth of its size is as wrong as one of a metre.
TEST(StartOnConstraints, IsMeasuredInTheMetricOfTheMass) {
  const auto taken = [](double unit, double error) {
    try {
      run_text(R"toml(
[parameters]
l = 1
error = 0
[equations]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
potential = "9.81*l*y"
[[constraint]]
position = "x^2 + y^2 - l^2"
[initial]
position = ["l*(1 + error)", 0]
[run]
scheme = "event"
end_time = 0.1
steps = 2
)toml",
               {fmt::format("parameters.l={}", unit), fmt::format("parameters.error={}", error)});
    } catch (const InputError&) {
      return false;
    }
    return true;
  };
  for (const double unit : {1e-6, 1.0, 1e6}) {
    EXPECT_TRUE(taken(unit, 1e-8)) << unit;
    EXPECT_FALSE(taken(unit, 0.1)) << unit;
    EXPECT_FALSE(taken(unit, 1e-4)) << unit;
  }
}

}  // namespace
}  // namespace stickslip::fixed_step_closed_form_test
