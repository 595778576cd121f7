// SPDX-License-Identifier: Apache-2.0
// A step allocates nothing after the first: the whole test program counts its calls of malloc (operator new and Eigen
// end there).
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <span>

#include "stickslip/common/dormand_prince.hpp"
#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/common/polynomial.hpp"
#include "stickslip/common/radau.hpp"
#include "stickslip/solvers/solve.hpp"
#include "tests/unit/solver_samples.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define STICKSLIP_COUNTS_MALLOC 0  // the sanitizer has a malloc of its own
#else
#define STICKSLIP_COUNTS_MALLOC 1
#endif

namespace {
std::atomic<long> allocations{0};
}

#if STICKSLIP_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* malloc(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_realloc(old, size);
}
}
#endif

namespace stickslip::allocation_test {
namespace {

using samples::Engine;

class Allocation : public testing::Test {
 protected:
  void SetUp() override {
    if (!STICKSLIP_COUNTS_MALLOC) GTEST_SKIP() << "malloc cannot be counted in this build";
  }
  template <class F>
  static long count(F&& f) {
    const long before = allocations.load();
    f();
    return allocations.load() - before;
  }
};

SystemMatrix chain(Index n, double stiffness) {
  BandedMatrix A(n, 1, 1);
  for (Index i = 0; i < n; ++i) {
    A(i, i) = 1 + 2 * stiffness;
    if (i > 0) A(i, i - 1) = A(i - 1, i) = -stiffness;
  }
  return SystemMatrix(A);
}

TEST_F(Allocation, IsCountedForVectorsOfEigenAndOfTheStandardLibrary) {
  EXPECT_GE(count([] {
              Vector x = Vector::Zero(1000);
              EXPECT_EQ(x.size(), 1000);
            }),
            1);
  EXPECT_GE(count([] {
              std::vector<double> x(1000);
              EXPECT_EQ(x.size(), 1000u);
            }),
            1);
}

TEST_F(Allocation, NoneInProductsSumsFactorsAndSolutions) {
  Engine engine(130);
  const Index n = 60;
  const SystemMatrix matrices[] = {
      SystemMatrix(samples::random_spd(engine, n)), SystemMatrix(samples::random_spd(engine, 5)), chain(n, 0.3),
      SystemMatrix(samples::random_banded(engine, n, 2, 3)), SystemMatrix(samples::random_sparse(engine, n, 2))};
  for (const SystemMatrix& A : matrices) {
    MatrixSum sum({&A, &A});
    PinnedFactor factor;
    Vector x = samples::random_vector(engine, A.size()), y = x;
    double alpha[] = {1.0, 0.5};
    std::vector<char> pinned(A.size(), 0);
    auto work = [&] {
      factor.factorize(sum.evaluate(alpha), pinned);
      factor.solve(x);
      A.product(x, y);
      A.add_product(0.1, y, x);
    };
    work();
    pinned[2] = pinned[3] = 1;
    alpha[1] = 0.25;
    EXPECT_EQ(count(work), 0) << "storage " << static_cast<int>(A.storage()) << " size " << A.size();
  }
}

/// Steps with new loads (and so new statuses), new surface velocities and a new step matrix.
template <class NewMatrix>
void expect_steps_without_allocation(PrimalProblem& p, const SolveOptions& options, NewMatrix&& new_matrix,
                                     const char* name) {
  Engine engine(131);
  PrimalWorkspace workspace;
  InclusionSolution s;
  std::vector<Vector> loads, surfaces;
  for (int step = 0; step < 30; ++step) {
    loads.push_back(samples::random_vector(engine, p.g.size(), step % 3 ? 2.0 : 0.5));
    surfaces.push_back(samples::random_vector(engine, p.w.size(), step % 2 ? 0.3 : 0.0));
  }
  long allocated = 0;
  for (int step = 0; step < 30; ++step) {
    p.g = loads[step];
    p.w = surfaces[step];
    if (step % 7 == 6) new_matrix(p);
    const long before = allocations.load();
    solve(p, options, workspace, s);
    if (step > 0) allocated += allocations.load() - before;
    ASSERT_EQ(s.status, Status::success) << name << ": " << s.message;
  }
  EXPECT_EQ(allocated, 0) << name;
}

TEST_F(Allocation, NoneInAStepWithFrictionOnCoordinates) {
  Engine engine(132);
  for (const Index n : {2, 7, 50}) {
    DenseMatrix dense[] = {samples::random_spd(engine, n), samples::random_spd(engine, n)};
    const SystemMatrix pairs[][2] = {
        {SystemMatrix(dense[0]), SystemMatrix(dense[1])},
        {chain(n, 0.001), chain(n, 0.3)},
        {SystemMatrix(SparseMatrix(chain(n, 0.1).to_sparse())), SystemMatrix(SparseMatrix(chain(n, 0.2).to_sparse()))}};
    for (const auto& pair : pairs) {
      const Index m = (n + 1) / 2;
      PrimalProblem p{&pair[0],        1,
                      Vector::Zero(n), samples::coordinate_rows(samples::random_coordinates(engine, n, m), n),
                      Vector::Zero(m), samples::random_intervals(engine, m, 0.1, 1)};
      auto new_matrix = [&](PrimalProblem& problem) {
        problem.A = problem.A == &pair[0] ? &pair[1] : &pair[0];
        ++problem.A_version;
      };
      expect_steps_without_allocation(p, {}, new_matrix, "coordinates");
    }
  }
}

TEST_F(Allocation, NoneInAStepWithPlanarFrictionOnCoordinates) {
  Engine engine(133);
  const Index n = 21;
  const SystemMatrix pair[] = {chain(n, 0.01), chain(n, 0.3)};
  PrimalProblem p{&pair[0],         1,
                  Vector::Zero(n),  samples::coordinate_rows(samples::random_coordinates(engine, n, 20), n),
                  Vector::Zero(20), {}};
  for (int k = 0; k < 10; ++k) p.sets.push_back(k % 2 ? disk_set(1) : polygon_set(1, 6));
  auto new_matrix = [&](PrimalProblem& problem) {
    problem.A = problem.A == &pair[0] ? &pair[1] : &pair[0];
    ++problem.A_version;
  };
  expect_steps_without_allocation(p, {}, new_matrix, "planar");
}

TEST_F(Allocation, NoneInAStepThroughTheDualOrByTheProjectedIterationWhileTheMatrixStays) {
  Engine engine(134);
  const Index n = 20, m = 6;
  const SystemMatrix A = chain(n, 0.3);
  PrimalProblem p{&A,
                  1,
                  Vector::Zero(n),
                  samples::random_directions(engine, m, n),
                  Vector::Zero(m),
                  samples::random_intervals(engine, m, 0.1, 1)};
  auto keep = [](PrimalProblem&) {};
  expect_steps_without_allocation(p, {}, keep, "dual");
  expect_steps_without_allocation(p, {SolverKind::projected_iteration, 1e-10, 0, 0}, keep, "projected_iteration");
}

TEST_F(Allocation, NoneInAStepWithContacts) {
  // A ball (one law, few coordinates) and a cube on four corners, pushed at random, with a new matrix now and then.
  Engine engine(135);
  BandedMatrix masses[] = {BandedMatrix(6, 0, 0), BandedMatrix(6, 0, 0)};
  for (Index k = 0; k < 6; ++k) {
    masses[0](k, k) = k < 3 ? 1.0 : 0.2;
    masses[1](k, k) = k < 3 ? 1.1 : 0.3;
  }
  const SystemMatrix pair[] = {SystemMatrix(masses[0]), SystemMatrix(masses[1])};
  for (const int corners : {1, 4}) {
    SparseMatrix Wt(3 * corners, 6);
    for (int k = 0; k < corners; ++k) {
      const double x = k % 2 ? 0.5 : -0.5, y = k / 2 ? 0.5 : -0.5, z = -0.5;
      const double rows[3][6] = {{0, 0, 1, y, -x, 0}, {1, 0, 0, 0, z, -y}, {0, 1, 0, -z, 0, x}};
      for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 6; ++c)
          if (rows[r][c] != 0) Wt.insert(3 * k + r, c) = rows[r][c];
    }
    Wt.makeCompressed();
    PrimalProblem p{&pair[0],
                    1,
                    Vector::Zero(6),
                    Wt,
                    Vector::Zero(3 * corners),
                    std::vector<Set>(corners, friction_cone_set(0.5, 3))};
    PrimalWorkspace workspace;
    InclusionSolution s;
    long allocated = 0;
    for (int step = 0; step < 40; ++step) {
      for (Index k = 0; k < 6; ++k) p.g[k] = samples::draw(engine, -0.01, 0.01) - (k == 2 ? 0.1 : 0.0);
      if (step % 7 == 6) {
        p.A = p.A == &pair[0] ? &pair[1] : &pair[0];
        ++p.A_version;
      }
      const long before = allocations.load();
      solve(p, {}, workspace, s);
      if (step > 0) allocated += allocations.load() - before;
      ASSERT_EQ(s.status, Status::success) << s.message;
    }
    EXPECT_EQ(allocated, 0) << corners;
  }
}

TEST_F(Allocation, OdeStepsRestartsAndEventSearchesAllocateNothing) {
  const auto f = [](double t, const Vector& y, Vector& dydt) {
    for (Index i = 0; i < y.size(); ++i) dydt[i] = -100 * (y[i] - std::cos(t + static_cast<double>(i)));
    return true;
  };
  DormandPrince explicit_one;
  Radau implicit_one;
  const PolynomialFit fit(16);
  for (OdeIntegrator* integrator :
       {static_cast<OdeIntegrator*>(&explicit_one), static_cast<OdeIntegrator*>(&implicit_one)}) {
    const Vector start = Vector::Ones(24);
    Vector y = start;
    integrator->restart(0, start);
    ASSERT_EQ(integrator->step(f, 1), OdeStep::accepted);
    const long allocated = count([&] {
      for (int run = 0; run < 3; ++run) {
        integrator->restart(0, start);
        while (integrator->t() < 0.3 && integrator->step(f, 0.3) == OdeStep::accepted) {
          std::array<double, 8> c{};
          integrator->coefficients(3, std::span(c).first(static_cast<std::size_t>(integrator->degree()) + 1));
          c[0] -= 0.2;
          (void)first_root(c);
          integrator->interpolate(0.5 * (integrator->t_old() + integrator->t()), y);
        }
        integrator->single_step(f, 0, start, 1e-3, y);
        std::array<double, 17> c;
        fit.fit(fit.nodes(), c);
      }
    });
    EXPECT_EQ(allocated, 0);
    EXPECT_EQ(integrator->t(), 0.3);
  }
}

}  // namespace
}  // namespace stickslip::allocation_test
