// SPDX-License-Identifier: Apache-2.0
// Motion under constraints evaluates and projects without allocation after the first call, with independent rows (QR)
// and redundant ones (singular values).
#include <gtest/gtest.h>

#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "tests/support/allocation_counter.hpp"

namespace stickslip::constraint_allocation_test {
namespace {

const char* const kPendulum = R"toml(
[equations]
coordinates    = ["x", "y", "phi"]
kinetic_energy = "0.5*(v_x^2 + v_y^2 + (2 + sin(x))*v_phi^2)"
potential      = "9.81*y + cos(phi)"
[initial]
position = [0.6, 0.8, 0]
[[constraint]]
position = "x^2 + y^2 - 1"
[[constraint]]
row  = ["sin(phi)", "0.1*x", 1]
rate = "0.2*t"
)toml";
const char* const kAgain = "[[constraint]]\nposition = \"x^2 + y^2 - 1\"\n";

TEST(ConstraintAllocation, AccelerationsAndProjectionsAllocateNothingAfterTheFirst) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (const std::string& text : {std::string(kPendulum), std::string(kPendulum) + kAgain}) {
    const ModelFile model = parse_model(text, "model.toml");
    const System& system = *model.system;
    ConstraintWorkspace workspace(system);
    Vector q = model.initial.q, v = Vector::Ones(3), a, lambda, x(3);
    DenseMatrix by_q, rows_by_q, columns = DenseMatrix::Ones(3, 2), moved;
    const auto evaluate = [&](double t) {
      q[0] += 0.01;
      ASSERT_EQ(project_position(system, t, q, workspace), Status::success);
      ASSERT_EQ(project_velocity(system, t, q, v, workspace), Status::success);
      ASSERT_TRUE(constrained_acceleration(system, t, q, v, workspace, a, lambda));
      workspace.mass.apply(v, x);
      workspace.mass.apply(columns, moved);
      system.laws().constraint_source().force_slopes(t, q, lambda, workspace.system, by_q);
      system.laws().constraint_source().velocity_slopes(t, q, v, workspace.system, rows_by_q);
      ASSERT_LT(constraint_drift(system, t, q, v, workspace).velocity, 1e-14);
    };
    evaluate(0.1);
    const long before = AllocationCounter::count();
    for (int k = 0; k < 10; ++k) evaluate(0.1 * k);
    EXPECT_EQ(AllocationCounter::count(), before) << text;
    EXPECT_EQ(workspace.mass.rank(), 2);
  }
}

}  // namespace
}  // namespace stickslip::constraint_allocation_test
