// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/element_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "stickslip/common/error.hpp"
#include "stickslip/model/multibody/modal_basis.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

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
  constexpr double kWritten = 1e-7;  // of the largest entry: what files with eight digits leave
  if (wrong > kWritten * largest)
    throw InputError(
        fmt::format("the mass matrix couples directions or has other masses along y or z than along x (by {:.3g} "
                    "of {:.3g}); elements of solids with three displacements per node are needed",
                    wrong, largest));
  SparseMatrix m(M.rows() / 3, M.cols() / 3);
  m.setFromTriplets(entries.begin(), entries.end());
  return m;
}

class ElementBody {
 public:
  ElementBody(const SparseMatrix& M, const SparseMatrix& K, const ElementBodyOptions& options)
      : M_(M), K_(K), o_(options), n_(static_cast<Index>(options.nodes.size())) {
    for (const SparseMatrix* A : {&M_, &K_})
      if (A->rows() != 3 * n_ || A->cols() != 3 * n_)
        throw InputError(fmt::format("{} nodes have {} displacements; the {} matrix is {} x {}", n_, 3 * n_,
                                     A == &M_ ? "mass" : "stiffness", A->rows(), A->cols()));
    for (const auto& [name, nodes] : o_.interfaces) {
      if (nodes.empty()) throw InputError(fmt::format("interface '{}' has no nodes", name));
      for (const Index k : nodes)
        if (k < 0 || k >= n_)
          throw InputError(
              fmt::format("interface '{}': there is no node {}; they are counted from 0 to {}", name, k, n_ - 1));
    }
  }

  FlexibleBody build() {
    make_basis();
    add_masses();
    for (const auto& [name, nodes] : o_.interfaces) add_interface(name, nodes);
    return std::move(body_);
  }

 private:
  const std::vector<Index>& nodes_of(const std::string& name) const {
    for (const auto& [own, nodes] : o_.interfaces)
      if (own == name) return nodes;
    throw InputError(fmt::format("there is no interface '{}'", name));
  }

  void make_basis() {
    std::vector<Index> index(static_cast<std::size_t>(3 * n_), 0), back;
    for (const std::string& name : o_.held)
      for (const Index k : nodes_of(name))
        for (Index c = 0; c < 3; ++c) index[static_cast<std::size_t>(3 * k + c)] = -1;
    for (Index k = 0; k < 3 * n_; ++k)
      if (index[static_cast<std::size_t>(k)] == 0) {
        index[static_cast<std::size_t>(k)] = static_cast<Index>(back.size());
        back.push_back(k);
      }
    const auto free_part = [&](const SparseMatrix& A) {
      std::vector<Eigen::Triplet<double>> entries;
      for (Index row = 0; row < A.outerSize(); ++row)
        for (SparseMatrix::InnerIterator it(A, row); it; ++it) {
          const Index i = index[static_cast<std::size_t>(it.row())], j = index[static_cast<std::size_t>(it.col())];
          if (i >= 0 && j >= 0) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), it.value());
        }
      SparseMatrix part(static_cast<Index>(back.size()), static_cast<Index>(back.size()));
      part.setFromTriplets(entries.begin(), entries.end());
      return part;
    };
    std::set<Index> kept;
    for (const std::string& name : o_.kept)
      for (const Index k : nodes_of(name))
        for (Index c = 0; c < 3; ++c)
          if (const Index i = index[static_cast<std::size_t>(3 * k + c)]; i >= 0) kept.insert(i);
    constexpr Index kInSpace = 6;
    const ModalBasis basis = modal_basis(free_part(M_), free_part(K_), {kept.begin(), kept.end()}, o_.modes,
                                         o_.held.empty() ? kInSpace : 0, o_.damping);
    T_.setZero(3 * n_, basis.T.cols());
    for (std::size_t k = 0; k < back.size(); ++k) T_.row(back[k]) = basis.T.row(static_cast<Index>(k));
    body_.stiffness = basis.K;
    body_.damping = basis.D;
    body_.frequency = basis.frequency;
  }

  using Place = Eigen::Matrix<double, 3, Eigen::Dynamic>;

  /// (x_a, T_a)
  Place place(Index a) const {
    Place A(3, 1 + T_.cols());
    A.col(0) = o_.nodes[static_cast<std::size_t>(a)];
    A.rightCols(T_.cols()) = T_.middleRows<3>(3 * a);
    return A;
  }

  void add_masses() {
    const SparseMatrix m = scalar_mass(M_);
    const Index columns = 1 + T_.cols(), size = 3 * columns;
    double mass = 0, length = 0;
    Place mean = Place::Zero(3, columns);
    for (Index a = 0; a < n_; ++a) {
      const Place A = place(a);
      for (SparseMatrix::InnerIterator it(m, a); it; ++it) {
        mass += it.value();
        mean += it.value() * A;
      }
    }
    mean /= mass;
    DenseMatrix all(n_, size);
    for (Index a = 0; a < n_; ++a) {
      const Place A = place(a) - mean;
      length = std::max(length, A.col(0).norm());
      all.row(a) = Eigen::Map<const Vector>(A.data(), size).transpose();
    }
    all.leftCols(3) /= length;  // so that all columns have no unit
    const DenseMatrix C = all.transpose() * (m * all);
    const Eigen::SelfAdjointEigenSolver<DenseMatrix> solver(0.5 * (C + C.transpose()));
    constexpr double kRoundOff = 1e-15;
    std::vector<Index> used;
    for (Index r = 0; r < size; ++r)
      if (solver.eigenvalues()[r] > kRoundOff * solver.eigenvalues()[size - 1]) used.push_back(r);
    const auto pairs = static_cast<double>(used.size());
    for (const Index r : used) {
      Vector y = solver.eigenvectors().col(r) * std::sqrt(solver.eigenvalues()[r] * pairs / mass);
      y.head(3) *= length;
      const Place Y = Eigen::Map<const Place>(y.data(), 3, columns);
      for (const double sign : {1.0, -1.0}) {
        FlexibleStation station;
        const Place at = mean + sign * Y;
        station.position = at.col(0);
        station.shift = at.rightCols(T_.cols());
        station.mass = mass / (2 * pairs);
        body_.stations.push_back(std::move(station));
      }
    }
  }

  void add_interface(const std::string& name, const std::vector<Index>& nodes) {
    FlexibleStation station;
    station.node = name;
    Place mean = Place::Zero(3, 1 + T_.cols());
    for (const Index k : nodes) mean += place(k) / static_cast<double>(nodes.size());
    station.position = mean.col(0);
    station.shift = mean.rightCols(T_.cols());
    // Best rotation: Σ (r² 1 - r rᵀ) θ = Σ r × u
    Matrix3d spread = Matrix3d::Zero();
    Place moment = Place::Zero(3, T_.cols());
    for (const Index k : nodes) {
      const Vector3d r = o_.nodes[static_cast<std::size_t>(k)] - station.position;
      spread += r.squaredNorm() * Matrix3d::Identity() - r * r.transpose();
      for (Index c = 0; c < T_.cols(); ++c) moment.col(c) += r.cross(Vector3d(T_.block<3, 1>(3 * k, c)));
    }
    const Eigen::SelfAdjointEigenSolver<Matrix3d> solver(spread);
    constexpr double kOnALine = 1e-10;  // of the largest: nodes on a line say nothing of the rotation about it
    if (nodes.size() > 1) {
      Matrix3d inverse = Matrix3d::Zero();
      for (int k = 0; k < 3; ++k)
        if (solver.eigenvalues()[k] > kOnALine * solver.eigenvalues()[2])
          inverse += solver.eigenvectors().col(k) * solver.eigenvectors().col(k).transpose() / solver.eigenvalues()[k];
      station.turn = inverse * moment;
    }
    body_.stations.push_back(std::move(station));
  }

  const SparseMatrix& M_;
  const SparseMatrix& K_;
  const ElementBodyOptions& o_;
  Index n_;
  DenseMatrix T_;
  FlexibleBody body_;
};

}  // namespace

FlexibleBody make_element_body(const SparseMatrix& M, const SparseMatrix& K, const ElementBodyOptions& options) {
  return ElementBody(M, K, options).build();
}

}  // namespace stickslip
