// SPDX-License-Identifier: Apache-2.0
// After the first step a run of fixed size takes no memory: the hot loop allocates nothing.
#include <gtest/gtest.h>

#include <cmath>

#include "stickslip/io/model_file.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/ball_pendulum.hpp"
#include "tests/support/chain.hpp"
#include "tests/support/paper1_benchmark.hpp"
#include "tests/support/two_hinges.hpp"

namespace stickslip::no_allocation_test {
namespace {

/// Allocations between the end of step `from` and the end of the run.
long allocations(const System& system, const State& initial, SimulationOptions options, long from) {
  long steps = 0, at_start = 0, last = 0;
  SimulationHooks hooks;
  hooks.keep_going = [&](const State&) {
    if (++steps == from) at_start = AllocationCounter::count();
    last = AllocationCounter::count();
    return true;
  };
  const Simulation run = simulate(system, initial, options, hooks);
  EXPECT_EQ(run.status, Status::success) << run.message;
  EXPECT_GT(steps, from + 100);
  return last - at_start;
}

TEST(NoAllocation, SplittingAndMoreauOnTheTwoMassBenchmark) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (SchemeKind scheme : {SchemeKind::splitting, SchemeKind::moreau})
    EXPECT_EQ(allocations(*paper1::system(), paper1::initial(), paper1::options(scheme, 4000), 1), 0)
        << to_string(scheme);
}

TEST(NoAllocation, MoreauWithLocatedReversals) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  SimulationOptions options;
  options.step = 0.01;
  options.end_time = 30;
  EXPECT_EQ(allocations(*two_hinges::system(0.1, 0.1), two_hinges::initial(), options, 1), 0);
}

TEST(NoAllocation, ChainWithBandedMatricesAndThinnedOutput) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  SimulationOptions options = friction_chain::options(500);
  options.output_step = 50 * options.step;
  EXPECT_EQ(allocations(*friction_chain::system(200), friction_chain::initial(200), options, 1), 0);
}

TEST(NoAllocation, ChainOfSpringDampersOnceItsLawsHaveSlippedAndStuck) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  SimulationOptions options = friction_chain::options(400);
  options.scheme = SchemeKind::viscoelastic;
  EXPECT_EQ(allocations(*friction_chain::system(40), friction_chain::initial(40), options, 100), 0);
}

TEST(NoAllocation, PositionsOnAManifold) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  const auto system = ball_pendulum::make({}, {ball_pendulum::joint_friction(2, 0.05)});
  State initial;
  initial.q = Vector{{1, 0, 0, 0}};
  initial.v = Vector{{0.4, -0.2, 1.5}};
  SimulationOptions options;
  options.step = 1.0 / 256;
  options.end_time = 2;
  EXPECT_EQ(allocations(*system, initial, options, 1), 0);
  options.scheme = SchemeKind::viscoelastic;
  EXPECT_EQ(allocations(*system, initial, options, 200), 0);
}

/// Of `event`, in the steps of the grid between its events: a step with an event, and the one after it, may allocate.
void expect_none_between_events(const System& system, const State& initial, double step, double end_time) {
  SimulationOptions options;
  options.scheme = SchemeKind::event;
  options.step = step;
  options.end_time = end_time;
  long quiet = 0, counted = 0, events = 0, last = 0, sum = 0;
  SimulationHooks hooks;
  hooks.on_event = [&](const Event&) {
    quiet = 0;
    ++events;
  };
  hooks.keep_going = [&](const State&) {
    const long now = AllocationCounter::count();
    if (++quiet > 2) {
      sum += now - last;
      ++counted;
    }
    last = now;
    return true;
  };
  const Simulation run = simulate(system, initial, options, hooks);
  EXPECT_EQ(run.status, Status::success) << run.message;
  // The rows of the result, one per step here, double their memory now and then.
  EXPECT_LE(sum, 2 * std::log2(static_cast<double>(counted))) << "in " << counted << " steps";
  EXPECT_GT(counted, 100);
  EXPECT_GT(events, 3);
}

TEST(NoAllocation, EventOnItsExactFlowBetweenEvents) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  expect_none_between_events(*two_hinges::system(0.1, 0.1), two_hinges::initial(), 0.01, 10);
}

TEST(NoAllocation, EventOnAManifoldBetweenEvents) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  State initial;
  initial.q = Vector{{1, 0, 0, 0}};
  initial.v = Vector{{0.4, -0.2, 1.5}};
  expect_none_between_events(*ball_pendulum::make({}, {ball_pendulum::joint_friction(2, 0.05)}), initial, 1.0 / 256, 4);
}

/// Masses that vary, laws that stick two at a time, a constraint, a contact that slides and rests.
TEST(NoAllocation, EventWithItsIntegratorBetweenEvents) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  const char* const pendulum = R"toml(
[equations]
coordinates    = ["a", "b"]
kinetic_energy = "v_a^2 + 0.5*v_b^2 + cos(a - b)*v_a*v_b"
potential      = "-2*cos(a) - cos(b)"
force          = ["0.6*sin(3*t)", "0"]
[[friction]]
on    = "a"
limit = 0.5
[[friction]]
direction = [-1, 1]
limit     = 0.2
static_limit = 0.25
[initial]
position = [1.2, -0.4]
[run]
scheme   = "event"
end_time = 10
)toml";
  const char* const crank = R"toml(
[equations]
coordinates    = ["phi", "x"]
kinetic_energy = "0.5*(1 + 0.1*cos(phi))*v_phi^2 + 0.5*v_x^2"
potential      = "0.5*(x - 1)^2"
force          = ["0.4*cos(2*t)", "0"]
[[constraint]]
name     = "rod"
position = "x - cos(phi)"
[[friction]]
on    = "x"
limit = 0.15
[initial]
position = [1, 0.5403023058681398]
[run]
scheme   = "event"
end_time = 10
)toml";
  const char* const block = R"toml(
[equations]
coordinates = ["x", "y"]
mass        = [["1 + 0.1*x^2", 0], [0, 1]]
force       = ["0.6*9.81*sin(2*t)", "-9.81"]
[[contact]]
gap  = "y"
slip = ["x"]
mu   = 0.4
[initial]
position = [0, 0]
[run]
scheme   = "event"
end_time = 10
)toml";
  for (const char* const text : {pendulum, crank, block}) {
    SCOPED_TRACE(text);
    const ModelFile model = parse_model(text, "model.toml");
    expect_none_between_events(*model.system, model.initial, 1.0 / 128, 10);
  }
}

TEST(NoAllocation, EventWithoutLaws) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  SimulationOptions options;
  options.scheme = SchemeKind::event;
  options.step = 1.0 / 64;
  options.end_time = 8;
  State initial;
  initial.q = Vector{{1, 0, 0, 0}};
  initial.v = Vector{{0.4, -0.2, 1.5}};
  EXPECT_EQ(allocations(*ball_pendulum::make(), initial, options, 10), 0);
}

TEST(NoAllocation, GridWithSparseMatrices) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  EXPECT_EQ(allocations(*friction_chain::grid(20), friction_chain::initial(400), friction_chain::options(300), 1), 0);
}

}  // namespace
}  // namespace stickslip::no_allocation_test
