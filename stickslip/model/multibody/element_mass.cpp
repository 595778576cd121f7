// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/element_mass.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Vector3d;

ModalPlace ElementModel::place(Index a) const {
  ModalPlace A(3, 1 + T.cols());
  A.col(0) = nodes[static_cast<std::size_t>(a)];
  A.rightCols(T.cols()) = T.middleRows<3>(per_node * a);
  return A;
}

ModalPlace ElementModel::turn(Index a) const { return T.middleRows<3>(per_node * a + 3); }

namespace {

constexpr double kWritten = 1e-7;  // of the largest entry: what files with eight digits leave

Matrix3d skew(const Vector3d& a) {
  Matrix3d A;
  A << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return A;
}

/// a of a matrix with the skew part of skew(a).
Vector3d axial(const Matrix3d& A) { return 0.5 * Vector3d(A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1)); }

/// m_ab of a mass matrix that is m_ab times 1 in its 3 × 3 blocks.
SparseMatrix scalar_mass(const SparseMatrix& M) {
  std::vector<Eigen::Triplet<double>> entries;
  double largest = 0, wrong = 0;
  for (Index row = 0; row < M.outerSize(); ++row)
    for (SparseMatrix::InnerIterator it(M, row); it; ++it) {
      largest = std::max(largest, std::abs(it.value()));
      if (it.row() % 3 != it.col() % 3) {
        wrong = std::max(wrong, std::abs(it.value()));
      } else if (it.row() % 3 == 0) {
        entries.emplace_back(static_cast<int>(it.row() / 3), static_cast<int>(it.col() / 3), it.value());
      } else {
        const Index c = it.row() % 3;
        wrong = std::max(wrong, std::abs(it.value() - M.coeff(it.row() - c, it.col() - c)));
      }
    }
  if (wrong > kWritten * largest)
    throw InputError(fmt::format(
        "the mass matrix couples directions or has other masses along y or z than along x (by {:.3g} "
        "of {:.3g}); with three coordinates per node elements of solids are needed, beams and shells have six",
        wrong, largest));
  SparseMatrix m(M.rows() / 3, M.cols() / 3);
  m.setFromTriplets(entries.begin(), entries.end());
  return m;
}

MassMoments moments_of_solids(const ElementModel& model) {
  const SparseMatrix m = scalar_mass(model.M);
  const auto n = static_cast<Index>(model.nodes.size());
  const Index size = 3 * (1 + model.T.cols());
  MassMoments moments;
  moments.mean = ModalPlace::Zero(3, 1 + model.T.cols());
  for (Index a = 0; a < n; ++a) {
    const double mass = m.row(a).sum();
    moments.mass += mass;
    moments.mean += mass * model.place(a);
  }
  moments.mean /= moments.mass;
  DenseMatrix all(n, size);
  for (Index a = 0; a < n; ++a) {
    const ModalPlace A = model.place(a) - moments.mean;
    all.row(a) = Eigen::Map<const Vector>(A.data(), size).transpose();
  }
  moments.C = all.transpose() * (m * all);
  return moments;
}

/// (1) of the header, from M.
struct Exact {
  double mass = 0;
  Vector3d center;
  Matrix3d inertia;   ///< about the centre
  ModalPlace mean;    ///< Σ m L/m
  ModalPlace moment;  ///< Σ m (X - X̄) × L
  DenseMatrix modal;  ///< Σ m L·L

  explicit Exact(const ElementModel& model) {
    const auto n = static_cast<Index>(model.nodes.size());
    const auto turning = [&](const Vector3d& about) {
      DenseMatrix R = DenseMatrix::Zero(6 * n, 3);
      for (Index a = 0; a < n; ++a) {
        R.middleRows<3>(6 * a) = -skew(model.nodes[static_cast<std::size_t>(a)] - about);
        R.middleRows<3>(6 * a + 3).setIdentity();
      }
      return R;
    };
    DenseMatrix S = DenseMatrix::Zero(6 * n, 3);
    for (Index a = 0; a < n; ++a) S.middleRows<3>(6 * a).setIdentity();
    const DenseMatrix MS = model.M * S;
    const Matrix3d all = S.transpose() * MS;
    mass = all.trace() / 3;
    if (!(mass > 0) || (all - mass * Matrix3d::Identity()).cwiseAbs().maxCoeff() > kWritten * std::abs(mass))
      throw InputError(
          fmt::format("the body has the masses {:.6g}, {:.6g}, {:.6g} along x, y, z; they must be equal and > 0 (six "
                      "coordinates per node: displacements, then rotations)",
                      all(0, 0), all(1, 1), all(2, 2)));
    center = -axial(MS.transpose() * turning(Vector3d::Zero())) / mass;  // Σ m (-x̃)
    const DenseMatrix R = turning(center), MT = model.M * model.T;
    inertia = R.transpose() * (model.M * R);
    inertia = 0.5 * (inertia + inertia.transpose()).eval();
    mean = S.transpose() * MT / mass;
    moment = R.transpose() * MT;
    modal = model.T.transpose() * MT;
    modal = 0.5 * (modal + modal.transpose()).eval();
  }
};

Matrix3d planar_of(const Matrix3d& J) { return 0.5 * J.trace() * Matrix3d::Identity() - J; }

/// Symmetric A with A P A = E, P and E not negative; on what P leaves 0, 0.
DenseMatrix carried(const DenseMatrix& P, const DenseMatrix& E) {
  constexpr double kNothing = 1e-13;  // of the largest eigenvalue
  const auto power = [&](const DenseMatrix& A, double exponent) -> DenseMatrix {
    const Eigen::SelfAdjointEigenSolver<DenseMatrix> solver(0.5 * (A + A.transpose()));
    const double largest = solver.eigenvalues().maxCoeff();
    Vector values = solver.eigenvalues();
    for (Index k = 0; k < values.size(); ++k)
      values[k] = values[k] > kNothing * largest ? std::pow(values[k], exponent) : 0.0;
    return solver.eigenvectors() * values.asDiagonal() * solver.eigenvectors().transpose();
  };
  const DenseMatrix root = power(P, 0.5), back = power(P, -0.5);
  return back * power(root * E * root, 0.5) * back;
}

/// Moments of the rigid nodes about the centre of the body.
DenseMatrix cloud(const ElementModel& model, const Exact& exact) {
  const Index columns = 1 + model.T.cols(), size = 3 * columns;
  ModalPlace mean(3, columns);
  mean.col(0) = exact.center;
  mean.rightCols(columns - 1) = exact.mean;
  DenseMatrix C = DenseMatrix::Zero(size, size);
  const std::vector<NodeMass> masses = node_masses(model);
  const auto add = [&](double weight, const ModalPlace& A) {
    const Eigen::Map<const Vector> y(A.data(), size);
    C.selfadjointView<Eigen::Lower>().rankUpdate(y, weight);
  };
  for (Index a = 0; a < static_cast<Index>(masses.size()); ++a) {
    const NodeMass& node = masses[static_cast<std::size_t>(a)];
    const ModalPlace turn = model.turn(a);
    const auto arm = [&](const Vector3d& d) {
      ModalPlace A(3, columns);
      A.col(0) = d;
      A.rightCols(columns - 1) = -skew(d) * turn;
      return A;
    };
    add(node.mass, model.place(a) - mean + arm(node.offset));
    const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(node.planar);
    for (int k = 0; k < 3; ++k) add(solver.eigenvalues()[k], arm(solver.eigenvectors().col(k)));
  }
  C = C.selfadjointView<Eigen::Lower>();
  // Not negative: nodes of rods have inertia about one axis alone, which is that of no body.
  const double length = std::sqrt(std::max(C.topLeftCorner<3, 3>().trace(), 0.0) / exact.mass);
  Vector unit = Vector::Ones(size);
  if (length > 0) unit.head<3>().setConstant(length);
  const DenseMatrix scaled = unit.cwiseInverse().asDiagonal() * C * unit.cwiseInverse().asDiagonal();
  const Eigen::SelfAdjointEigenSolver<DenseMatrix> solver(scaled);
  const DenseMatrix half =
      unit.asDiagonal() * solver.eigenvectors() * solver.eigenvalues().cwiseMax(0.0).cwiseSqrt().asDiagonal();
  return half * half.transpose();
}

/// Σ m X × L_i of moments.
ModalPlace moments_of_turning(const DenseMatrix& C) {
  const Index modes = C.rows() / 3 - 1;
  ModalPlace result(3, modes);
  for (Index i = 0; i < modes; ++i) result.col(i) = 2 * axial(C.block<3, 3>(3 * (1 + i), 0));
  return result;
}

MassMoments moments_of_frames(const ElementModel& model) {
  const Exact exact(model);
  const Index modes = model.T.cols(), size = 3 * (1 + modes);
  const Matrix3d planar = planar_of(exact.inertia);
  const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(planar);
  if (solver.eigenvalues()[0] < -kWritten * solver.eigenvalues()[2])
    throw InputError(
        "the moments of inertia of the mass matrix break the triangle inequality: no body has them (six coordinates "
        "per "
        "node: displacements, then rotations)");
  const DenseMatrix C = cloud(model, exact);
  // X ← H X
  DenseMatrix W = DenseMatrix::Identity(size, size);
  W.topLeftCorner<3, 3>() = carried(C.topLeftCorner<3, 3>(), planar);
  const DenseMatrix placed = W * C * W.transpose();
  // L without rigid rotations, then with those of M.
  const Matrix3d inverse = pseudo_inverse(exact.inertia);
  const ModalPlace found = inverse * moments_of_turning(placed), wanted = inverse * exact.moment;
  DenseMatrix own = DenseMatrix::Identity(size, size);
  for (Index i = 0; i < modes; ++i) own.block<3, 3>(3 * (1 + i), 0) = -skew(found.col(i));
  const DenseMatrix bent = own * placed * own.transpose();
  const auto products = [&](const DenseMatrix& A) {
    DenseMatrix S(modes, modes);
    for (Index i = 0; i < modes; ++i)
      for (Index j = 0; j < modes; ++j) S(i, j) = A.block<3, 3>(3 * (1 + i), 3 * (1 + j)).trace();
    return S;
  };
  const DenseMatrix left =
      exact.modal - exact.mass * exact.mean.transpose() * exact.mean - exact.moment.transpose() * wanted;
  const Vector scale = exact.modal.diagonal().cwiseSqrt().cwiseInverse();
  const DenseMatrix have = scale.asDiagonal() * products(bent) * scale.asDiagonal(),
                    want = scale.asDiagonal() * left * scale.asDiagonal();
  const DenseMatrix F = scale.asDiagonal() * carried(have, want) * scale.cwiseInverse().asDiagonal();
  DenseMatrix last = DenseMatrix::Zero(size, size);
  last.topLeftCorner<3, 3>().setIdentity();
  for (Index i = 0; i < modes; ++i) {
    last.block<3, 3>(3 * (1 + i), 0) = skew(wanted.col(i));
    for (Index j = 0; j < modes; ++j) last.block<3, 3>(3 * (1 + i), 3 * (1 + j)) = F(j, i) * Matrix3d::Identity();
  }
  MassMoments moments;
  moments.mass = exact.mass;
  moments.mean.resize(3, 1 + modes);
  moments.mean.col(0) = exact.center;
  moments.mean.rightCols(modes) = exact.mean;
  moments.C = last * bent * last.transpose();
  // What no place of the nodes shows moves along all directions alike.
  const DenseMatrix rest = left - F.transpose() * products(bent) * F;
  for (Index i = 0; i < modes; ++i)
    for (Index j = 0; j < modes; ++j)
      moments.C.block<3, 3>(3 * (1 + i), 3 * (1 + j)) += rest(i, j) / 3 * Matrix3d::Identity();
  return moments;
}

}  // namespace

std::vector<NodeMass> node_masses(const ElementModel& model) {
  std::vector<NodeMass> masses(model.nodes.size());
  std::vector<Matrix3d> turning(masses.size(), Matrix3d::Zero()), mixed = turning;
  for (Index row = 0; row < model.M.outerSize(); ++row)
    for (SparseMatrix::InnerIterator it(model.M, row); it; ++it) {
      const auto a = static_cast<std::size_t>(it.row() / 6);
      const int i = static_cast<int>(it.row() % 6), j = static_cast<int>(it.col() % 6);
      if (i < 3 && i == j) masses[a].mass += it.value() / 3;
      if (i < 3 && j >= 3) mixed[a](i, j - 3) += it.value();
      if (i >= 3 && j >= 3) turning[a](i - 3, j - 3) += it.value();
    }
  for (std::size_t a = 0; a < masses.size(); ++a) {
    Matrix3d J = 0.5 * (turning[a] + turning[a].transpose());
    if (masses[a].mass > 0) {
      masses[a].offset = -axial(mixed[a]) / masses[a].mass;  // m ω × c = -m c̃ ω
      J += masses[a].mass * skew(masses[a].offset) * skew(masses[a].offset);
    }
    masses[a].planar = planar_of(J);
  }
  return masses;
}

MassMoments element_moments(const ElementModel& model) {
  return model.per_node == 3 ? moments_of_solids(model) : moments_of_frames(model);
}

}  // namespace stickslip
