// SPDX-License-Identifier: Apache-2.0
// Derivatives by the way back along compliant motion, against columns carried forward and differences of whole runs:
// through impacts, slip, stick, jumps of forces, points that come and go, with every integrator.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_case.hpp"
#include "stickslip/motion/gradient.hpp"

namespace stickslip::compliant_adjoint_test {
namespace {

/// Falls, slips and sticks.
const char* const kBlock = R"toml(
[parameters]
mu = 0.3
k = 800
pull = 0.4
[matrices]
coordinates = ["px", "py", "pz"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
force = ["pull*sin(9*t)", 0, -9.81]
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
)toml";

/// Stiffness and damping that couple two feet; rows that turn with the body.
const char* const kTwoFeet = R"toml(
[parameters]
mu = 0.3
m = 1
[equations]
coordinates = ["x", "z", "th"]
mass = [["m", 0, 0], [0, "m", 0], [0, 0, 0.113]]
force = [0, "-9.81*m", 0]
[[contact]]
name = "a"
gap = "z - 0.5*sin(th) - 0.3*cos(th)"
slip = "x - 0.5*cos(th) + 0.3*sin(th)"
mu = "mu"
[[contact]]
name = "b"
gap = "z + 0.5*sin(th) - 0.3*cos(th)"
slip = "x + 0.5*cos(th) + 0.3*sin(th)"
mu = "mu"
[compliance]
stiffness = [[2000, 300, 200, 0], [300, 2000, 0, -150], [200, 0, 1500, 100], [0, -150, 100, 1500]]
damping = [[30, 5], [5, 30]]
[initial]
position = [0, 0.4, 0.1]
velocity = [1.5, 0, 0]
[run]
scheme = "compliant"
tolerance = 1e-12
end_time = 0.5
)toml";

/// A static coefficient that gives way beside a friction law with a limit.
const char* const kHeld = R"toml(
[parameters]
mu = 0.2
c = 20
[matrices]
coordinates = ["x", "y", "z"]
mass = [[1, 0, 0], [0, 2, 0], [0, 0, 1]]
stiffness = [[30, -30, 0], [-30, 40, 0], [0, 0, 0]]
force = ["6*sin(2*t)", 0, -9.81]
[[friction]]
name = "shoe"
on = "y"
limit = 0.5
viscous = 0.2
[[contact]]
name = "floor"
gap = "z"
slip = "x"
mu = "mu"
mu_static = 0.3
compliance = { stiffness = [[1000, 0], [0, 800]], damping = "c" }
[initial]
position = [0.0, 0, -0.01]
velocity = [0.1, 0, 0]
[run]
scheme = "compliant"
tolerance = 1e-12
end_time = 1.1
[run.compliant]
epsilon = 1e-4
)toml";

const char* const kCube = R"toml(
[gravity]
vector = [0, 0, -9.81]
[[body]]
name = "cube"
mass = 0.5
position_0 = [0, 0, 0.2]
orientation_0 = [0.9, 0.25, 0.3, 0.1]
velocity_0 = [0.5, 0, 0]
[[shape]]
body = "cube"
kind = "box"
size = [0.1, 0.1, 0.1]
[[shape]]
body = "ground"
kind = "plane"
[[contact]]
name = "ground"
between = ["cube", "ground"]
mu = 0.4
compliance = { stiffness = 5000, damping = 20, normal_damping = 15 }
[run]
scheme = "compliant"
tolerance = 1e-10
end_time = 0.43
)toml";

using Names = std::vector<std::string>;

/// Two numbers of the motion, at its end and on the way, in which every coordinate counts.
std::vector<Functional> functionals(const Case& model) {
  std::vector<Functional> all;
  for (const double part : {1.0, 0.45})
    all.push_back({part * model.options().end_time, [part](const State& state, Vector& slope) {
                     const Index nq = state.q.size();
                     double sum = 0;
                     for (Index i = 0; i < slope.size(); ++i) {
                       const double x = i < nq ? state.q[i] : state.v[i - nq],
                                    weight = std::sin(1.0 + static_cast<double>(i) + part);
                       sum += weight * x + 0.1 * x * x;
                       slope[i] = weight + 0.2 * x;
                     }
                     return sum;
                   }});
  return all;
}

GradientSolution gradient(const Case& model, const Names& unknowns, DerivativeMethod method) {
  const Variations variations(model, unknowns);
  return solve(GradientProblem{model.system(), model.initial(), model.options(), variations, functionals(model)},
               {method, nullptr});
}

Case read(const char* text, const Names& settings = {}) { return make_case(parse_model(text, "m.toml", settings)); }

/// Largest difference of the rows of two gradients, each over its largest entry in units of the unknowns.
double difference(const Case& model, const Names& unknowns, const DenseMatrix& a, const DenseMatrix& b) {
  Vector size(a.cols());
  for (Index j = 0; j < size.size(); ++j) {
    const double value = std::abs(model.get(unknowns[static_cast<std::size_t>(j)]));
    size[j] = value > 0 ? value : 1;
  }
  double worst = 0;
  for (Index i = 0; i < a.rows(); ++i)
    worst = std::max(worst, ((a - b).row(i).transpose().cwiseProduct(size)).lpNorm<Eigen::Infinity>() /
                                (b.row(i).transpose().cwiseProduct(size)).lpNorm<Eigen::Infinity>());
  return worst;
}

struct Example {
  const char* name;
  const char* model;
  Names unknowns, settings;
  /// Of the difference to columns, which have steps of their own, and are 1e-8 off where coupled contacts switch: a
  /// difference of whole runs is below.
  double tolerance;
};

class Adjoint : public testing::TestWithParam<Example> {};

TEST_P(Adjoint, IsTheDerivativeThatColumnsHave) {
  const Example& example = GetParam();
  const Case model = read(example.model, example.settings);
  const GradientSolution forward = gradient(model, example.unknowns, DerivativeMethod::forward);
  const GradientSolution back = gradient(model, example.unknowns, DerivativeMethod::adjoint);
  ASSERT_EQ(forward.status, Status::success) << forward.message;
  ASSERT_EQ(back.status, Status::success) << back.message;
  EXPECT_EQ(back.method, DerivativeMethod::adjoint);
  EXPECT_LT((forward.values - back.values).lpNorm<Eigen::Infinity>(), 1e-8);
  EXPECT_LT(difference(model, example.unknowns, back.gradient, forward.gradient), example.tolerance);
}

const Names kBlockUnknowns{"mu",
                           "k",
                           "pull",
                           "initial.velocity.0",
                           "initial.position.2",
                           "initial.deformation.1",
                           "contact.0.compliance.damping.0.0"};

INSTANTIATE_TEST_SUITE_P(
    Models, Adjoint,
    testing::Values(
        Example{"disk", kBlock, kBlockUnknowns, {}, 1e-9},
        Example{"coefficient", kBlock, {"contact.0.mu", "contact.floor.compliance.stiffness.0.0"}, {}, 2e-8},
        Example{"box", kBlock, kBlockUnknowns, {"contact.0.cone='box'"}, 1e-9},
        Example{"polygon", kBlock, kBlockUnknowns, {"contact.0.cone='polygon'", "contact.0.facets=6"}, 1e-9},
        Example{"hertz",
                kBlock,
                {"mu", "initial.velocity.0", "initial.position.2"},
                {"contact.0.compliance={ stiffness = 1000, damping = 20, exponent = 1.5 }", "contact.0.cone='box'"},
                1e-9},
        Example{"damped_hertz",
                kBlock,
                {"mu", "initial.velocity.0", "initial.position.2", "contact.0.compliance.exponent"},
                {"contact.0.compliance={ stiffness = 20000, damping = 20, exponent = 1.5, normal_damping = 5 }",
                 "contact.0.cone='box'", "run.tolerance=1e-9"},
                1e-6},
        Example{"damped_hertz_stiff",
                kBlock,
                {"mu", "initial.velocity.0", "initial.position.2", "contact.0.compliance.exponent"},
                {"contact.0.compliance={ stiffness = 20000, damping = 20, exponent = 1.5, normal_damping = 5 }",
                 "contact.0.cone='box'", "run.tolerance=1e-9", "run.compliant.integrator='stiff'"},
                1e-6},
        Example{"stiff", kBlock, kBlockUnknowns, {"run.compliant.integrator='stiff'"}, 1e-9},
        Example{"heun", kBlock, kBlockUnknowns, {"run.compliant.integrator='heun'", "run.step=0.002"}, 1e-12},
        Example{"rk4", kBlock, kBlockUnknowns, {"run.compliant.integrator='rk4'", "run.step=0.002"}, 1e-12},
        Example{"coupled", kTwoFeet, {"mu", "m", "initial.velocity.0", "initial.position.1"}, {}, 1e-6},
        Example{"held", kHeld, {"mu", "c", "contact.0.mu_static", "friction.0.limit", "initial.position.2"}, {}, 1e-7},
        Example{"cube",
                kCube,
                {"contact.0.mu", "body.0.velocity_0.0", "body.0.mass", "contact.0.compliance.normal_damping"},
                {},
                1e-8},
        Example{"stiff_cube",
                kCube,
                {"contact.0.mu", "body.0.velocity_0.0", "body.0.mass"},
                {"run.compliant.integrator='stiff'"},
                1e-6}),
    [](const auto& test) { return test.param.name; });

/// Of the implicit method too: a step that ends just beyond where a damped contact closes has its jump.
TEST(Adjoint, AgreesWithDifferencesOfWholeRunsThroughImpacts) {
  for (const char* integrator : {"explicit", "stiff"}) {
    const Names unknowns{"body.0.velocity_0.0", "body.0.mass"};
    const Case model = read(kCube, {fmt::format("run.compliant.integrator='{}'", integrator)});
    const GradientSolution back = gradient(model, unknowns, DerivativeMethod::adjoint);
    ASSERT_EQ(back.status, Status::success) << back.message;
    for (std::size_t j = 0; j < unknowns.size(); ++j) {
      const auto values = [&](double amount) {
        Case moved = model;
        moved.set(unknowns[j], model.get(unknowns[j]) + amount);
        return gradient(moved, {}, DerivativeMethod::adjoint).values;
      };
      constexpr double kStep = 1e-5;
      const Vector slope =
          (8 * (values(kStep) - values(-kStep)) - (values(2 * kStep) - values(-2 * kStep))) / (12 * kStep);
      for (Index i = 0; i < slope.size(); ++i)
        EXPECT_NEAR(back.gradient(i, static_cast<Index>(j)), slope[i], 2e-6 * slope.lpNorm<Eigen::Infinity>())
            << integrator << " " << unknowns[j];
    }
  }
}

/// Where contacts are coupled pieces cannot be kept through a step, and steps shrink towards a switch instead.
TEST(Adjoint, AgreesWithDifferencesOfCoupledContacts) {
  const Case model = read(kTwoFeet, {"run.tolerance=1e-13"});
  const GradientSolution back = gradient(model, {"initial.velocity.0"}, DerivativeMethod::adjoint);
  ASSERT_EQ(back.status, Status::success) << back.message;
  const auto values = [&](double amount) {
    Case moved = model;
    moved.set("initial.velocity.0", model.get("initial.velocity.0") + amount);
    return gradient(moved, {}, DerivativeMethod::adjoint).values;
  };
  constexpr double kStep = 5e-4;
  const Vector slope = (8 * (values(kStep) - values(-kStep)) - (values(2 * kStep) - values(-2 * kStep))) / (12 * kStep);
  EXPECT_LT((back.gradient.col(0) - slope).lpNorm<Eigen::Infinity>(), 1e-9 * slope.lpNorm<Eigen::Infinity>());
}

TEST(Adjoint, LeavesJumpsThatComeOrGoToColumns) {
  const Case model =
      read(kBlock, {"matrices.force=['if(t < 1.5*pull, 6, 0)', 0, -9.81]"});  // at 0.6, where the run ends
  const GradientSolution refused = gradient(model, {"pull"}, DerivativeMethod::adjoint);
  EXPECT_EQ(refused.status, Status::refused);
  EXPECT_NE(refused.message.find("'pull' makes a jump of a force come or go"), std::string::npos) << refused.message;
  EXPECT_EQ(gradient(model, {"mu"}, DerivativeMethod::adjoint).status, Status::success);
}

TEST(Adjoint, IsTakenWhereItIsCheaperAndNamedWhereThereIsNone) {
  const Case model = read(kBlock);
  EXPECT_EQ(cheaper_method(model.options(), 1, 2), DerivativeMethod::forward);
  EXPECT_EQ(cheaper_method(model.options(), 1, 100), DerivativeMethod::adjoint);
  EXPECT_EQ(cheaper_method(model.options(), 200, 100), DerivativeMethod::forward);
  const Case rigid = read(kBlock, {"run.scheme='event'"});
  EXPECT_EQ(cheaper_method(rigid.options(), 1, 100), DerivativeMethod::forward);
  try {
    gradient(rigid, {"mu"}, DerivativeMethod::adjoint);
    FAIL() << "event has no adjoint";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("scheme 'event' has no adjoint"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace stickslip::compliant_adjoint_test
