// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/modal_basis.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/model/reduction.hpp"

namespace stickslip {

namespace {

constexpr Index kLargestDense = 3000;  // coordinates: its eigenvalues take half a minute

/// Where coordinates have no mass (rotations of lumped elements): those that have some, from M φ = φ K/ω².
DenseMatrix modes_without_mass(const SparseMatrix& M, const SparseMatrix& K, Index modes) {
  const Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix> solver{DenseMatrix(M), DenseMatrix(K)};
  const Vector& values = solver.eigenvalues();
  if (solver.info() != Eigen::Success)
    throw InputError(
        "the stiffness is not positive definite where nodes are held; hold the body so that it cannot move");
  constexpr double kNoMass = 1e-12;  // of the largest 1/ω²: round-off of 0
  Index count = 0;
  while (count < std::min(modes, static_cast<Index>(values.size())) &&
         values[values.size() - 1 - count] > kNoMass * values[values.size() - 1])
    ++count;
  DenseMatrix T = solver.eigenvectors().rightCols(count).rowwise().reverse();
  for (Index k = 0; k < count; ++k) T.col(k) /= T.col(k).cwiseAbs().maxCoeff();
  return T;
}

/// Natural modes above the rigid ones.
DenseMatrix natural_modes(const SparseMatrix& M, const SparseMatrix& K, Index modes, Index rigid) {
  if (M.rows() > kLargestDense)
    throw InputError(fmt::format("natural modes are computed up to {} coordinates, not {}; hold a node and keep one",
                                 kLargestDense, M.rows()));
  const Eigen::LLT<DenseMatrix> factor{DenseMatrix(M)};
  if (factor.info() != Eigen::Success && rigid == 0) return modes_without_mass(M, K, modes);
  const Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix> solver{DenseMatrix(K), DenseMatrix(M)};
  if (solver.info() != Eigen::Success || factor.info() != Eigen::Success)
    throw InputError("the mass matrix is not positive definite; give every coordinate mass, or hold a node");
  const Index count = std::min(modes, static_cast<Index>(M.rows()) - rigid);
  const Vector& values = solver.eigenvalues();
  constexpr double kRigid = 1e-8;  // of the first elastic one: beside the round-off of the largest, a rigid motion
  if (rigid > 0 && count > 0 &&
      !(std::abs(values[rigid - 1]) < kRigid * values[rigid] + 1e-13 * values[values.size() - 1]))
    throw InputError(
        fmt::format("the stiffness has fewer than {} rigid motions; hold a node where the body is held", rigid));
  DenseMatrix T = solver.eigenvectors().middleCols(rigid, count);
  for (Index k = 0; k < count; ++k) T.col(k) /= T.col(k).cwiseAbs().maxCoeff();
  return T;
}

}  // namespace

ModalBasis modal_basis(const SparseMatrix& M, const SparseMatrix& K, const std::vector<Index>& kept, Index modes,
                       Index rigid, double damping) {
  ModalBasis basis;
  if (rigid > 0 || kept.empty()) {
    if (!kept.empty())
      throw InputError("the motion of nodes can be kept only where the body is held; hold a node or end, or keep none");
    basis.T = natural_modes(M, K, modes, rigid);
  } else {
    basis.T = reduce(M, SparseMatrix(), K, {.kept = kept, .modes = modes}).T;
  }
  basis.K = basis.T.transpose() * (K * basis.T);
  basis.K = 0.5 * (basis.K + basis.K.transpose()).eval();
  DenseMatrix mass = basis.T.transpose() * (M * basis.T);
  mass = 0.5 * (mass + mass.transpose()).eval();
  const Eigen::GeneralizedSelfAdjointEigenSolver<DenseMatrix> solver{basis.K, mass};
  basis.frequency = solver.eigenvalues().cwiseMax(0.0).cwiseSqrt();
  const DenseMatrix scaled = mass * solver.eigenvectors();
  basis.D = scaled * (2 * damping * basis.frequency).asDiagonal() * scaled.transpose();
  return basis;
}

}  // namespace stickslip
