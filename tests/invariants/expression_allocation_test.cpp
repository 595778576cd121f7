// SPDX-License-Identifier: Apache-2.0
// Systems made of expressions evaluate without allocation after the first call.
#include <gtest/gtest.h>

#include "stickslip/io/model_file.hpp"
#include "tests/support/allocation_counter.hpp"

namespace stickslip::expression_allocation_test {
namespace {

const char* const kContact = R"toml(
[[contact]]
gap  = "y - 0.1*x"
[[contact]]
gap  = "y + sin(phi) + 0.1*t"
slip = ["x + cos(phi)", "t*phi"]
mu   = 0.3
surface_velocity = ["sin(t)", "x"]
position = ["x", "y"]
normal = ["sin(phi)", "cos(phi)"]
)toml";
const char* const kEnergies = R"toml(
[equations]
coordinates    = ["x", "y", "phi"]
kinetic_energy = "0.5*(v_x^2 + v_y^2 + (2 + sin(x))*v_phi^2)"
potential      = "9.81*y + cos(phi)"
dissipation    = "0.1*v_x^2*(1 + y^2)"
force          = ["sin(t)*phi", 0, "v_x"]
)toml";
const char* const kMass = R"toml(
[equations]
coordinates = ["x", "y", "phi"]
mass        = [[2, 0, "sin(phi)"], [0, 2, 0], ["sin(phi)", 0, 2]]
force       = ["sin(t)*phi", "v_y*x", "v_x"]
)toml";
const char* const kMatrices = R"toml(
[matrices]
coordinates = ["x", "y", "phi"]
mass        = { diagonal = 1 }
force       = ["sin(t)*phi", "v_y*x", "v_x"]
)toml";

TEST(ExpressionAllocation, EvaluationsAllocateNothingAfterTheFirst) {
  if (!AllocationCounter::available) GTEST_SKIP() << "a sanitizer owns the allocator";
  for (const char* const text : {kEnergies, kMass, kMatrices}) {
    const ModelFile model = parse_model(std::string(text) + kContact, "model.toml");
    const System& system = *model.system;
    SystemWorkspace workspace(system);
    SystemMatrix by_q, by_v, applied_by_q, applied_by_v;
    ContactPoints points;
    Vector q(3), v(3), h(3), f(3), bias;
    double sum = 0;
    const auto evaluate = [&](double t) {
      q = Eigen::Vector3d(t, 1 - t, 0.3 * t);
      v = Eigen::Vector3d(1, t, -t);
      sum += system.inertia().mass(q, workspace)(0, 0);
      system.force(t, q, v, workspace, h);
      system.forces().applied(t, q, v, workspace, f);
      if (!system.linear()) system.force_slopes(t, q, v, workspace, by_q, by_v);
      system.forces().applied_slopes(t, q, v, workspace, applied_by_q, applied_by_v);
      sum += system.inertia().kinetic_energy(q, v) + system.forces().potential_energy(q) +
             system.forces().damper_power(q, v);
      system.laws().contact_source().find(t, q, HUGE_VAL, workspace, points);
      system.laws().contact_source().bias(t, q, v, HUGE_VAL, workspace, bias);
    };
    evaluate(0.1);
    const long before = AllocationCounter::count();
    for (int k = 0; k < 10; ++k) evaluate(0.1 * k);
    EXPECT_EQ(AllocationCounter::count(), before) << text;
    EXPECT_TRUE(std::isfinite(sum));
  }
}

}  // namespace
}  // namespace stickslip::expression_allocation_test
