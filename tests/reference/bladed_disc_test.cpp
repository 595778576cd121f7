// SPDX-License-Identifier: Apache-2.0
// A small bladed disc with friction between its blades through resonance: harmonic balance against time stepping on all
// coordinates.
#include "benchmarks/periodic/bladed_disc.hpp"

#include <gtest/gtest.h>

#include "stickslip/periodic/certificates.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "stickslip/periodic/weighted_residual.hpp"

namespace stickslip::bladed_disc_test {
namespace {

TEST(BladedDisc, PeriodicMotionIsThatOfTimeStepping) {
  for (const double stiffness : {0.0, 0.5}) {  // rigid, and with springs in series
    BladedDisc disc{.sectors = 6, .radial = 3, .around = 4, .blade = 10, .order = 1, .stiffness = stiffness};
    for (const double omega : {0.85, 0.93, 1.0}) {
      const auto system = disc.system(omega);
      PeriodicOptions options;
      options.period = 2 * M_PI / omega;
      options.harmonics = 15;
      WeightedResidual problem(*system, options, 0, Vector::Zero(disc.size()));
      EXPECT_EQ(problem.unknowns(), 12 * 31);  // six platforms, six laws
      const ResidualSolution solution = solve_residual(problem, problem.linear_start(), {});
      ASSERT_EQ(solution.status, Status::success) << omega << " " << solution.message;
      const Orbit orbit = problem.orbit(solution.X);
      for (int s = 1; s < 6; ++s)  // every blade does the same in its turn
        EXPECT_NEAR(orbit.maximum[disc.tip(s)], orbit.maximum[disc.tip(0)], 1e-2 * orbit.maximum[disc.tip(0)]);
      std::vector<Certificate> list;
      add_stepping_certificate(*system, orbit, 0, CertificateLimits{15}, nullptr, list);
      ASSERT_EQ(list.size(), 1u);
      EXPECT_LT(list[0].value, 0.03) << omega << " " << stiffness;
    }
  }
}

}  // namespace
}  // namespace stickslip::bladed_disc_test
