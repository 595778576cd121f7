// SPDX-License-Identifier: Apache-2.0
// Heaps of spheres and what solves them: the central path, and its factors over bodies.
#include "stickslip/solvers/contact_interior.hpp"

#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>

#include "stickslip/solvers/contact_newton.hpp"
#include "stickslip/solvers/residual.hpp"
#include "stickslip/solvers/solve.hpp"
#include "tests/unit/matrix_samples.hpp"

namespace stickslip::contact_interior_test {
namespace {

using Point = Eigen::Vector3d;

struct Units {
  double length = 1, mass = 1, time = 1;  // 1 m, 1 kg, 1 s in the units of the problem
};

/// A square pyramid of equal spheres, all neighbours touching, one step of 5 ms from rest under gravity.
struct Pyramid {
  SystemMatrix A;
  PrimalProblem problem;

  Pyramid(int layers, double mu, const Units& unit = {}) {
    const double radius = 0.01 * unit.length, mass = 0.01 * unit.mass, step = 5e-3 * unit.time,
                 gravity = 9.81 * unit.length / (unit.time * unit.time);
    std::vector<Point> centres;
    for (int layer = 0; layer < layers; ++layer)
      for (int i = 0, side = layers - layer; i < side; ++i)
        for (int j = 0; j < side; ++j)
          centres.push_back(radius * Point(2 * i - side + 1, 2 * j - side + 1, 1 + layer * std::sqrt(2.0)));
    const int n = static_cast<int>(centres.size());
    std::vector<Eigen::Triplet<double>> inertia, directions;
    problem.g = Vector::Zero(6 * n);
    for (int k = 0; k < n; ++k) {
      for (int c = 0; c < 6; ++c)
        inertia.emplace_back(6 * k + c, 6 * k + c, c < 3 ? mass : 0.4 * mass * radius * radius);
      problem.g[6 * k + 2] = -step * mass * gravity;
    }
    int row = 0;
    auto touch = [&](int above, int below, const Point& normal) {
      const Point helper = std::abs(normal[0]) < 0.8 ? Point(1, 0, 0) : Point(0, 1, 0);
      const Point tangent = normal.cross(helper).normalized(), other = normal.cross(tangent);
      for (const Point& e : {normal, tangent, other}) {
        for (const auto& [body, sign] : {std::pair{above, 1.0}, std::pair{below, -1.0}}) {
          if (body < 0) continue;
          const Point lever = -radius * normal.cross(e);
          for (int c = 0; c < 3; ++c) {
            directions.emplace_back(row, 6 * body + c, sign * e[c]);
            directions.emplace_back(row, 6 * body + 3 + c, lever[c]);
          }
        }
        ++row;
      }
      problem.sets.push_back(friction_cone_set(mu, 3));
    };
    for (int k = 0; k < n; ++k) {
      if (centres[k][2] < 1.5 * radius) touch(k, -1, Point(0, 0, 1));
      for (int l = 0; l < k; ++l)
        if (const Point d = centres[k] - centres[l]; d.norm() < 2.001 * radius) touch(k, l, d.normalized());
    }
    SparseMatrix M(6 * n, 6 * n);
    M.setFromTriplets(inertia.begin(), inertia.end());
    A = SystemMatrix(M);
    problem.A = &A;
    problem.Wt.resize(row, 6 * n);
    problem.Wt.setFromTriplets(directions.begin(), directions.end());
    problem.w = Vector::Zero(row);
  }
};

double follow(const Pyramid& heap, const InteriorOptions& options, double tolerance, bool over_bodies,
              int& factorisations) {
  Condensation condensation;
  condensation.refresh(heap.problem);
  ContactSystem<3> system;
  system.load(condensation.D(), condensation.b(), heap.problem.sets, natural_scale(condensation.D(), condensation.b()));
  std::vector<double> r(static_cast<std::size_t>(system.size()), 0.0), slips(heap.problem.sets.size(), 0.0);
  ContactInterior<3> path;
  EXPECT_TRUE(ContactInterior<3>::applies(system));
  int iterations = 0;
  const double error =
      path.follow(system, over_bodies ? condensation.bodies(heap.problem) : nullptr,
                  {StoppingMeasure::unit_free, tolerance}, options, r.data(), slips.data(), iterations);
  factorisations = path.factorisations();
  return error;
}

double follow(const Pyramid& heap, double slip, double tolerance, bool over_bodies, int& factorisations,
              InteriorSteps steps = InteriorSteps::along_path) {
  return follow(heap, {.slip = slip, .steps = steps}, tolerance, over_bodies, factorisations);
}

TEST(BodyFactor, SolvesOverBodiesWhatItSolvesOverContacts) {
  const Pyramid heap(3, 0.5);
  Condensation condensation;
  condensation.refresh(heap.problem);
  ContactSystem<3> system;
  system.load(condensation.D(), condensation.b(), heap.problem.sets, natural_scale(condensation.D(), condensation.b()));
  samples::Engine engine(510);
  Vector T(3 * system.size()), g(system.size());
  for (double& value : T) value = samples::draw(engine, -0.2, 0.2);
  for (int k = 0; k < system.laws(); ++k)
    for (int c = 0; c < 3; ++c) T[9 * k + 4 * c] += 1;
  for (double& value : g) value = samples::draw(engine, -1, 1);
  BodyFactor<3> bodies, contacts;
  bodies.load(system, condensation.bodies(heap.problem));
  contacts.load(system, nullptr);
  EXPECT_TRUE(bodies.over_bodies());
  EXPECT_FALSE(contacts.over_bodies());
  ASSERT_TRUE(bodies.factorize(T.data()));
  ASSERT_TRUE(contacts.factorize(T.data()));
  EXPECT_EQ(bodies.sign(), contacts.sign());
  Vector a = g, b = g;
  bodies.solve(a.data());
  contacts.solve(b.data());
  EXPECT_LE((a - b).lpNorm<Eigen::Infinity>(), 1e-12 * g.lpNorm<Eigen::Infinity>());
  Vector image(system.size());
  system.multiply(a.data(), image.data());
  for (int k = 0; k < system.laws(); ++k)
    for (int i = 0; i < 3; ++i) {
      double sum = a[3 * k + i] - g[3 * k + i];
      for (int c = 0; c < 3; ++c) sum += T[9 * k + 3 * i + c] * image[3 * k + c];
      EXPECT_NEAR(sum, 0, 1e-12);
    }
}

TEST(ContactInterior, FollowsItsPathToTheSolutionOfAHeap) {
  for (const double mu : {0.2, 0.3}) {
    const Pyramid heap(5, mu);
    int bodies = 0, contacts = 0;
    EXPECT_LE(follow(heap, 0.3, 1e-6, true, bodies), 1e-6) << mu;
    EXPECT_LE(follow(heap, 0.3, 1e-6, false, contacts), 1e-6) << mu;
    EXPECT_LT(bodies, 200);
  }
}

TEST(ContactInterior, TakesTheSamePathInEverySystemOfUnits) {
  int plain = 0;
  follow(Pyramid(4, 0.3), 0.3, 1e-5, true, plain);
  for (const double size : {0x1p-20, 0x1p20}) {
    int other = 0;
    EXPECT_LE(follow(Pyramid(4, 0.3, {size, 1, 1}), 0.3, 1e-5, true, other), 1e-5);
    EXPECT_EQ(other, plain);
    EXPECT_LE(follow(Pyramid(4, 0.3, {1, size, 1}), 0.3, 1e-5, true, other), 1e-5);
    EXPECT_EQ(other, plain);
    EXPECT_LE(follow(Pyramid(4, 0.3, {1, 1, size}), 0.3, 1e-5, true, other), 1e-5);
    EXPECT_EQ(other, plain);
  }
}

TEST(ContactInterior, LongStepsArriveAfterAFractionOfTheFactorisations) {
  for (const double mu : {0.2, 0.3}) {
    const Pyramid heap(7, mu);
    int along = 0, far = 0;
    EXPECT_LE(follow(heap, 0.3, 1e-4, true, along), 1e-4) << mu;
    EXPECT_LE(follow(heap, 0.3, 1e-4, true, far, InteriorSteps::long_steps), 1e-4) << mu;
    EXPECT_LT(far, along / 2) << mu;
  }
}

TEST(ContactInterior, LongStepsAreTheSameInEverySystemOfUnits) {
  int plain = 0;
  follow(Pyramid(6, 0.3), 0.3, 1e-4, true, plain, InteriorSteps::long_steps);
  for (const double size : {0x1p-20, 0x1p20}) {
    int other = 0;
    EXPECT_LE(follow(Pyramid(6, 0.3, {size, size, 1 / size}), 0.3, 1e-4, true, other, InteriorSteps::long_steps), 1e-4);
    EXPECT_EQ(other, plain);
  }
}

TEST(ContactInterior, AShiftThatFollowsArrivesWithinFewFactorisationsInEverySystemOfUnits) {
  const InteriorOptions options{.steps = InteriorSteps::long_steps, .shift_follows = true};
  for (const double mu : {0.1, 0.3})
    for (const int layers : {6, 7}) {
      int plain = 0, other = 0;
      EXPECT_LE(follow(Pyramid(layers, mu), options, 1e-4, true, plain), 1e-4) << mu << ' ' << layers;
      EXPECT_LE(plain, 60) << mu << ' ' << layers;
      follow(Pyramid(layers, mu, {0x1p20, 0x1p-20, 0x1p10}), options, 1e-4, true, other);
      EXPECT_EQ(other, plain);
    }
}

TEST(ContactInterior, LongStepsStartNearTheReactionsTheyAreGiven) {
  int near = 0;
  // From r = 0 too: the margin moves it inside.
  EXPECT_LE(follow(Pyramid(5, 0.3), {.steps = InteriorSteps::long_steps, .margin = 0.03}, 1e-4, true, near), 1e-4);
  EXPECT_LE(near, 60);
}

TEST(ContactInterior, PointsAreHandedToWhatFinishesThem) {
  const Pyramid heap(6, 0.3);
  InteriorOptions options{.steps = InteriorSteps::long_steps, .finish_below = 1e-2};
  int without = 0, with = 0, calls = 0;
  const double error = follow(heap, options, 1e-4, true, without);
  auto useless = [&](double*) {
    ++calls;
    return HUGE_VAL;
  };
  const FunctionRef<double(double*)> finish = useless;
  options.finish = &finish;
  EXPECT_EQ(follow(heap, options, 1e-4, true, with), error);
  EXPECT_EQ(with, without);
  EXPECT_GT(calls, 0);
  auto perfect = [](double*) { return 0.0; };
  const FunctionRef<double(double*)> end = perfect;
  options.finish = &end;
  EXPECT_EQ(follow(heap, options, 1e-4, true, with), 0.0);
  EXPECT_LT(with, without);
}

TEST(ContactNewton, TakesTheSameStepsOverBodiesAsOverContacts) {
  const Pyramid heap(5, 0.3);
  Condensation condensation;
  condensation.refresh(heap.problem);
  ContactSystem<3> system;
  system.load(condensation.D(), condensation.b(), heap.problem.sets, natural_scale(condensation.D(), condensation.b()));
  const ContactGoal goal{StoppingMeasure::unit_free, 1e-12};
  Vector start = Vector::Zero(system.size()), slips = Vector::Zero(system.laws());
  for (int k = 0; k < 20; ++k) system.sweep({}, false, start.data(), slips.data());
  BodyFactor<3> factor;
  factor.load(system, condensation.bodies(heap.problem));
  ASSERT_TRUE(factor.over_bodies());
  ContactNewton<3> newton;
  for (const auto function : {ResidualFunction::natural_map, ResidualFunction::alart_curnier}) {
    const ProximalNewtonOptions options{.function = function, .alpha = 1, .max_iterations = 3, .max_steps = 3};
    Vector contacts = start, bodies = start;
    int iterations = 0;
    const double error = newton.solve(system, goal, options, contacts.data(), slips.data(), iterations);
    EXPECT_EQ(iterations, 3);
    EXPECT_NEAR(newton.solve(system, goal, options, bodies.data(), slips.data(), iterations, &factor), error,
                1e-9 * error);
    // Round-off of three solves whose matrices have conditions of some hundred.
    EXPECT_LE((contacts - bodies).lpNorm<Eigen::Infinity>(), 1e-10 * contacts.lpNorm<Eigen::Infinity>());
    EXPECT_GT((contacts - start).lpNorm<Eigen::Infinity>(), 1e-3 * contacts.lpNorm<Eigen::Infinity>());
  }
}

TEST(ContactStrategy, WhatInteriorPointsLeaveOfARedundantHeapIsFinishedByNewton) {
  const Pyramid heap(11, 0.3);
  ASSERT_EQ(heap.problem.sets.size(), 2541u);
  const InclusionSolution solution =
      solve(heap.problem, {.tolerance = 1e-4, .max_iterations = 2000, .measure = StoppingMeasure::unit_free});
  EXPECT_EQ(solution.status, Status::success) << solution.message;
  EXPECT_NE(solution.solver.find("proximal_newton"), std::string::npos) << solution.solver;
}

TEST(ContactStrategy, AHeapOnWhichSweepsStandStillIsSolvedByAnInteriorPoint) {
  const Pyramid heap(8, 0.3);
  ASSERT_EQ(heap.problem.sets.size(), 960u);
  const InclusionSolution solution = solve(heap.problem, {.tolerance = 1e-4, .measure = StoppingMeasure::unit_free});
  EXPECT_EQ(solution.status, Status::success) << solution.message;
  EXPECT_LE(solution.residuals.unit_free, 1e-4);
  EXPECT_NE(solution.solver.find("interior_point"), std::string::npos) << solution.solver;
  // One entry per part of the way; the best point is kept, so that none is larger than the one before.
  ASSERT_GE(solution.history.size(), 3u);
  for (std::size_t k = 1; k < solution.history.size(); ++k) EXPECT_LE(solution.history[k], solution.history[k - 1]);
}

}  // namespace
}  // namespace stickslip::contact_interior_test
