// SPDX-License-Identifier: Apache-2.0
// Impacts by every law at one contact allocate nothing after the first.
#include <gtest/gtest.h>

#include <array>

#include "stickslip/solvers/impact.hpp"
#include "tests/support/allocation_counter.hpp"
#include "tests/support/contact_models.hpp"

namespace stickslip::impact_allocation_test {
namespace {

TEST(ImpactAllocation, SolvingTheLawAtOneContactTakesNoMemory) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer counts allocations itself";
  for (const ImpactLaw law : {ImpactLaw::poisson, ImpactLaw::energetic})
    for (const int size : {1, 2, 3}) {
      ImpactProblem problem{DenseMatrix::Identity(size, size),
                            Vector::Constant(size, -1),
                            {{size == 1 ? half_line_set() : friction_cone_set(0.4, size), 0.7, law}}};
      if (size > 1) problem.D(0, 1) = problem.D(1, 0) = 0.3;
      ImpactWorkspace workspace;
      ImpactSolution solution;
      solve(problem, {}, workspace, solution);
      ASSERT_EQ(solution.status, Status::success);
      const long before = AllocationCounter::count();
      for (int k = 0; k < 10; ++k) solve(problem, {}, workspace, solution);
      EXPECT_EQ(AllocationCounter::count() - before, 0) << to_string(law) << ' ' << size;
    }
}

/// The rows of a contact that comes and goes are laid out anew; the laws add nothing to that.
TEST(ImpactAllocation, ABallThatBouncesUnderMoreauTakesNoMoreMemoryThanWithNewtonsLaw) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer counts allocations itself";
  long with_newton = 0;
  for (const ImpactLaw law : {ImpactLaw::newton, ImpactLaw::poisson, ImpactLaw::energetic}) {
    MatrixModel model;
    model.coordinates = {"x", "y"};
    model.mass = SystemMatrix(DenseMatrix::Identity(2, 2));
    model.damping = model.stiffness = SystemMatrix::zero(2);
    model.force.components = {StateFunction(0.0), StateFunction(-9.81)};
    ContactElement contact = contact_models::contact_law("ground", 1, 0.3, 1);
    contact.impact = law;
    model.contacts.push_back({contact,
                              contact_models::function("y", model.coordinates),
                              {contact_models::function("x", model.coordinates)},
                              {},
                              {},
                              {},
                              {}});
    const auto system = make_system(std::move(model));
    State start;
    start.q = Vector::Constant(2, 0.05);
    start.v = Vector::Constant(2, 1);
    SimulationOptions options;
    options.step = 1e-3;
    options.end_time = 3;
    options.output_step = 3;
    long at_second_impact = 0, last = 0, impacts = 0;
    double before = start.v[1];
    SimulationHooks hooks;
    hooks.keep_going = [&](const State& state) {
      if (before < 0 && state.v[1] > 0 && ++impacts == 2) at_second_impact = AllocationCounter::count();
      before = state.v[1];
      if (impacts < 8) last = AllocationCounter::count();
      return true;
    };
    ASSERT_EQ(simulate(*system, start, options, hooks).status, Status::success);
    ASSERT_GT(impacts, 6) << to_string(law);
    if (law == ImpactLaw::newton) with_newton = last - at_second_impact;
    EXPECT_LE(last - at_second_impact, with_newton) << to_string(law);
  }
}

}  // namespace
}  // namespace stickslip::impact_allocation_test
