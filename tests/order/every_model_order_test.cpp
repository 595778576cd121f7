// SPDX-License-Identifier: Apache-2.0
// moreau has order 2 through reversals for every kind of model: equations, constraints, friction that depends on a
// reaction, contacts that stay closed. Errors are those against `event`, whose tolerance is far below them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/comparison.hpp"
#include "tests/support/audit_value.hpp"
#include "tests/support/source_folder.hpp"

namespace stickslip::every_model_order_test {
namespace {

Simulation run(const std::string& text, const std::vector<std::string>& settings) {
  const ModelFile model = parse_model(text, "m.toml", settings);
  Simulation result = simulate(*model.system, model.initial, model.run);
  EXPECT_EQ(result.status, Status::success) << result.message;
  return result;
}

State exact(const std::string& text) { return run(text, {"run.scheme=\"event\"", "run.tolerance=1e-12"}).final; }

double error(const std::string& text, double h, const State& reference) {
  const State end = run(text, {"run.scheme=\"moreau\"", "run.step=" + std::to_string(h)}).final;
  return (end.q - reference.q).lpNorm<Eigen::Infinity>() + (end.v - reference.v).lpNorm<Eigen::Infinity>();
}

/// Slope of the errors over four halvings, from the first to the last: single pairs scatter with the place of the
/// events in their steps.
double order(const std::string& text, double h, const State& reference) {
  const double coarse = error(text, h, reference), fine = error(text, h / 16, reference);
  EXPECT_LT(fine, coarse);
  return std::log(coarse / fine) / std::log(16);
}

constexpr double kLeast = 1.8;

const std::string kTwoHinges = R"toml(
[equations]
coordinates = ["y1", "y2"]
mass = [[2, 1], [1, 1]]
potential = "y1^2 + 1.25*y2^2"
[[friction]]
on = "y1"
limit = 0.1
[[friction]]
on = "y2"
limit = 0.1
[initial]
position = [1, 0.2]
[run]
step = 0.1
end_time = 9
)toml";

TEST(OrderOfEveryModel, EquationsWithReversals) { EXPECT_GT(order(kTwoHinges, 0.05, exact(kTwoHinges)), kLeast); }

TEST(OrderOfEveryModel, EquationsWithAnInertiaThatTurns) {
  const std::string pendulum = R"toml(
[equations]
coordinates = ["a", "b"]
kinetic_energy = "v_a^2 + 0.5*v_b^2 + v_a*v_b*cos(a - b)"
potential = "-9.81*(2*cos(a) + cos(b))"
[[friction]]
on = "a"
limit = 1.5
static_limit = 1.8
[[friction]]
direction = [-1, 1]
limit = 0.4
[initial]
position = [0.7, -0.3]
[run]
step = 0.01
end_time = 2
)toml";
  EXPECT_GT(order(pendulum, 0.01, exact(pendulum)), kLeast);
}

TEST(OrderOfEveryModel, PendulumOnItsRodWithJointFriction) {
  const std::string text = R"toml(
[equations]
coordinates = ["x", "y", "phi"]
mass = [[1, 0, 0], [0, 1, 0], [0, 0, 0.1]]
potential = "9.81*y"
[[constraint]]
position = "x - sin(phi)"
[[constraint]]
position = "y + cos(phi)"
[[friction]]
on = "phi"
limit = 0.8
[initial]
position = ["sin(1)", "-cos(1)", 1]
[run]
step = 0.01
end_time = 3
)toml";
  EXPECT_GT(order(text, 0.02, exact(text)), kLeast);
}

const std::string kCrank = R"toml(
[parameters]
r = 0.1
l = 0.3
mu = 0.2
[equations]
coordinates = ["phi", "psi", "x", "y"]
mass = [[0.02, 0, 0, 0], [0, 0.005, 0, 0], [0, 0, 2, 0], [0, 0, 0, 2]]
potential = "2*9.81*y"
force = [1, 0, 0, 0]
[initial]
position = [0.5, "-asin(r*sin(0.5)/l)", "r*cos(0.5) + sqrt(l^2 - (r*sin(0.5))^2)", 0]
consistent = "project"
[run]
step = 0.001
end_time = 0.6
[[constraint]]
name = "cx"
position = "r*cos(phi) + l*cos(psi) - x"
[[constraint]]
name = "cy"
position = "r*sin(phi) + l*sin(psi) - y"
)toml";
const std::string kByReaction = R"toml(
[[constraint]]
name = "guide"
position = "y"
[[friction]]
on = "x"
limit = "mu*abs(r_guide)"
)toml";
const std::string kByContacts = R"toml(
[[contact]]
gap = "y"
slip = "x"
mu = "mu"
[[contact]]
gap = "-y"
slip = "x"
mu = "mu"
)toml";

TEST(OrderOfEveryModel, CrankWhoseGuideRubsByItsReaction) {
  const State reference = exact(kCrank + kByContacts);
  EXPECT_GT(order(kCrank + kByReaction, 0.004, reference), kLeast);
}

TEST(OrderOfEveryModel, CrankBetweenTwoContacts) {
  const State reference = exact(kCrank + kByContacts);
  EXPECT_GT(order(kCrank + kByContacts, 0.004, reference), kLeast);
}

TEST(ContactsBesideConstraints, StayWhereTheyAreWhenConstraintsAreCorrected) {
  for (const char* step : {"0.004", "0.001"}) {
    const Simulation s = run(kCrank + kByContacts, {std::string("run.step=") + step});
    ASSERT_EQ(s.status, Status::success) << s.message;
    EXPECT_LT(std::abs(s.final.q[3]), 1e-16) << step;
    // The lower contact carries the load all the time; the upper one, which touches without any, counts as open at
    // once.
    EXPECT_EQ(s.event_counts[static_cast<std::size_t>(EventKind::open)], 1) << step;
    EXPECT_EQ(s.event_counts[static_cast<std::size_t>(EventKind::close)], 0) << step;
  }
}

TEST(OrderOfEveryModel, BlockThatTurnsBackOnTheFloor) {
  const std::string block = R"toml(
[matrices]
coordinates = ["x", "y"]
mass = [[1, 0], [0, 1]]
stiffness = [[40, 0], [0, 0]]
force = [0, -9.81]
[[contact]]
gap = "y"
slip = "x"
mu = 0.15
[initial]
position = [1, 0]
[run]
step = 0.01
end_time = 2.2
)toml";
  EXPECT_GT(order(block, 0.02, exact(block)), kLeast);
}

TEST(ConstraintsInAStep, HoldToRoundOffAndRedundantRowsChangeNothing) {
  const std::string text = kCrank + kByReaction;
  const Simulation once = run(text, {"run.scheme=\"moreau\""});
  const Simulation twice =
      run(kCrank +
              "[[constraint]]\nname = \"guide\"\nposition = \"y\"\n[[constraint]]\nname = \"again\"\n"
              "position = \"y\"\n[[friction]]\non = \"x\"\nlimit = \"mu*abs(r_guide + r_again)\"\n",
          {"run.scheme=\"moreau\""});
  // Shares of the redundant rows differ by rounding, which the dynamics of 600 steps carries on.
  EXPECT_LT((once.final.q - twice.final.q).lpNorm<Eigen::Infinity>(), 1e-11);
  EXPECT_LT(std::abs(once.final.q[3]), 1e-15);
  for (const AuditItem& item : once.audit)
    if (item.name.starts_with("constraint_")) {
      EXPECT_TRUE(item.guaranteed && item.ok) << item.name << " " << item.value;
    }
}

TEST(ConstraintsInAStep, AndrewsMechanismConvergesToItsMotionAndKeepsItsRows) {
  // Seven bodies, six constraints, spins of 1400 rad/s: over 0.01 s, a third of the published time.
  auto motion = [](const std::vector<std::string>& settings) {
    std::vector<std::string> all{"run.end_time=0.01"};
    all.insert(all.end(), settings.begin(), settings.end());
    const ModelFile model = read_model(source_folder() + "/models/andrews.toml", all);
    return simulate(*model.system, model.initial, model.run);
  };
  const Simulation exact = motion({"run.scheme=\"event\"", "run.tolerance=1e-11"});
  ASSERT_EQ(exact.status, Status::success) << exact.message;
  std::vector<double> steps{1e-4, 5e-5, 2.5e-5}, errors;
  for (const double h : steps) {
    const Simulation s = motion({"run.scheme=\"moreau\"", fmt::format("run.step={}", h)});
    ASSERT_EQ(s.status, Status::success) << s.message;
    EXPECT_TRUE(audit_item(s, "constraint_position").ok && audit_item(s, "constraint_velocity").ok);
    EXPECT_LT(audit_value(s, "constraint_position"), 1e-14);  // [m] of lengths of 0.07
    errors.push_back((s.final.q - exact.final.q).lpNorm<Eigen::Infinity>());
  }
  EXPECT_NEAR(fitted_order(steps, errors), 2, 0.2);
}

TEST(ConstraintsInAStep, FrictionHoldsAMechanismToTheLastBit) {
  const std::string text = kCrank + "[[friction]]\non = \"phi\"\nlimit = 1.2\n[[constraint]]\nposition = \"y\"\n";
  const ModelFile model = parse_model(text, "m.toml", std::vector<std::string>{"run.scheme=\"moreau\""});
  const Simulation held = simulate(*model.system, model.initial, model.run);
  ASSERT_EQ(held.status, Status::success) << held.message;
  EXPECT_EQ(held.final.q[0], model.initial.q[0]);
  EXPECT_EQ(held.final.v[0], 0.0);
}

}  // namespace
}  // namespace stickslip::every_model_order_test
