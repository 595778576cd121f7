// SPDX-License-Identifier: Apache-2.0
// Reduced models against the full ones: frequencies with their estimated errors, responses, sectors against whole
// rings.
#include "stickslip/model/reduction.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "stickslip/periodic/weighted_residual.hpp"
#include "tests/support/harmonic_balance_peer.hpp"

namespace stickslip::reduction_test {
namespace {

SparseMatrix sparse(const DenseMatrix& A) { return A.sparseView(); }

TEST(Reduction, ErrorsOfFrequenciesAreThoseEstimated) {
  for (const int elements : {20, 120}) {  // all modes at once, and by Lanczos
    const Beam beam = clamped_beam(elements, 2, 0.1, 0.3, 185e9, 7830);
    const Index n = beam.M.rows();
    const Reduction r = reduce(sparse(beam.M), SparseMatrix(n, n), sparse(beam.K), {{4, n - 2}, 6});
    const Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix> full(beam.K, beam.M);
    ASSERT_EQ(r.frequency.size(), 8);
    for (Index k = 0; k < 6; ++k) {
      const double exact = std::sqrt(full.eigenvalues()[k]), error = r.frequency[k] / exact - 1;
      EXPECT_GE(error, -1e-9) << k;  // Ritz values lie above
      EXPECT_LE(error, 1.3 * r.frequency_error[k] + 1e-8) << k;
      EXPECT_LE(std::abs(1 - std::pow(r.frequency[k] / exact, 2)), r.frequency_bound[k] + 1e-8) << k;
      if (error > 1e-7) {
        EXPECT_GE(error, 0.2 * r.frequency_error[k]) << k;
      }
    }
    EXPECT_LT(r.error_up_to(r.frequency[3]), 1e-3);
  }
}

TEST(Reduction, AllModesAreTheModelItself) {
  const Beam beam = clamped_beam(4, 2, 0.1, 0.3, 185e9, 7830);
  const Reduction r = reduce(sparse(beam.M), SparseMatrix(8, 8), sparse(beam.K), {{2, 6}, 100});
  EXPECT_EQ(r.modes(), 6);
  EXPECT_LT(r.frequency_bound.maxCoeff(), 1e-6);
}

TEST(Reduction, IsTheSameInAllUnits) {
  const Beam one = clamped_beam(30, 2, 0.1, 0.3, 185e9, 7830);
  const Reduction r = reduce(sparse(one.M), SparseMatrix(60, 60), sparse(one.K), {{4, 58}, 5});
  for (const double mass : {1e-6, 1e6})
    for (const double time : {1e-6, 1e6}) {
      const Reduction s =
          reduce(sparse(mass * one.M), SparseMatrix(60, 60), sparse(mass / (time * time) * one.K), {{4, 58}, 5});
      EXPECT_LT((s.frequency * time - r.frequency).norm(), 1e-8 * r.frequency.norm());
      EXPECT_LT((s.frequency_error - r.frequency_error).norm(), 1e-6 * r.frequency_error.norm() + 1e-9);
    }
}

TEST(Reduction, FreeStructureThatIsNotHeldIsRefused) {
  const DenseMatrix K{{1, -1, 0}, {-1, 1, 0}, {0, 0, 1}}, M = DenseMatrix::Identity(3, 3);
  try {
    reduce(sparse(M), SparseMatrix(3, 3), sparse(K), {{2}, 1});
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("keep more coordinates"), std::string::npos);
  }
  EXPECT_NO_THROW(reduce(sparse(M), SparseMatrix(3, 3), sparse(K), {{0, 2}, 1}));
}

/// A ring of N sectors: two masses each (blade and rim), rims coupled; a slider on every blade. Engine order d.
std::unique_ptr<System> ring(int N, int d, double omega, double stiffness) {
  MatrixModel model;
  model.coordinates = numbered_coordinates(2 * N);
  DenseMatrix M = DenseMatrix::Identity(2 * N, 2 * N), K = DenseMatrix::Zero(2 * N, 2 * N);
  for (int s = 0; s < N; ++s) {
    const int blade = 2 * s, rim = 2 * s + 1, next = 2 * ((s + 1) % N) + 1;
    M(rim, rim) = 2;
    K(blade, blade) += 1, K(rim, rim) += 1, K(blade, rim) -= 1, K(rim, blade) -= 1;
    K(rim, rim) += 0.5;
    K(rim, rim) += 3, K(next, next) += 3, K(rim, next) -= 3, K(next, rim) -= 3;
    FrictionElement law;
    law.name = fmt::format("pad{}", s);
    law.directions = {on(blade)};
    law.limit = 0.2;
    law.stiffness = stiffness;
    model.friction.push_back(law);
  }
  model.mass = SystemMatrix(M);
  model.stiffness = SystemMatrix(K);
  model.damping = SystemMatrix(DenseMatrix(0.02 * K));
  model.force.components.assign(static_cast<std::size_t>(2 * N), StateFunction(0.0));
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  for (int s = 0; s < N; ++s)
    model.force.components[static_cast<std::size_t>(2 * s)] =
        StateFunction(Expression::parse(fmt::format("cos({:.17g}*t - {:.17g})", omega, 2 * M_PI * d * s / N), symbols));
  return make_system(std::move(model));
}

/// One sector: blade, rim on the left cut, rim on the right cut (the coupling spring lies between the cuts).
std::unique_ptr<System> sector(double omega, double stiffness) {
  MatrixModel model;
  model.coordinates = {"blade", "left", "right"};
  model.mass = dense({{1, 0, 0}, {0, 1.5, 0}, {0, 0, 0.5}});
  model.stiffness = dense({{1, -1, 0}, {-1, 1.5 + 3, -3}, {0, -3, 3}});
  model.damping = dense({{0.02, -0.02, 0}, {-0.02, 0.09, -0.06}, {0, -0.06, 0.06}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  model.force.components = {StateFunction(Expression::parse(fmt::format("cos({:.17g}*t)", omega), symbols)), 0.0, 0.0};
  FrictionElement law;
  law.name = "pad";
  law.directions = {on(0)};
  law.limit = 0.2;
  law.stiffness = stiffness;
  model.friction = {law};
  return make_system(std::move(model));
}

TEST(CyclicSymmetry, SectorMovesLikeTheWholeRing) {
  const int N = 6;
  for (const int d : {0, 1, 2, 3})
    for (const double stiffness : {2.0, 0.0}) {
      const double omega = 1.3;
      PeriodicOptions options;
      options.period = 2 * M_PI / omega;
      options.harmonics = 5;
      options.samples = 48;
      const auto whole = ring(N, d, omega, stiffness), part = sector(omega, stiffness);
      WeightedResidual all(*whole, options, 0, Vector::Zero(2 * N));
      const ResidualSolution a = solve_residual(all, all.linear_start(), {.tolerance = 1e-11});
      options.cyclic = {N, d, {{1, 2}}};
      WeightedResidual one(*part, options, 0, Vector::Zero(3));
      const ResidualSolution b = solve_residual(one, one.linear_start(), {.tolerance = 1e-11});
      ASSERT_EQ(a.status, Status::success);
      ASSERT_EQ(b.status, Status::success);
      const Orbit x = all.orbit(a.X), y = one.orbit(b.X);
      // Weighted laws of a wave and of its turned copies are alike where samples are: 6 sectors, samples a multiple
      // of 6.
      EXPECT_NEAR(y.maximum[0], x.maximum[0], 1e-7 * x.maximum[0]) << d << " " << stiffness;
      EXPECT_NEAR(y.maximum[1], x.maximum[1], 1e-7 * x.maximum[1]) << d << " " << stiffness;
      EXPECT_LE(one.unknowns(), all.unknowns() / N);
    }
}

TEST(CyclicSymmetry, MistakesAreNamed) {
  const auto part = sector(1, 0);
  PeriodicOptions options;
  options.period = 2 * M_PI;
  options.cyclic = {6, 6, {{1, 2}}};
  EXPECT_THROW(WeightedResidual(*part, options, 0, Vector::Zero(3)), InputError);
  options.cyclic = {6, 1, {{1, 0}}};  // the law acts on the right cut
  EXPECT_THROW(WeightedResidual(*part, options, 0, Vector::Zero(3)), InputError);
}

}  // namespace
}  // namespace stickslip::reduction_test
