// SPDX-License-Identifier: Apache-2.0
// A stop request is heard inside a step: the step does not count, and everything before it is kept.
#include <gtest/gtest.h>

#include <atomic>

#include "stickslip/motion/comparison.hpp"
#include "stickslip/motion/event/mode_decision.hpp"
#include "tests/support/body_models.hpp"
#include "tests/support/chain.hpp"
#include "tests/support/watched_system.hpp"

namespace stickslip::interrupted_step_test {
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

/// A chain that is asked for two rows alone, so that everything happens inside one interval of the output. The request
/// comes while the forces are evaluated, at a given number of evaluations after the start.
struct StoppedInside {
  Simulation run;
  long after_request = 0;  ///< evaluations of the forces that followed it
  double requested_at = 0;
};

StoppedInside stop_inside(SchemeKind scheme, FlowKind flow, IntegratorKind integrator, long evaluation) {
  std::atomic<bool> stop = false;
  StoppedInside result;
  long raised_at = 0;
  const WatchedSystem system(friction_chain::system(5), [&](long count, double t) {
    if (count < evaluation || raised_at > 0) return;
    stop = true;
    raised_at = count;
    result.requested_at = t;
  });
  SimulationOptions options;
  options.scheme = scheme;
  options.end_time = 20;
  options.output_step = 15;
  options.event.flow = flow;
  options.event.integrator = integrator;
  options.viscoelastic.integrator = integrator;
  SimulationHooks hooks;
  hooks.stop = &stop;
  result.run = simulate(system, friction_chain::initial(5), options, hooks);
  result.after_request = system.evaluations() - raised_at;
  return result;
}

void expect_stopped_inside(const StoppedInside& stopped) {
  const Simulation& run = stopped.run;
  EXPECT_EQ(run.status, Status::interrupted) << run.message;
  EXPECT_NE(run.message.find("everything up to there is kept"), std::string::npos) << run.message;
  EXPECT_EQ(run.trajectory.rows(), 1);  // the row at 15 s is not due yet
  // What was computed inside the interval counts: the state is that of the last whole step or segment.
  EXPECT_GT(run.final.t, 0.0);
  EXPECT_LE(run.final.t, stopped.requested_at);
  EXPECT_LE(stopped.after_request, 3);  // heard before the next stage is evaluated
}

TEST(InterruptedStep, AnIntegrationIntervalIsEndedBetweenTwoEvaluations) {
  const auto explicit_method = IntegratorKind::dormand_prince, implicit_method = IntegratorKind::radau;
  expect_stopped_inside(stop_inside(SchemeKind::viscoelastic, FlowKind::automatic, implicit_method, 300));
  expect_stopped_inside(stop_inside(SchemeKind::viscoelastic, FlowKind::automatic, explicit_method, 300));
  expect_stopped_inside(stop_inside(SchemeKind::event, FlowKind::integrator, explicit_method, 300));
  expect_stopped_inside(stop_inside(SchemeKind::event, FlowKind::integrator, implicit_method, 300));
  expect_stopped_inside(stop_inside(SchemeKind::event, FlowKind::exact, explicit_method, 40));
}

TEST(InterruptedStep, WhatWasComputedInsideTheIntervalLiesOnTheMotion) {
  const StoppedInside stopped = stop_inside(SchemeKind::viscoelastic, FlowKind::automatic, IntegratorKind::radau, 300);
  const std::unique_ptr<System> system = friction_chain::system(5);
  SimulationOptions options;
  options.scheme = SchemeKind::viscoelastic;
  options.end_time = 20;
  options.output_times = {stopped.run.final.t, 20};
  const Simulation whole = simulate(*system, friction_chain::initial(5), options);
  ASSERT_EQ(whole.status, Status::success) << whole.message;
  // Rows do not bend the integrator's steps, so the two are the same numbers.
  for (Index i = 0; i < 5; ++i) EXPECT_EQ(whole.trajectory.q(0, i), stopped.run.final.q[i]);
}

TEST(InterruptedStep, RowsAlreadyDueAreThere) {
  std::atomic<bool> stop = false;
  const WatchedSystem system(friction_chain::system(5), [&](long, double t) {
    if (t > 7.3) stop = true;
  });
  SimulationHooks hooks;
  hooks.stop = &stop;
  SimulationOptions options;
  options.end_time = 20;
  options.output_step = 2;
  for (const SchemeKind scheme : {SchemeKind::viscoelastic, SchemeKind::event}) {
    stop = false;
    options.scheme = scheme;
    const Simulation run = simulate(system, friction_chain::initial(5), options, hooks);
    EXPECT_EQ(run.status, Status::interrupted);
    ASSERT_EQ(run.trajectory.rows(), 4) << to_string(scheme);  // 0, 2, 4, 6
    EXPECT_EQ(run.trajectory.t(3), 6.0);
    EXPECT_GE(run.final.t, 6.0);
  }
}

TEST(InterruptedStep, ADecisionOfManyModesHearsIt) {
  // Static above dynamic limits: all 3^9 combinations are tried.
  DecisionProblem problem;
  const Index n = 9;
  problem.D = DenseMatrix::Identity(n, n);
  problem.b = Vector::Constant(n, 0.5);
  for (Index i = 0; i < n; ++i) problem.laws.push_back({interval_set(0.4), 0.6, LawRole::stuck});
  const std::atomic<bool> stop = true;
  DecisionOptions options;
  options.stop = &stop;
  EXPECT_EQ(decide_modes(problem, options).status, Status::interrupted);
  EXPECT_EQ(decide_modes(problem).status, Status::success);
}

TEST(InterruptedStep, ComparisonsHearItInsideARun) {
  std::atomic<bool> stop = false;
  const WatchedSystem system(friction_chain::system(5), [&](long count, double) { stop = count >= 50; });
  SimulationOptions base;
  base.step = 0.01;
  base.end_time = 5;
  ComparisonOptions options;
  options.schemes = {SchemeKind::event};
  options.steps = {0.01};
  options.samples = 1;
  options.stop = &stop;
  const Comparison comparison = compare_schemes(system, friction_chain::initial(5), base, options);
  EXPECT_EQ(comparison.status, Status::interrupted) << comparison.message;
  EXPECT_LE(system.evaluations(), 56);  // to the end of the instant at hand
}

}  // namespace
}  // namespace stickslip::interrupted_step_test
