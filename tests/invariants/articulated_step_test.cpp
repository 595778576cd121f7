// SPDX-License-Identifier: Apache-2.0
// Steps of trees without a matrix (motion/moreau/articulated_step.hpp): the motion that Newton's method with the matrix
// has, events and reactions included; in any units; bit by bit after a stop; without allocation; and that they are
// taken at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/chain_model.hpp"
#include "tests/support/watched_system.hpp"

namespace stickslip::articulated_step_test {
namespace {

struct Chain {
  explicit Chain(BodyModel of) : model(std::move(of)) {
    start.q = start_positions(model);
    start.v = start_velocities(model);
    options.step = 1e-3;
    options.end_time = 0.5;
  }
  Simulation run(const System& system, const SimulationHooks& hooks = {}) const {
    Simulation result = simulate(system, start, options, hooks);
    EXPECT_EQ(result.status, Status::success) << result.message;
    return result;
  }
  Simulation run() const { return run(*make_system(model)); }
  /// The matrix and Newton's method: systems whose forces were replaced have no articulation.
  Simulation with_matrix() const {
    return run(WatchedSystem(make_system(model), [](long, double) {}));
  }

  BodyModel model;
  State start;
  SimulationOptions options;
};

void expect_same_motion(const Simulation& a, const Simulation& b, double tolerance) {
  EXPECT_LE((a.final.q - b.final.q).norm(), tolerance * b.final.q.norm());
  EXPECT_LE((a.final.v - b.final.v).norm(), tolerance * b.final.v.norm());
  EXPECT_LE((a.final_reaction - b.final_reaction).norm(), tolerance * b.final_reaction.norm());
  ASSERT_EQ(a.trajectory.events.size(), b.trajectory.events.size());
  for (std::size_t k = 0; k < a.trajectory.events.size(); ++k) {
    EXPECT_EQ(a.trajectory.events[k].law, b.trajectory.events[k].law) << k;
    EXPECT_EQ(a.trajectory.events[k].kind, b.trajectory.events[k].kind) << k;
    EXPECT_NEAR(a.trajectory.events[k].t, b.trajectory.events[k].t, tolerance) << k;
  }
  ASSERT_EQ(a.audit.size(), b.audit.size());
  for (std::size_t k = 0; k < a.audit.size(); ++k) {
    if (a.audit[k].name != "energy_friction_loss" && a.audit[k].name != "energy_damper_loss") continue;
    EXPECT_NEAR(a.audit[k].value, b.audit[k].value, tolerance * std::abs(b.audit[k].value) + 1e-15) << a.audit[k].name;
  }
}

/// Both solve the same equations to round-off, which 500 steps of the chain amplify.
constexpr double kRoundOff = 1e-9;

TEST(ArticulatedStep, HasTheMotionOfTheStepWithItsMatrix) {
  for (const int links : {1, 2, 6, 12}) {
    const Chain chain(test::chain_model(links, 0.02));
    const Simulation result = chain.run();
    expect_same_motion(result, chain.with_matrix(), kRoundOff);
    EXPECT_GT(result.trajectory.events.size(), 0u);
  }
}

TEST(ArticulatedStep, LikewiseWithoutLocationAndWithAnotherTheta) {
  Chain chain(test::chain_model(5, 0.02));
  chain.options.moreau.locate_reversals = false;
  expect_same_motion(chain.run(), chain.with_matrix(), kRoundOff);
  chain.options.moreau.theta = 0.7;
  expect_same_motion(chain.run(), chain.with_matrix(), kRoundOff);
}

/// Springs and dampers so stiff that they must be implicit, a constant motor, hinges without friction, a slider, a
/// branch with a turned frame.
TEST(ArticulatedStep, LikewiseWithForcesBesideGravity) {
  BodyModel model = test::chain_model(6, 0.02);
  model.friction.erase(model.friction.begin() + 2);
  model.hinges[1].stiffness = {2000.0};
  model.hinges[1].damping = {50.0};
  model.hinges[3].force = {StateFunction(0.05)};
  model.hinges[4].axes = {HingeAxis::tx};
  model.hinges[4].stiffness = {500.0};
  model.hinges[5].parent = 2;
  model.hinges[5].orientation = Eigen::Quaterniond(Eigen::AngleAxisd(0.7, Eigen::Vector3d(1, 2, -1).normalized()));
  Chain chain(model);
  chain.options.end_time = 0.2;  // rounding grows a hundredfold in 0.1 s here, whichever step is taken
  expect_same_motion(chain.run(), chain.with_matrix(), kRoundOff);
}

/// Of t, the angles q0, q1, ... and their rates v_q0, ...
StateFunction function_of(int links, const std::string& text) {
  std::vector<std::string> names;
  for (int i = 0; i < links; ++i) names.push_back("q" + std::to_string(i));
  return StateFunction(Expression::parse(text, state_symbols(names, {})));
}

/// Motors that follow time and state; forces of time by their mean over the step, by their value in its middle or at
/// its end.
TEST(ArticulatedStep, LikewiseWithMotors) {
  BodyModel model = test::chain_model(4, 0.02);
  model.hinges[0].force = {function_of(4, "0.5*sin(40*t) - 0.01*v_q0")};
  model.hinges[2].force = {function_of(4, "0.1*cos(70*t)")};
  Chain chain(model);
  for (const ForceSampling force : {ForceSampling::mean, ForceSampling::midpoint, ForceSampling::end}) {
    chain.options.moreau.force = force;
    expect_same_motion(chain.run(), chain.with_matrix(), kRoundOff);
  }
}

/// Steps near a stop are taken with the matrix, the others without: impacts, rest on the stop and leaving it are the
/// same.
TEST(ArticulatedStep, LikewiseWithStops) {
  BodyModel model = test::chain_model(3, 0.02);
  model.hinges[0].force = {function_of(3, "2*sin(12*t)")};
  for (const auto& [name, gap] : {std::pair{"low", "q0 + 0.1"}, {"high", "0.6 - q0"}}) {
    ExpressionContact stop;
    stop.law = {.name = name, .tangents = 0, .restitution = 0.3};
    stop.gap = function_of(3, gap);
    model.stops.push_back(stop);
  }
  Chain chain(model);
  chain.options.end_time = 0.45;  // soon after, what is left of the blows is rounding
  const Simulation result = chain.run();
  expect_same_motion(result, chain.with_matrix(), kRoundOff);
  const auto& events = result.trajectory.events;
  EXPECT_GT(std::count_if(events.begin(), events.end(), [](const Event& e) { return e.kind == EventKind::impact; }), 2);
}

/// A limit that nothing reaches: nothing moves, to the last bit. And one hinge that gives way beside others that do
/// not.
TEST(ArticulatedStep, WhatSticksDoesNotMove) {
  const Chain strong(test::chain_model(6, 100.0));
  const Simulation still = strong.run();
  EXPECT_EQ(still.final.q, strong.start.q);
  EXPECT_EQ(still.final.v, Vector(Vector::Zero(6)));
  BodyModel model = test::chain_model(6, 100.0);
  model.friction[2].limit = 0.01;
  const Chain one(model);
  const Simulation moved = one.run();
  for (Index i = 0; i < 6; ++i) EXPECT_EQ(moved.final.q[i] != one.start.q[i], i == 2) << i;
}

/// Forces and inertia cancel: what is left is rounding, and the audit measures it against what cancels.
TEST(ArticulatedStep, FallsFreely) {
  BodyModel model = test::chain_model(3, 0.02);
  model.hinges[0].axes = {HingeAxis::tz};
  model.friction.erase(model.friction.begin());
  const Chain chain(model);
  const Simulation result = chain.run();
  EXPECT_NEAR(result.final.v[0], -9.81 * 0.5, 1e-12);
  EXPECT_EQ(result.final.v[1], 0);
  EXPECT_EQ(result.final.v[2], 0);
}

/// Lengths, masses and times in powers of two: the same numbers.
TEST(ArticulatedStep, IsTheSameInOtherUnits) {
  Chain plain(test::chain_model(6, 0.02));
  plain.options.step = 0x1p-10;  // times of the grid are decimal numbers: those of 1 ms would be rounded otherwise
  const Simulation expected = plain.run();
  for (const auto& [length, mass, time] : {std::array{0x1p20, 1.0, 1.0},
                                           {0x1p-20, 1.0, 1.0},
                                           {1.0, 0x1p20, 1.0},
                                           {1.0, 1.0, 0x1p20},
                                           {0x1p-20, 0x1p-20, 0x1p-20}}) {
    const double torque = mass * length * length / (time * time);
    BodyModel model = test::chain_model(6, 0.02 * torque);
    model.gravity *= length / (time * time);
    for (RigidBody& body : model.bodies) {
      body.mass *= mass;
      body.center *= length;
      body.inertia = *body.inertia * (mass * length * length);
    }
    for (Hinge& hinge : model.hinges) hinge.position *= length;
    Chain chain(model);
    chain.options.step = plain.options.step * time;
    chain.options.end_time *= time;
    const Simulation scaled = chain.run();
    EXPECT_EQ(scaled.final.q, expected.final.q) << length << " " << mass << " " << time;
    EXPECT_EQ(Vector(scaled.final.v * time), expected.final.v) << length << " " << mass << " " << time;
    EXPECT_EQ(scaled.trajectory.events.size(), expected.trajectory.events.size());
  }
}

TEST(ArticulatedStep, GoesOnAfterAStopAsIfThereHadBeenNone) {
  const Chain chain(test::chain_model(6, 0.02));
  const auto system = make_system(chain.model);
  const Simulation whole = chain.run(*system);
  SimulationHooks hooks;
  hooks.keep_going = [](const State& s) { return s.t < 0.2; };
  const Simulation begun = simulate(*system, chain.start, chain.options, hooks);
  ASSERT_EQ(begun.status, Status::interrupted);
  hooks.keep_going = nullptr;
  hooks.resume = &begun.last;
  const Simulation rest = simulate(*system, chain.start, chain.options, hooks);
  EXPECT_EQ(rest.final.q, whole.final.q);
  EXPECT_EQ(rest.final.v, whole.final.v);
}

TEST(ArticulatedStep, AllocatesNothingAfterTheFirst) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  const Chain chain(test::chain_model(6, 0.02));
  long steps = 0, first = 0, last = 0;
  SimulationHooks hooks;
  hooks.keep_going = [&](const State&) {
    last = AllocationCounter::count();
    if (++steps == 1) first = last;
    return true;
  };
  chain.run(*make_system(chain.model), hooks);
  EXPECT_EQ(last, first);
}

/// The steps of a hundred links would fill an hour with matrices; and order 2 is kept where they all move.
TEST(ArticulatedStep, OrderIsTwoWithManyLinks) {
  Chain chain(test::chain_model(40, 0.02));
  chain.options.end_time = 0.4;
  const auto system = make_system(chain.model);
  const auto end = [&](double step) {
    chain.options.step = step;
    return chain.run(*system).final.q;
  };
  const Vector fine = end(0.125e-3), coarse = end(1e-3), half = end(0.5e-3);
  EXPECT_GT(std::log2((coarse - fine).norm() / (half - fine).norm()), 1.8);
}

}  // namespace
}  // namespace stickslip::articulated_step_test
