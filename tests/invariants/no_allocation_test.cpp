// SPDX-License-Identifier: Apache-2.0
// After the first step a run of fixed size takes no memory: the hot loop allocates nothing.
#include <gtest/gtest.h>

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
