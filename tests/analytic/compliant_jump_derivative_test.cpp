// SPDX-License-Identifier: Apache-2.0
// Derivatives of compliant motion, carried forward and by the way back, through forces that jump next to other
// switches: against one another and against differences of whole runs, with every integrator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/io/model_case.hpp"
#include "stickslip/motion/gradient.hpp"

namespace stickslip::compliant_jump_derivative_test {
namespace {

using Names = std::vector<std::string>;

/// Held by a static coefficient, breaks away and leaves the ground within 0.3 ms.
const char* const kLift = R"toml(
[parameters]
mu = 0.2
fx = 0.05
up = 60
w = 8
k = 1000
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["fx", "-9.81 + up*sin(w*t)"]
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = "mu"
mu_static = 0.35
compliance = { stiffness = [["k", 0], [0, 800]], damping = 20, normal_damping = 0 }
[initial]
position = [0.0, -0.00981]
velocity = [0.0, 0.0]
[run]
scheme = "compliant"
tolerance = 1e-12
end_time = 0.3
)toml";

/// Falls onto a floor with dampers along both directions, sticks, breaks away and sticks again.
const char* const kLand = R"toml(
[parameters]
mu = 0.2
fx = 6
k = 1000
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["fx*sin(11*t)", "-9.81"]
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = "mu"
mu_static = 0.35
compliance = { stiffness = [["k", 0], [0, 800]], damping = 20, normal_damping = 15 }
[initial]
position = [0.0, 0.02]
velocity = [0.3, 0.0]
[run]
scheme = "compliant"
tolerance = 1e-12
end_time = 0.7
)toml";

/// Two blocks, joined by a spring, of which each has its own floor: they switch within one step of the other.
const char* const kTwo = R"toml(
[parameters]
mu = 0.2
fx = 5
k = 1000
[matrices]
coordinates = ["x1", "z1", "x2", "z2"]
mass = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1.001, 0], [0, 0, 0, 1.001]]
stiffness = [[20, 0, -20, 0], [0, 0, 0, 0], [-20, 0, 20, 0], [0, 0, 0, 0]]
force = ["fx*t", "-9.81", "fx*t", "-9.82"]
[[contact]]
name = "first"
gap = "z1"
slip = "x1"
mu = "mu"
mu_static = 0.35
compliance = { stiffness = [["k", 0], [0, 800]], damping = 20, normal_damping = 10 }
[[contact]]
name = "second"
gap = "z2"
slip = "x2"
mu = "mu"
mu_static = 0.35
compliance = { stiffness = [["k", 0], [0, 800]], damping = 20, normal_damping = 10 }
[initial]
position = [0.0, 0.001, 0.0, 0.001]
velocity = [0.0, 0.0, 0.0, 0.0]
[run]
scheme = "compliant"
tolerance = 1e-12
end_time = 1.0
)toml";

/// Pushed from one parameter on until another, while it slides, sticks and slides.
const char* const kPulse = R"toml(
[parameters]
mu = 0.2
from = 0.31
until = 0.52
push = 5
[matrices]
coordinates = ["x", "z"]
mass = [[1, 0], [0, 1]]
force = ["if(t > from and t < until, push + 3*t, 0)", "-9.81"]
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = "mu"
compliance = { stiffness = [[1000, 50], [50, 800]], damping = 20 }
[initial]
position = [0.0, -0.00981]
velocity = [0.4, 0.0]
[run]
scheme = "compliant"
tolerance = 1e-12
end_time = 0.8
)toml";

/// Every number of the state at the end.
std::vector<Functional> state_at_end(const Case& model) {
  std::vector<Functional> all;
  const Index count = model.system().info().nq() + model.system().info().nv();
  for (Index i = 0; i < count; ++i)
    all.push_back({model.options().end_time, [i](const State& state, Vector& slope) {
                     slope.setZero();
                     slope[i] = 1;
                     return i < state.q.size() ? state.q[i] : state.v[i - state.q.size()];
                   }});
  return all;
}

GradientSolution gradient(const Case& model, const Names& unknowns, DerivativeMethod method) {
  const Variations variations(model, unknowns);
  return solve(GradientProblem{model.system(), model.initial(), model.options(), variations, state_at_end(model)},
               {method, nullptr});
}

/// Of fourth order.
Vector difference(const Case& model, const std::string& unknown, double part) {
  const double value = model.get(unknown), h = part * (value != 0 ? std::abs(value) : 1);
  const auto at = [&](double amount) {
    Case moved = model;
    moved.set(unknown, value + amount);
    return gradient(moved, {}, DerivativeMethod::forward).values;
  };
  return (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
}

struct Example {
  const char* name;
  const char* model;
  Names unknowns, settings;
  double part, tolerance;  ///< of the unknown, for differences; of the largest derivative
  const char* integrator = "explicit";
};

class JumpDerivative : public testing::TestWithParam<Example> {};

/// Differences are those of the explicit method: of fixed steps they jump with every kink that crosses the end of a
/// step, and their derivative is that of the motion to O(h).
TEST_P(JumpDerivative, IsThatOfWholeRunsForwardAndBack) {
  const Example& example = GetParam();
  const Case exact = make_case(parse_model(example.model, "m.toml", example.settings));
  Names settings = example.settings;
  settings.push_back(fmt::format("run.compliant.integrator='{}'", example.integrator));
  settings.push_back("run.step=1e-4");
  const Case model = make_case(parse_model(example.model, "m.toml", settings));
  for (std::size_t j = 0; j < example.unknowns.size(); ++j) {
    const Vector expected = difference(exact, example.unknowns[j], example.part);
    for (const DerivativeMethod method : {DerivativeMethod::forward, DerivativeMethod::adjoint}) {
      const GradientSolution found = gradient(model, {example.unknowns[j]}, method);
      ASSERT_EQ(found.status, Status::success) << found.message;
      EXPECT_LT((found.gradient.col(0) - expected).lpNorm<Eigen::Infinity>(),
                example.tolerance * expected.lpNorm<Eigen::Infinity>())
          << to_string(method) << " " << example.unknowns[j] << "\n"
          << found.gradient.col(0).transpose() << "\n"
          << expected.transpose();
    }
  }
}

TEST_P(JumpDerivative, IsTheSameForwardAndBack) {
  const Example& example = GetParam();
  Names settings = example.settings;
  settings.push_back(fmt::format("run.compliant.integrator='{}'", example.integrator));
  settings.push_back("run.step=1e-4");
  const Case model = make_case(parse_model(example.model, "m.toml", settings));
  const GradientSolution forward = gradient(model, example.unknowns, DerivativeMethod::forward);
  const GradientSolution back = gradient(model, example.unknowns, DerivativeMethod::adjoint);
  ASSERT_EQ(forward.status, Status::success) << forward.message;
  ASSERT_EQ(back.status, Status::success) << back.message;
  for (Index j = 0; j < forward.gradient.cols(); ++j)
    EXPECT_LT((forward.gradient.col(j) - back.gradient.col(j)).lpNorm<Eigen::Infinity>(),
              1e-7 * forward.gradient.col(j).lpNorm<Eigen::Infinity>())
        << example.unknowns[static_cast<std::size_t>(j)];
}

// Of the tangential force little is left where it breaks away, and of the normal one as well: within 0.3 ms and within
// 10 ms.
const Names kSoon{"parameters.fx=0.00345",           "parameters.up=13.59",
                  "contact.0.mu_static=0.467",       "parameters.k=14833",
                  "initial.position.1=-0.000661363", "parameters.w=10.946"};
const Names kLater{"parameters.fx=0.03825",           "parameters.up=13.148",
                   "contact.0.mu_static=0.536",       "parameters.k=21615",
                   "initial.position.1=-0.000453852", "parameters.w=2.877"};
const Names kDamped{"contact.0.compliance.normal_damping=15"};
const Names kLiftUnknowns{"fx", "up", "k"};
const Names kLandUnknowns{"fx", "mu", "contact.0.mu_static", "k", "initial.velocity.0", "initial.position.1"};
const Names kTwoUnknowns{"fx", "mu", "k", "contact.0.mu_static", "initial.position.3"};
// Both land and break away at one instant that most unknowns move apart; neither sees the other's force.
const Names kAlike{"matrices.mass.2.2=1", "matrices.mass.3.3=1", "matrices.force=['fx*t', '-9.81', 'fx*t', '-9.81']"};
const Names kPulseUnknowns{"from", "until", "push", "mu"};

INSTANTIATE_TEST_SUITE_P(Models, JumpDerivative,
                         testing::Values(Example{"lift", kLift, kLiftUnknowns, kSoon, 3e-5, 1e-6},
                                         Example{"lift_later", kLift, kLiftUnknowns, kLater, 3e-5, 1e-6},
                                         Example{"lift_stiff", kLift, kLiftUnknowns, kSoon, 3e-5, 1e-6, "stiff"},
                                         Example{"lift_later_stiff", kLift, kLiftUnknowns, kLater, 3e-5, 1e-6, "stiff"},
                                         Example{"lift_heun", kLift, {"fx", "up"}, kSoon, 3e-5, 2e-3, "heun"},
                                         Example{"lift_rk4", kLift, {"fx", "up"}, kSoon, 3e-5, 2e-3, "rk4"},
                                         Example{"lift_damped", kLift, kLiftUnknowns, kDamped, 1e-4, 1e-6},
                                         Example{"lift_damped_stiff", kLift, kLiftUnknowns, kDamped, 1e-4, 1e-6,
                                                 "stiff"},
                                         Example{"land", kLand, kLandUnknowns, {}, 1e-4, 1e-6},
                                         Example{"land_stiff", kLand, kLandUnknowns, {}, 1e-4, 1e-6, "stiff"},
                                         Example{"land_heun", kLand, kLandUnknowns, {}, 1e-4, 1e-2, "heun"},
                                         Example{"land_rk4", kLand, kLandUnknowns, {}, 1e-4, 1e-2, "rk4"},
                                         Example{"pulse", kPulse, kPulseUnknowns, {}, 1e-4, 1e-6},
                                         Example{"pulse_stiff", kPulse, kPulseUnknowns, {}, 1e-4, 1e-6, "stiff"},
                                         Example{"pulse_rk4", kPulse, kPulseUnknowns, {}, 1e-4, 2e-3, "rk4"},
                                         Example{"two", kTwo, kTwoUnknowns, {}, 1e-5, 1e-6},
                                         Example{"two_stiff", kTwo, kTwoUnknowns, {}, 1e-5, 1e-6, "stiff"},
                                         Example{"alike", kTwo, kTwoUnknowns, kAlike, 1e-5, 1e-6},
                                         Example{"alike_stiff", kTwo, kTwoUnknowns, kAlike, 1e-5, 1e-6, "stiff"},
                                         Example{"two_rk4", kTwo, kTwoUnknowns, {}, 1e-5, 1e-2, "rk4"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace stickslip::compliant_jump_derivative_test
