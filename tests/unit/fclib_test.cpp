// SPDX-License-Identifier: Apache-2.0
// FCLIB files: what is written is read again, the forms of a problem are the same problem, errors are what they claim.
#include "stickslip/io/fclib.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <fstream>

#include "stickslip/common/error.hpp"
#include "stickslip/solvers/residual.hpp"
#include "tests/unit/fclib_samples.hpp"

namespace stickslip::fclib_test {
namespace {

using namespace samples;

constexpr FclibStorage kStorages[] = {FclibStorage::triplets, FclibStorage::compressed_columns,
                                      FclibStorage::compressed_rows};

void expect_same(const SparseMatrix& a, const SparseMatrix& b) {
  ASSERT_EQ(a.rows(), b.rows());
  ASSERT_EQ(a.cols(), b.cols());
  EXPECT_EQ(a.nonZeros(), b.nonZeros());
  EXPECT_EQ(DenseMatrix(a), DenseMatrix(b));
}

void expect_same(const FclibInfo& a, const FclibInfo& b) {
  EXPECT_EQ(a.title, b.title);
  EXPECT_EQ(a.description, b.description);
  EXPECT_EQ(a.math_info, b.math_info);
}

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST(FclibFile, LocalProblemComesBackBitForBitFromEveryStorage) {
  const ScratchFolder scratch;
  std::mt19937 engine(1);
  for (const int dimension : {2, 3})
    for (const int constraints : {0, 2}) {
      const LocalContactProblem written = condense(random_global(engine, dimension, 4, constraints));
      for (const FclibStorage storage : kStorages) {
        write_fclib(scratch.path / "p.hdf5", written, storage);
        const auto read = std::get<LocalContactProblem>(read_fclib(scratch.path / "p.hdf5"));
        EXPECT_EQ(read.dimension, dimension);
        expect_same(read.W, written.W);
        expect_same(read.V, written.V);
        expect_same(read.R, written.R);
        EXPECT_EQ(read.q, written.q);
        EXPECT_EQ(read.s, written.s);
        EXPECT_EQ(read.mu, written.mu);
        expect_same(read.info, written.info);
      }
    }
}

TEST(FclibFile, GlobalProblemComesBackBitForBitFromEveryStorage) {
  const ScratchFolder scratch;
  std::mt19937 engine(2);
  for (const int dimension : {2, 3})
    for (const int constraints : {0, 3}) {
      const GlobalContactProblem written = random_global(engine, dimension, 5, constraints);
      for (const FclibStorage storage : kStorages) {
        write_fclib(scratch.path / "p.hdf5", written, storage);
        const auto read = std::get<GlobalContactProblem>(read_fclib(scratch.path / "p.hdf5"));
        EXPECT_EQ(read.dimension, dimension);
        expect_same(read.M, written.M);
        expect_same(read.H, written.H);
        expect_same(read.G, written.G);
        EXPECT_EQ(read.f, written.f);
        EXPECT_EQ(read.w, written.w);
        EXPECT_EQ(read.b, written.b);
        EXPECT_EQ(read.mu, written.mu);
        expect_same(read.info, written.info);
      }
    }
}

TEST(FclibFile, LargeArraysAreCompressedAndComeBack) {
  const ScratchFolder scratch;
  const LocalContactProblem written = column_of_spheres(300, 1.0, 0.5);
  write_fclib(scratch.path / "p.hdf5", written);
  EXPECT_LT(std::filesystem::file_size(scratch.path / "p.hdf5"),
            static_cast<std::uintmax_t>(written.W.nonZeros() * 12));
  const auto read = std::get<LocalContactProblem>(read_fclib(scratch.path / "p.hdf5"));
  EXPECT_EQ(read.W.nonZeros(), written.W.nonZeros());
  EXPECT_EQ((read.W - written.W).norm(), 0.0);
}

TEST(FclibFile, SolutionGoesIntoACopyOrIntoTheFileAndReplacesTheOldOne) {
  const ScratchFolder scratch;
  std::mt19937 engine(3);
  const GlobalContactProblem problem = random_global(engine, 3, 2, 1);
  const std::filesystem::path source = scratch.path / "p.hdf5", copy = scratch.path / "copy.hdf5";
  write_fclib(source, problem);
  const std::string before = bytes_of(source);
  EXPECT_FALSE(read_fclib_solution(source, problem).has_value());
  for (int round = 0; round < 2; ++round) {
    const FclibSolution solution = expand(problem, random_vector(engine, 7));
    write_fclib_solution(round == 0 ? source : copy, copy, solution);
    const auto read = read_fclib_solution(copy, problem);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->v, solution.v);
    EXPECT_EQ(read->u, solution.u);
    EXPECT_EQ(read->r, solution.r);
    EXPECT_EQ(read->l, solution.l);
    expect_same(std::get<GlobalContactProblem>(read_fclib(copy)).H, problem.H);
  }
  EXPECT_EQ(bytes_of(source), before);
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(scratch.path)) ++files;
  EXPECT_EQ(files, 2u);  // no .part is left
}

TEST(FclibFile, GuessesComeBackInTheirOrder) {
  const ScratchFolder scratch;
  std::mt19937 engine(4);
  const LocalContactProblem problem = condense(random_global(engine, 3, 2, 0));
  const std::filesystem::path path = scratch.path / "p.hdf5";
  write_fclib(path, problem);
  EXPECT_TRUE(read_fclib_guesses(path, problem).empty());
  const std::vector<FclibSolution> guesses{expand(problem, random_vector(engine, 6)),
                                           expand(problem, random_vector(engine, 6))};
  write_fclib_guesses(path, path, guesses);
  const std::vector<FclibSolution> read = read_fclib_guesses(path, problem);
  ASSERT_EQ(read.size(), 2u);
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(read[k].r, guesses[k].r);
    EXPECT_EQ(read[k].u, guesses[k].u);
    EXPECT_EQ(read[k].v.size(), 0);
  }
}

TEST(FclibFile, NothingIsLeftBehindWhereTheProblemIsWrong) {
  const ScratchFolder scratch;
  LocalContactProblem problem = column_of_spheres(2, 1.0, 0.5);
  problem.mu[1] = -0.1;
  EXPECT_THROW(write_fclib(scratch.path / "p.hdf5", problem), InputError);
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path));
  problem.mu[1] = 0.1;
  EXPECT_THROW(write_fclib(scratch.path / "absent" / "p.hdf5", problem), InputError);
  EXPECT_THROW(write_fclib(scratch.path, problem), InputError);
}

TEST(FclibProblem, CondensingIsTheDenseFormula) {
  std::mt19937 engine(5);
  for (int trial = 0; trial < 20; ++trial) {
    const int p = trial % 3;
    const GlobalContactProblem global = random_global(engine, 2 + trial % 2, 3, p);
    const LocalContactProblem local = condense(global);
    const DenseMatrix M(global.M), H(global.H), G(global.G);
    const DenseMatrix inverse = M.inverse();
    // M = A Aᵀ + I is conditioned below 1e2: rounding stays some hundred units in the last place.
    const double tolerance = 1e-12;
    EXPECT_LE((DenseMatrix(local.W) - H.transpose() * inverse * H).norm(), tolerance * H.squaredNorm());
    EXPECT_LE((local.q - H.transpose() * inverse * global.f - global.w).norm(), tolerance * 10);
    if (p == 0) continue;
    EXPECT_LE((DenseMatrix(local.V) - H.transpose() * inverse * G).norm(), tolerance * H.squaredNorm());
    EXPECT_LE((DenseMatrix(local.R) - G.transpose() * inverse * G).norm(), tolerance * G.squaredNorm());
    EXPECT_LE((local.s - G.transpose() * inverse * global.f - global.b).norm(), tolerance * 10);
  }
}

TEST(FclibProblem, CondensingAMassMatrixThatCouplesEverythingIsTheSameFormula) {
  // 90 coordinates in one chain: beyond the size of a body, so that the sparse factors are used.
  const Index n = 90;
  std::mt19937 engine(6);
  GlobalContactProblem global;
  DenseMatrix M = 4 * DenseMatrix::Identity(n, n);
  for (Index i = 0; i + 1 < n; ++i) M(i, i + 1) = M(i + 1, i) = -1;
  global.M = sparse(M);
  global.H = sparse(random_matrix(engine, n, 6));
  global.f = random_vector(engine, n);
  global.w = random_vector(engine, 6);
  global.mu = Vector::Constant(2, 0.3);
  const LocalContactProblem local = condense(global);
  const DenseMatrix H(global.H), expected = H.transpose() * M.inverse() * H;
  EXPECT_LE((DenseMatrix(local.W) - expected).norm(), 1e-13 * H.squaredNorm());
}

TEST(FclibProblem, ExpandedSolutionSatisfiesTheEquationsOfBothForms) {
  std::mt19937 engine(7);
  const GlobalContactProblem global = random_global(engine, 3, 3, 2);
  const LocalContactProblem local = condense(global);
  const Vector reactions = random_vector(engine, 11);
  const FclibSolution a = expand(global, reactions), b = expand(local, reactions);
  EXPECT_LE((global.M * a.v - global.H * a.r - global.G * a.l - global.f).norm(), 1e-12);
  EXPECT_LE((a.u - b.u).norm(), 1e-12);
  EXPECT_EQ(reactions_of(a), reactions);
}

TEST(FclibProblem, DualAndPrimalFormsHaveTheSameVelocities) {
  std::mt19937 engine(8);
  for (const int p : {0, 2}) {
    const GlobalContactProblem global = random_global(engine, 3, 3, p);
    SystemMatrix A;
    const PrimalProblem primal = to_primal(global, A);
    const DualProblem from_primal = to_dual(primal), dual = to_dual(condense(global));
    ASSERT_EQ(dual.sets.size(), static_cast<std::size_t>(3 + p));
    ASSERT_EQ(primal.sets.size(), dual.sets.size());
    for (std::size_t k = 0; k < dual.sets.size(); ++k) {
      EXPECT_EQ(primal.sets[k].kind, dual.sets[k].kind);
      EXPECT_EQ(primal.sets[k].limit, dual.sets[k].limit);
    }
    EXPECT_LE((to_dense(from_primal.D) - to_dense(dual.D)).norm(), 1e-12 * to_dense(dual.D).norm());
    EXPECT_LE((from_primal.b - dual.b).norm(), 1e-12 * dual.b.norm());
  }
}

TEST(FclibProblem, UnsymmetricMassIsCondensedWithoutAndRefusedWithBilateralConstraints) {
  std::mt19937 engine(9);
  GlobalContactProblem global = random_global(engine, 3, 2, 0);
  global.M.coeffRef(0, 1) += 0.3;
  const LocalContactProblem local = condense(global);
  const DenseMatrix H(global.H), expected = H.transpose() * DenseMatrix(global.M).inverse() * H;
  EXPECT_LE((DenseMatrix(local.W) - expected).norm(), 1e-12 * H.squaredNorm());
  global.G = sparse(random_matrix(engine, 8, 1));
  global.b = random_vector(engine, 1);
  EXPECT_THROW(condense(global), InputError);
}

TEST(FclibProblem, SingularMassIsRefused) {
  std::mt19937 engine(10);
  GlobalContactProblem global = random_global(engine, 3, 2, 0);
  DenseMatrix M(global.M);
  M.row(2).setZero();
  M.col(2).setZero();
  global.M = sparse(M);
  EXPECT_THROW(condense(global), InputError);
}

TEST(FclibProblem, WhatDoesNotFitIsNamed) {
  const LocalContactProblem good = column_of_spheres(2, 1.0, 0.5);
  auto message = [](const LocalContactProblem& problem) -> std::string {
    try {
      validate(problem);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(good), "");
  LocalContactProblem bad = good;
  bad.q.conservativeResize(5);
  EXPECT_EQ(message(bad).substr(0, 8), "spacedim");
  bad = good;
  bad.W.coeffRef(0, 0) = std::nan("");
  EXPECT_EQ(message(bad).substr(0, 2), "W:");
  bad = good;
  bad.q[3] = HUGE_VAL;
  EXPECT_EQ(message(bad).substr(0, 2), "q:");
  bad = good;
  bad.mu[0] = -1;
  EXPECT_EQ(message(bad).substr(0, 3), "mu:");
  bad = good;
  bad.dimension = 4;
  EXPECT_EQ(message(bad).substr(0, 8), "spacedim");
  bad = good;
  bad.W.conservativeResize(6, 5);
  EXPECT_EQ(message(bad).substr(0, 2), "W:");
}

}  // namespace
}  // namespace stickslip::fclib_test
