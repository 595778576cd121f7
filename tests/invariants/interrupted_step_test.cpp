// SPDX-License-Identifier: Apache-2.0
// A stop request is heard inside a step: the step does not count, and everything before it is kept.
#include <gtest/gtest.h>

#include <atomic>

#include "tests/support/body_models.hpp"

namespace stickslip {
namespace {

using namespace body_models;

/// Boxes on top of each other: the first step needs many sweeps, because nothing is known of its impulses.
BodyModel tower(int height) {
  BodyModel model;
  model.gravity = {0, 0, -9.81};
  for (int k = 0; k < height; ++k) {
    model.bodies.push_back(body("box" + std::to_string(k), 1, {0, 0, 0.5 + k}));
    model.shapes.push_back(box(k, {1, 1, 1}));
  }
  model.shapes.push_back(ground_plane());
  model.contacts = {contact("*", "*", 0.5, 0)};
  return model;
}

TEST(InterruptedStep, EndsTheRunInsideTheStepAndKeepsWhatCameBefore) {
  const BodyModel model = tower(8);
  const std::unique_ptr<System> system = make_system(model);
  std::atomic<bool> stop = false;
  SimulationHooks hooks;
  hooks.stop = &stop;
  hooks.on_row = [&](const OutputRow&) { stop = true; };  // the row of the start: no step has ended yet
  const Simulation run = simulate(*system, start(model), options(1e-3, 0.1), hooks);
  EXPECT_EQ(run.status, Status::interrupted);
  EXPECT_NE(run.message.find("everything up to there is kept"), std::string::npos) << run.message;
  EXPECT_EQ(run.steps, 0);
  EXPECT_EQ(run.trajectory.rows(), 1);
  EXPECT_EQ(run.final.t, 0.0);
  EXPECT_EQ(run.final.q, start_positions(model));
}

TEST(InterruptedStep, ARequestThatIsNeverRaisedChangesNothing) {
  const BodyModel model = tower(3);
  const std::unique_ptr<System> system = make_system(model);
  const std::atomic<bool> stop = false;
  SimulationHooks hooks;
  hooks.stop = &stop;
  const Simulation with = simulate(*system, start(model), options(1e-3, 0.05), hooks);
  const Simulation without = simulate(*system, start(model), options(1e-3, 0.05));
  EXPECT_EQ(with.status, Status::success) << with.message;
  EXPECT_EQ(with.final.q, without.final.q);
}

}  // namespace
}  // namespace stickslip
