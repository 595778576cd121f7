// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/mass_moments.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Vector3d;

Matrix3d pseudo_inverse(const Matrix3d& A, double fraction) {
  const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(A);
  Matrix3d inverse = Matrix3d::Zero();
  for (int k = 0; k < 3; ++k)
    if (solver.eigenvalues()[k] > fraction * solver.eigenvalues()[2] && solver.eigenvalues()[k] > 0)
      inverse += solver.eigenvectors().col(k) * solver.eigenvectors().col(k).transpose() / solver.eigenvalues()[k];
  return inverse;
}

namespace {

/// Q of a point at the distance `from` of the mean.
std::array<DenseMatrix, 3> quadratic_at(const QuadraticMoments& quadratic, const Matrix3d& inverse,
                                        const Vector3d& from) {
  const Vector3d share = inverse * from;
  std::array<DenseMatrix, 3> Q;
  for (std::size_t d = 0; d < 3; ++d) {
    Q[d] = quadratic.mean[d];
    for (std::size_t c = 0; c < 3; ++c) Q[d] += share[static_cast<int>(c)] * quadratic.by_place[c][d];
    if (Q[d].isZero(0.0)) Q[d].resize(0, 0);
  }
  return Q;
}

}  // namespace

std::vector<FlexibleStation> mass_stations(const MassMoments& moments, const QuadraticMoments* quadratic) {
  const Index columns = moments.mean.cols(), size = 3 * columns;
  const double length = std::sqrt(moments.spread().trace() / moments.mass);
  Vector unit = Vector::Ones(size);
  unit.head<3>().setConstant(length);  // so that all numbers are without a unit
  const DenseMatrix C = unit.cwiseInverse().asDiagonal() * moments.C * unit.cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<DenseMatrix> solver(0.5 * (C + C.transpose()));
  constexpr double kRoundOff = 1e-15;
  std::vector<Index> used;
  for (Index r = 0; r < size; ++r)
    if (solver.eigenvalues()[r] > kRoundOff * solver.eigenvalues()[size - 1]) used.push_back(r);
  const auto pairs = static_cast<double>(used.size());
  const Matrix3d inverse = pseudo_inverse(moments.spread());
  std::vector<FlexibleStation> stations;
  for (const Index r : used) {
    const Vector y =
        unit.asDiagonal() * solver.eigenvectors().col(r) * std::sqrt(solver.eigenvalues()[r] * pairs / moments.mass);
    const ModalPlace Y = Eigen::Map<const ModalPlace>(y.data(), 3, columns);
    for (const double sign : {1.0, -1.0}) {
      FlexibleStation station;
      const ModalPlace at = moments.mean + sign * Y;
      station.position = at.col(0);
      station.shift = at.rightCols(columns - 1);
      station.mass = moments.mass / (2 * pairs);
      if (quadratic) station.shortening = quadratic_at(*quadratic, inverse, sign * Y.col(0));
      stations.push_back(std::move(station));
    }
  }
  return stations;
}

}  // namespace stickslip
