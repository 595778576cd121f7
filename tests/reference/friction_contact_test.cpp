// SPDX-License-Identifier: Apache-2.0
// Friction-contact problems by the default solver: known motions made in code, and the public collection where it is at
// hand (the folder shared/data beside the project, or STICKSLIP_CONTACT_DATA).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "stickslip/io/fclib.hpp"
#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/unit/fclib_samples.hpp"

namespace stickslip::friction_contact_test {
namespace {

using namespace samples;

SolveOptions strict(double tolerance) {
  SolveOptions options;
  options.measure = StoppingMeasure::strict_error;
  options.tolerance = tolerance;
  options.max_seconds = 120;
  return options;
}

FclibSolution solved(const GlobalContactProblem& problem, double tolerance) {
  const DualProblem dual = to_dual(condense(problem));
  const InclusionSolution solution = solve(dual, strict(tolerance));
  EXPECT_EQ(solution.status, Status::success) << solution.message;
  EXPECT_LE(residuals(dual, solution.r).strict_error, tolerance);
  return expand(problem, solution.r);
}

TEST(FrictionContact, BlockOnAnInclineSticksBelowTheFrictionAngleAndSlidesWithCoulombsForceAboveIt) {
  const double h = 0.01, g = 9.81, mass = 2.5;
  for (const double mu : {0.0, 0.2, 0.5, 1.0})
    for (const double angle : {0.05, 0.15, 0.3, 0.6, 1.2}) {
      const FclibSolution motion = solved(block_on_incline(mass, angle, mu), 1e-13);
      const double slide = std::max(0.0, h * g * (std::sin(angle) - mu * std::cos(angle)));
      // The velocity is known to the tolerance times |q| = h g, the reaction to its mass times that.
      const double tolerance = 1e-12 * h * g;
      EXPECT_NEAR(motion.v[0], 0, tolerance) << mu << " " << angle;
      EXPECT_NEAR(motion.v[1], slide, tolerance) << mu << " " << angle;
      EXPECT_NEAR(motion.v[2], 0, tolerance) << mu << " " << angle;
      EXPECT_NEAR(motion.r[0], mass * h * g * std::cos(angle), 10 * mass * tolerance);
      EXPECT_LE(std::hypot(motion.r[1], motion.r[2]), mu * motion.r[0] + 10 * mass * tolerance);
    }
}

TEST(FrictionContact, BlockPulledOffThePlaneLeavesItWithoutReaction) {
  GlobalContactProblem problem = block_on_incline(1.0, 0.3, 0.5);
  problem.f[0] = 0.2;
  const FclibSolution motion = solved(problem, 1e-12);
  EXPECT_EQ(motion.r.norm(), 0.0);
  EXPECT_EQ(motion.v, problem.f);
}

TEST(FrictionContact, ColumnOfSpheresCarriesTheWeightAboveEachContact) {
  const int count = 30;
  const double mass = 0.4, h = 0.01, g = 9.81;
  const DualProblem dual = to_dual(column_of_spheres(count, mass, 0.6));
  const InclusionSolution solution = solve(dual, strict(1e-12));
  ASSERT_EQ(solution.status, Status::success) << solution.message;
  for (int k = 0; k < count; ++k) {
    // The chain's stiffest mode costs a factor of count² between velocities and reactions.
    const double tolerance = 1e-12 * h * g * mass * count * count * count;
    EXPECT_NEAR(solution.r[3 * k], mass * h * g * (count - k), tolerance) << k;
    EXPECT_NEAR(solution.r[3 * k + 1], 0, tolerance);
    EXPECT_NEAR(solution.r[3 * k + 2], 0, tolerance);
  }
}

TEST(FrictionContact, BilateralConstraintHoldsAndItsReactionIsFoundWithTheContacts) {
  // The block may not move down the plane: the constraint takes what friction does not have to.
  const double h = 0.01, g = 9.81, mass = 1.0, angle = 0.6;
  GlobalContactProblem problem = block_on_incline(mass, angle, 0.0);
  problem.G = sparse(DenseMatrix{{0.0}, {1.0}, {0.0}});
  problem.b = Vector::Constant(1, -0.03);  // Gᵀv + b = 0: it moves down with 0.03 m/s
  const FclibSolution motion = solved(problem, 1e-12);
  EXPECT_NEAR(motion.v[1], 0.03, 1e-12);
  EXPECT_NEAR(motion.v[0], 0.0, 1e-12);
  EXPECT_NEAR(motion.l[0], mass * (0.03 - h * g * std::sin(angle)), 1e-12);
}

TEST(FrictionContact, RandomSmallProblemsInTwoAndThreeDimensionsAreSolved) {
  std::mt19937 engine(11);
  for (int trial = 0; trial < 100; ++trial) {
    GlobalContactProblem problem = random_global(engine, 2 + trial % 2, 1 + trial % 4, 0);
    // Without surface velocities v with u = 0 exists, so that the problem has a solution.
    problem.w.setZero();
    solved(problem, 1e-10);
  }
}

std::vector<std::filesystem::path> collection() {
  const char* given = std::getenv("STICKSLIP_CONTACT_DATA");
  const std::filesystem::path folder =
      given ? given : std::filesystem::path(source_folder()) / "../shared/data/friction-contact";
  std::vector<std::filesystem::path> files;
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(folder, absent))
    if (entry.path().extension() == ".hdf5") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(FrictionContact, EveryProblemOfTheCollectionIsSolvedToStrict1e8ByTheDefault) {
  const std::vector<std::filesystem::path> files = collection();
  if (files.empty()) GTEST_SKIP() << "no FCLIB files: set STICKSLIP_CONTACT_DATA to their folder";
  for (const auto& file : files) {
    const FclibProblem problem = read_fclib(file);
    const DualProblem dual = to_dual(std::get<LocalContactProblem>(problem));
    const InclusionSolution solution = solve(dual, strict(1e-8));
    EXPECT_EQ(solution.status, Status::success) << file.stem() << ": " << solution.message;
    EXPECT_LE(residuals(dual, solution.r).strict_error, 1e-8) << file.stem();
  }
}

TEST(FrictionContact, ResultOfTheCollectionDoesNotDependOnTheStorageOfTheFile) {
  const std::vector<std::filesystem::path> files = collection();
  if (files.empty()) GTEST_SKIP() << "no FCLIB files: set STICKSLIP_CONTACT_DATA to their folder";
  const ScratchFolder scratch;
  for (const auto& file : files) {
    const auto problem = std::get<LocalContactProblem>(read_fclib(file));
    for (const FclibStorage storage : {FclibStorage::triplets, FclibStorage::compressed_columns}) {
      write_fclib(scratch.path / "copy.hdf5", problem, storage);
      const auto again = std::get<LocalContactProblem>(read_fclib(scratch.path / "copy.hdf5"));
      EXPECT_EQ((again.W - problem.W).norm(), 0.0) << file.stem();
      EXPECT_EQ(again.W.nonZeros(), problem.W.nonZeros()) << file.stem();
      EXPECT_EQ(again.q, problem.q);
      EXPECT_EQ(again.mu, problem.mu);
      EXPECT_EQ(again.info.description, problem.info.description);
    }
  }
}

}  // namespace
}  // namespace stickslip::friction_contact_test
