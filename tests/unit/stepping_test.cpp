// SPDX-License-Identifier: Apache-2.0
// Runs step by step, inputs and functions of a program.
#include "stickslip/motion/stepping.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/io/model_case.hpp"

namespace stickslip::stepping_test {
namespace {

constexpr const char* kBlock = R"toml(
[inputs]
push = 2.0
[matrices]
mass  = [[1]]
force = ["push(t)"]
[[friction]]
name  = "table"
on    = "x1"
limit = 1.0
[run]
step     = 0.125
end_time = 4
)toml";

ModelFile block(const char* scheme) {
  return parse_model(kBlock, "block.toml", std::vector<std::string>{std::string("run.scheme=") + scheme});
}

/// 2 N for 1 s, then the push that is given, up to 4 s.
Simulation pushed(const ModelFile& model, double then) {
  Stepping run(*model.system, model.initial, model.run);
  bool goes_on = true;
  while (goes_on) {
    model.inputs[0].set(run.state().t < 1 ? 2.0 : then);
    run.inputs_changed();
    goes_on = run.step();
  }
  return run.finish();
}

TEST(Stepping, GivesTheBitsOfSimulate) {
  for (const char* scheme : {"moreau", "splitting", "event"}) {
    const ModelFile model = block(scheme);
    const Simulation whole = simulate(*model.system, model.initial, model.run);
    Stepping run(*model.system, model.initial, model.run);
    long steps = 1;
    while (run.step()) ++steps;
    const Simulation parts = run.finish();
    EXPECT_EQ(steps, whole.steps);
    EXPECT_EQ(parts.final.q, whole.final.q);
    EXPECT_EQ(parts.final.v, whole.final.v);
    EXPECT_EQ(parts.status, Status::success);
    EXPECT_FALSE(run.step());
  }
}

TEST(Stepping, InputsCountFromTheStepOnThatTheyAreSetFor) {
  // a = 1 over 1 s: x = 1/2, v = 1. Without push -1 over 1 s: x = 1, and it rests there exactly.
  for (const char* scheme : {"moreau", "event"}) {
    const Simulation run = pushed(block(scheme), 0.0);
    EXPECT_EQ(run.status, Status::success) << run.message;
    EXPECT_NEAR(run.final.q[0], 1.0, 1e-12) << scheme;
    EXPECT_EQ(run.final.v[0], 0.0);
    EXPECT_EQ(run.final.modes[0], Mode::stick);
  }
}

TEST(Stepping, AJumpThatChangesAModeIsAnEvent) {
  const ModelFile model = block("event");
  model.inputs[0].set(0.5);
  Stepping run(*model.system, model.initial, model.run);
  run.step();
  EXPECT_EQ(run.state().modes[0], Mode::stick);
  model.inputs[0].set(3.0);
  run.inputs_changed();
  run.step();
  const Simulation simulation = run.finish();
  ASSERT_EQ(simulation.trajectory.events.size(), 1u);
  EXPECT_EQ(simulation.trajectory.events[0].kind, EventKind::slip);
  EXPECT_EQ(simulation.trajectory.events[0].t, 0.125);
  EXPECT_NEAR(simulation.final.v[0], 2 * 0.125, 1e-12);
}

TEST(ModelInput, AnotherModelFromMemoryHasCellsOfItsOwn) {
  const ModelFile first = block("moreau"), second = with_overrides(first, {});
  first.inputs[0].set(5.0);
  EXPECT_EQ((*first.inputs[0].value)(0.0), 5.0);
  EXPECT_EQ((*second.inputs[0].value)(0.0), 2.0);
  EXPECT_EQ(make_case(first).get("inputs.push"), 2.0);
}

TEST(ProgramFunction, StandsForAnExpression) {
  const std::string text = R"toml(
[matrices]
mass  = [[1]]
force = [{ function = "push" }]
[run]
step     = 0.01
end_time = 1
)toml";
  auto functions = std::make_shared<ProgramFunctions>();
  (*functions)["push"] = [](double t, std::span<const double> q, std::span<const double> v) {
    return std::cos(t) - q[0] - 0.1 * v[0];
  };
  const Simulation ours = make_case(parse_model(text, "model.toml", {}, {}, functions)).run();
  std::string other = text;
  other.replace(other.find("{ function = \"push\" }"), 21, "\"cos(t) - x1 - 0.1*v_x1\"");
  const Simulation written = make_case(parse_model(other, "model.toml")).run();
  EXPECT_NEAR(ours.final.q[0], written.final.q[0], 1e-10);
  EXPECT_THROW(parse_model(text, "model.toml"), InputError);
  (*functions)["pull"] = functions->extract("push").mapped();
  EXPECT_THROW(parse_model(text, "model.toml", {}, {}, functions), InputError);
}

}  // namespace
}  // namespace stickslip::stepping_test
