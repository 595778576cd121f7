// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/contact_patches.hpp"

#include <gtest/gtest.h>

#include <random>

#include "stickslip/solvers/contact_solver.hpp"

namespace stickslip::contact_patches_test {
namespace {

constexpr int kLaws = 60;
constexpr int kHuge = 4100;  // from 4000 laws on the strategy never factorises the whole

/// A chain of contacts: every law is coupled to its two neighbours; D is symmetric and diagonally dominant.
struct Chain {
  BlockSparseMatrix D;
  Vector b;
  std::vector<Set> sets;

  explicit Chain(int laws = kLaws) : b(3 * laws), sets(static_cast<std::size_t>(laws), friction_cone_set(0.5, 3)) {
    std::mt19937 random(7);
    std::uniform_real_distribution<double> number(-1, 1);
    std::vector<Eigen::Triplet<double>> entries;
    for (int i = 0; i < laws; ++i)
      for (int a = 0; a < 3; ++a) {
        entries.emplace_back(3 * i + a, 3 * i + a, 4.0);
        b[3 * i + a] = a == 0 ? -2 + number(random) : number(random);
        for (int c = 0; c < 3 && i + 1 < laws; ++c) {
          const double coupling = 0.5 * number(random);
          entries.emplace_back(3 * i + a, 3 * i + 3 + c, coupling);
          entries.emplace_back(3 * i + 3 + c, 3 * i + a, coupling);
        }
      }
    SparseMatrix matrix(3 * laws, 3 * laws);
    matrix.setFromTriplets(entries.begin(), entries.end());
    D = BlockSparseMatrix(std::vector<int>(static_cast<std::size_t>(laws), 3), matrix);
  }

  Vector solved() const {
    const InclusionSolution solution = solve_contacts(DualProblem{D, b, sets}, {});
    EXPECT_EQ(solution.status, Status::success);
    return solution.r;
  }
};

const ContactGoal kGoal{StoppingMeasure::strict_error, 1e-8};

TEST(ContactPatches, ASolvedProblemHasNone) {
  const Chain chain;
  ContactSystem<3> system;
  system.load(chain.D, chain.b, chain.sets);
  const Vector r = chain.solved();
  Vector u(3 * kLaws);
  system.velocity({}, r.data(), u.data());
  ContactPatches<3> patches;
  EXPECT_EQ(patches.find(system, kGoal, r.data(), u.data(), 0.3, 1, kLaws), 0);
}

TEST(ContactPatches, DisturbedLawsLieInAPatchOfTheirOwnWithTheirNeighbours) {
  const Chain chain;
  ContactSystem<3> system;
  system.load(chain.D, chain.b, chain.sets);
  Vector r = chain.solved(), u(3 * kLaws);
  for (const int law : {10, 40}) r[3 * law] += 0.1;
  system.velocity({}, r.data(), u.data());
  ContactPatches<3> patches;
  ASSERT_EQ(patches.find(system, kGoal, r.data(), u.data(), 0.3, 1, kLaws), 2);
  // The errors are those of the law and of the two that it touches; one ring more makes five.
  EXPECT_LE(patches.spread(), 6.0 / kLaws + 1e-12);
  for (int k = 0; k < 2; ++k) {
    ContactPatch patch;
    patches.extract(k, system, r.data(), patch);
    EXPECT_GE(patch.sets.size(), 3u);
    EXPECT_LE(patch.sets.size(), 5u);
  }
}

TEST(ContactPatches, ThePatchHasTheVelocitiesOfTheWhole) {
  const Chain chain;
  ContactSystem<3> system, part;
  system.load(chain.D, chain.b, chain.sets);
  Vector r = chain.solved(), u(3 * kLaws);
  r[3 * 20] += 0.1;
  system.velocity({}, r.data(), u.data());
  ContactPatches<3> patches;
  ASSERT_EQ(patches.find(system, kGoal, r.data(), u.data(), 0.3, 2, kLaws), 1);
  ContactPatch patch;
  patches.extract(0, system, r.data(), patch);
  part.load(patch.D, patch.b, patch.sets);
  Vector r_part(part.size()), u_part(part.size()), u_cut(part.size());
  patches.gather(patch, r.data(), r_part.data());
  patches.gather(patch, u.data(), u_cut.data());
  part.velocity({}, r_part.data(), u_part.data());
  EXPECT_LT((u_part - u_cut).norm(), 1e-14 * u.norm());  // the same sums in another order
}

TEST(ContactPatches, ToSolveThePatchesOfADisturbedSolutionSolvesTheWhole) {
  const Chain chain;
  ContactSystem<3> system;
  system.load(chain.D, chain.b, chain.sets);
  Vector r = chain.solved(), u(3 * kLaws);
  for (const int law : {3, 33, 50}) r[3 * law + 1] += 0.05;
  system.velocity({}, r.data(), u.data());
  ContactPatches<3> patches;
  // Five rings: the correction decays along the chain, by more than half per law.
  const int count = patches.find(system, kGoal, r.data(), u.data(), 0.3, 5, kLaws);
  ASSERT_GT(count, 0);
  const double before = system.error(kGoal.measure, r.data(), u.data());
  for (int k = 0; k < count; ++k) {
    ContactPatch patch;
    patches.extract(k, system, r.data(), patch);
    ContactOptions options;
    const ContactGoal goal = patches.goal(patch, system, kGoal, r.data(), u.data(), 0.3);
    options.measure = goal.measure;
    options.tolerance = goal.tolerance;
    const InclusionSolution solution = solve_contacts(DualProblem{patch.D, patch.b, patch.sets}, options);
    ASSERT_EQ(solution.status, Status::success) << solution.message;
    patches.scatter(patch, solution.r.data(), r.data());
  }
  system.velocity({}, r.data(), u.data());
  EXPECT_GT(before, 1e-3);
  EXPECT_LE(system.error(kGoal.measure, r.data(), u.data()), kGoal.tolerance);
}

TEST(ContactPatches, AHugeProblemEndsAtItsLimitWithoutFactorsOfTheWhole) {
  const Chain chain(kHuge);
  ContactOptions options;
  options.measure = StoppingMeasure::inclusion;  // the others end at the round-off of D r
  options.tolerance = 1e-300;                    // out of reach: every means is tried
  options.max_iterations = 600;
  const InclusionSolution solution = solve_contacts(DualProblem{chain.D, chain.b, chain.sets}, options);
  EXPECT_EQ(solution.status, Status::not_converged);
  EXPECT_EQ(solution.solver, "accelerated_gauss_seidel+conjugate_gauss_seidel");
  EXPECT_GE(solution.iterations, options.max_iterations);
  // Sweeps reach round-off on a diagonally dominant chain: sums of 3 * 3 terms, some units in the last place.
  EXPECT_LE(solution.residuals.strict_error, 1e-14);
}

}  // namespace
}  // namespace stickslip::contact_patches_test
