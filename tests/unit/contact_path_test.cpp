// SPDX-License-Identifier: Apache-2.0
// The smoothed path followed by arc length (contact_path.cpp).
#include <gtest/gtest.h>

#include <random>

#include "stickslip/solvers/contact_newton.hpp"
#include "stickslip/solvers/contact_solver.hpp"

namespace stickslip::contact_path_test {
namespace {

struct Contacts {
  BlockSparseMatrix D;
  Vector b;
  std::vector<Set> sets;
};

/// D = Wᵀ W + 0.1 I with random W, loads that press most contacts together.
Contacts random_contacts(unsigned seed, int count, double mu) {
  std::mt19937 random(seed);
  std::normal_distribution<double> number;
  DenseMatrix W(2 * count, 3 * count);
  for (Index i = 0; i < W.size(); ++i) W.data()[i] = number(random) / std::sqrt(2.0 * count);
  const DenseMatrix D = W.transpose() * W + 0.1 * DenseMatrix::Identity(3 * count, 3 * count);
  Contacts contacts{
      BlockSparseMatrix(std::vector<int>(static_cast<std::size_t>(count), 3), SparseMatrix(D.sparseView())),
      Vector(3 * count), std::vector<Set>(static_cast<std::size_t>(count), friction_cone_set(mu, 3))};
  for (int i = 0; i < 3 * count; ++i) contacts.b[i] = number(random) - (i % 3 == 0 ? 1.0 : 0.0);
  return contacts;
}

SmoothingOptions through_folds(double start) {
  SmoothingOptions options;
  options.start = start;
  options.step_scale = 1;
  options.max_iterations = 1500;
  options.through_folds = true;
  return options;
}

double error_of(const ContactSystem<3>& system, const Vector& r) {
  Vector u(r.size());
  system.velocity({}, r.data(), u.data());
  return system.error(StoppingMeasure::strict_error, r.data(), u.data());
}

TEST(ContactPath, LeadsFromFarToWhereTheProximalMethodTakesOver) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const Contacts contacts = random_contacts(seed, 12, 0.4);
    ContactSystem<3> system;
    system.load(contacts.D, contacts.b, contacts.sets);
    ContactNewton<3> newton;
    Vector r = Vector::Zero(36);
    int iterations = 0;
    const ContactGoal goal{StoppingMeasure::strict_error, 1e-10};
    const double reached = newton.follow_smoothed(system, goal, through_folds(10), r.data(), iterations);
    EXPECT_LE(reached, 1e-6) << "seed " << seed;  // where the path hands over
    EXPECT_LE(iterations, 1500);
    EXPECT_NEAR(error_of(system, r), reached, 1e-12) << "the point returned is the one that was measured";
    std::vector<double> slip(12, 0.0);
    EXPECT_LE(newton.solve(system, goal, {}, r.data(), slip.data(), iterations), goal.tolerance) << "seed " << seed;
  }
}

TEST(ContactPath, EndsAtTheSolutionThatSweepsFind) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    // Little friction: the problem is nearly a convex one, and its solution
    // unique.
    const Contacts contacts = random_contacts(100 + seed, 8, 0.05);
    ContactSystem<3> system;
    system.load(contacts.D, contacts.b, contacts.sets);
    ContactNewton<3> newton;
    Vector r = Vector::Zero(24);
    int iterations = 0;
    newton.follow_smoothed(system, {StoppingMeasure::strict_error, 1e-10}, through_folds(10), r.data(), iterations);
    ContactOptions sweeps;
    sweeps.method = ContactMethod::gauss_seidel;
    const InclusionSolution expected = solve_contacts(DualProblem{contacts.D, contacts.b, contacts.sets}, sweeps);
    ASSERT_EQ(expected.status, Status::success);
    // The path ends at 1e-6 of |b|; D >= 0.1 turns that into at most ten times
    // as much of r, and some for the cone.
    EXPECT_LT((r - expected.r).norm(), 1e-4 * contacts.b.norm()) << "seed " << seed;
  }
}

TEST(ContactPath, KeepsTheStartWhereItCannotImprove) {
  const Contacts contacts = random_contacts(7, 10, 0.5);
  const InclusionSolution solution = solve_contacts(DualProblem{contacts.D, contacts.b, contacts.sets}, {});
  ASSERT_EQ(solution.status, Status::success);
  ContactSystem<3> system;
  system.load(contacts.D, contacts.b, contacts.sets);
  ContactNewton<3> newton;
  Vector r = solution.r;
  int iterations = 0;
  const double error =
      newton.follow_smoothed(system, {StoppingMeasure::strict_error, 1e-14}, through_folds(10), r.data(), iterations);
  EXPECT_EQ(r, solution.r);
  EXPECT_DOUBLE_EQ(error, error_of(system, solution.r));
}

}  // namespace
}  // namespace stickslip::contact_path_test
