// SPDX-License-Identifier: Apache-2.0
// Friction-contact problems made in code, small and with known properties.
#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <random>
#include <string>

#include "stickslip/io/fclib.hpp"

namespace stickslip::samples {

/// A folder of its own for each test, removed at the end.
struct ScratchFolder {
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "fclib-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::filesystem::path path;
};

inline SparseMatrix sparse(const DenseMatrix& A) { return A.sparseView(); }

inline DenseMatrix random_matrix(std::mt19937& engine, Index rows, Index columns) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  return DenseMatrix::NullaryExpr(rows, columns, [&] { return uniform(engine); });
}
inline Vector random_vector(std::mt19937& engine, Index size) { return random_matrix(engine, size, 1); }

/// H of random directions, about half of its entries zero; M symmetric positive definite, two bodies.
inline GlobalContactProblem random_global(std::mt19937& engine, int dimension, int contacts, int constraints) {
  const Index n = 8, m = dimension * contacts;
  GlobalContactProblem problem;
  problem.dimension = dimension;
  DenseMatrix M = DenseMatrix::Zero(n, n);
  for (const Index at : {Index(0), Index(4)}) {
    const DenseMatrix A = random_matrix(engine, 4, 4);
    M.block(at, at, 4, 4) = A * A.transpose() + DenseMatrix::Identity(4, 4);
  }
  problem.M = sparse(M);
  DenseMatrix H = random_matrix(engine, n, m);
  problem.H = sparse(H.unaryExpr([](double x) { return std::abs(x) < 0.5 ? 0.0 : x; }));
  problem.f = random_vector(engine, n);
  problem.w = random_vector(engine, m);
  problem.mu = random_vector(engine, contacts).cwiseAbs();
  if (constraints > 0) {
    problem.G = sparse(random_matrix(engine, n, constraints));
    problem.b = random_vector(engine, constraints);
  }
  problem.info = {"random", "two bodies and random directions", "M positive definite"};
  return problem;
}

/// A point mass on a plane inclined by `angle` [rad], one step of length h from rest: velocity (normal, down the plane,
/// across). It sticks if tan(angle) <= μ, else it slides with h g (sin(angle) - μ cos(angle)).
inline GlobalContactProblem block_on_incline(double mass, double angle, double mu, double h = 0.01, double g = 9.81) {
  GlobalContactProblem problem;
  problem.M = sparse(mass * DenseMatrix::Identity(3, 3));
  problem.H = sparse(DenseMatrix::Identity(3, 3));
  problem.f = mass * h * g * Vector{{-std::cos(angle), std::sin(angle), 0.0}};
  problem.w = Vector::Zero(3);
  problem.mu = Vector::Constant(1, mu);
  return problem;
}

/// `count` spheres one upon the other: contact k carries the weight of all spheres from k on.
inline LocalContactProblem column_of_spheres(int count, double mass, double mu, double h = 0.01, double g = 9.81) {
  GlobalContactProblem problem;
  problem.M = sparse(mass * DenseMatrix::Identity(3 * count, 3 * count));
  DenseMatrix H = DenseMatrix::Zero(3 * count, 3 * count);
  for (int k = 0; k < count; ++k)
    for (int c = 0; c < 3; ++c) {
      H(3 * k + c, 3 * k + c) = 1;
      if (k > 0) H(3 * (k - 1) + c, 3 * k + c) = -1;
    }
  problem.H = sparse(H);
  problem.f = Vector::Zero(3 * count);
  for (int k = 0; k < count; ++k) problem.f[3 * k] = -mass * h * g;
  problem.w = Vector::Zero(3 * count);
  problem.mu = Vector::Constant(count, mu);
  return condense(problem);
}

}  // namespace stickslip::samples
