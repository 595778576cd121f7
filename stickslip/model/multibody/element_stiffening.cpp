// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/element_stiffening.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <map>

#include "stickslip/common/error.hpp"

namespace stickslip {

using Eigen::Matrix3d;
using Eigen::Vector3d;

namespace {

/// Weight of what an edge turns beside what it comes nearer: it says where nodes are that only lie in a line.
constexpr double kTurning = 1e-6;

struct Edge {
  Index a, b;
  double weight;
  Vector3d e = Vector3d::Zero();  ///< 0 of nodes at one place
  double length = 0;
};

std::vector<Edge> edges_of(const ElementModel& model, const SparseMatrix& K) {
  std::map<std::pair<Index, Index>, double> squares;
  double largest = 0;
  for (Index row = 0; row < K.outerSize(); ++row)
    for (SparseMatrix::InnerIterator it(K, row); it; ++it) {
      const Index a = it.row() / model.per_node, b = it.col() / model.per_node;
      if (a >= b || it.row() % model.per_node >= 3 || it.col() % model.per_node >= 3) continue;
      largest = std::max(largest, squares[{a, b}] += it.value() * it.value());
    }
  constexpr double kJoined = 1e-12;  // of the largest |K_ab|
  std::vector<Edge> edges;
  for (const auto& [pair, square] : squares) {
    if (square <= kJoined * kJoined * largest) continue;
    Edge edge{pair.first, pair.second, std::sqrt(square / largest)};
    const Vector3d r = model.nodes[static_cast<std::size_t>(edge.b)] - model.nodes[static_cast<std::size_t>(edge.a)];
    edge.length = r.norm();
    if (edge.length > 0) edge.e = r / edge.length;
    edges.push_back(edge);
  }
  return edges;
}

/// H_ab.
DenseMatrix nearer(const ElementModel& model, const Edge& edge) {
  const Matrix3d across = Matrix3d::Identity() - edge.e * edge.e.transpose();
  const ModalPlace D =
      across * (model.T.middleRows<3>(model.per_node * edge.b) - model.T.middleRows<3>(model.per_node * edge.a));
  const double l = edge.length;
  if (model.per_node == 3) return D.transpose() * D / l;
  const auto slope = [&](Index node) {
    ModalPlace t = model.turn(node);
    for (Index k = 0; k < t.cols(); ++k) t.col(k) = Vector3d(t.col(k)).cross(edge.e);
    return t;
  };
  const ModalPlace ta = slope(edge.a), tb = slope(edge.b), sum = ta + tb;
  const DenseMatrix ends = D.transpose() * sum, both = ta.transpose() * tb;
  return 6 / (5 * l) * D.transpose() * D - (ends + ends.transpose()) / 10 +
         2 * l / 15 * (ta.transpose() * ta + tb.transpose() * tb) - l / 30 * (both + both.transpose());
}

/// The least squares of the edges: for loads f on the nodes (columns, 3 per node) the matrices Σ f·Q.
class Network {
 public:
  Network(const ElementModel& model, const SparseMatrix& K, const std::vector<char>& held, const Vector3d& center)
      : model_(model), edges_(edges_of(model, K)), place_(model.nodes.size(), -1) {
    std::vector<char> fixed = held;
    if (std::find(fixed.begin(), fixed.end(), 1) == fixed.end()) {
      std::size_t nearest = 0;
      for (std::size_t a = 1; a < model.nodes.size(); ++a)
        if ((model.nodes[a] - center).norm() < (model.nodes[nearest] - center).norm()) nearest = a;
      fixed[nearest] = 1;
    }
    for (std::size_t a = 0; a < fixed.size(); ++a)
      if (!fixed[a]) place_[a] = count_++;
    factorize();
  }

  std::vector<DenseMatrix> solve(const DenseMatrix& loads) const {
    DenseMatrix f = DenseMatrix::Zero(3 * count_, loads.cols());
    for (std::size_t a = 0; a < place_.size(); ++a)
      if (place_[a] >= 0) f.middleRows<3>(3 * place_[a]) = loads.middleRows<3>(3 * static_cast<Index>(a));
    const DenseMatrix y = count_ > 0 ? DenseMatrix(factor_.solve(f)) : f;
    std::vector<DenseMatrix> Q(static_cast<std::size_t>(loads.cols()),
                               DenseMatrix::Zero(model_.T.cols(), model_.T.cols()));
    for (const Edge& edge : edges_) {
      if (edge.length == 0) continue;
      Eigen::RowVectorXd along = Eigen::RowVectorXd::Zero(loads.cols());
      for (const auto& [node, sign] : {std::pair{edge.a, -1.0}, {edge.b, 1.0}})
        if (const Index k = place_[static_cast<std::size_t>(node)]; k >= 0)
          along += sign * edge.e.transpose() * y.middleRows<3>(3 * k);
      const DenseMatrix H = edge.weight * nearer(model_, edge);
      for (Index k = 0; k < loads.cols(); ++k) Q[static_cast<std::size_t>(k)] -= along[k] * H;
    }
    return Q;
  }

 private:
  void factorize() {
    std::vector<Eigen::Triplet<double>> entries;
    for (const Edge& edge : edges_) {
      const Matrix3d block =
          edge.weight * (kTurning * Matrix3d::Identity() + (1 - kTurning) * edge.e * edge.e.transpose());
      for (const Index r : {edge.a, edge.b})
        for (const Index c : {edge.a, edge.b}) {
          const Index i = place_[static_cast<std::size_t>(r)], j = place_[static_cast<std::size_t>(c)];
          if (i < 0 || j < 0) continue;
          for (int k = 0; k < 3; ++k)
            for (int l = 0; l < 3; ++l)
              entries.emplace_back(static_cast<int>(3 * i) + k, static_cast<int>(3 * j) + l,
                                   (r == c ? 1 : -1) * block(k, l));
        }
    }
    Eigen::SparseMatrix<double> N(3 * count_, 3 * count_);
    N.setFromTriplets(entries.begin(), entries.end());
    if (count_ == 0) return;
    factor_.compute(N);
    constexpr double kSingular = 1e-13;
    if (factor_.info() != Eigen::Success || !(factor_.vectorD().minCoeff() > kSingular * N.diagonal().maxCoeff()))
      throw InputError(
          "the stiffness matrix leaves nodes that nothing joins to the others: what they come nearer is not known; "
          "give "
          "stiffening = false, or join them");
  }

  const ElementModel& model_;
  std::vector<Edge> edges_;
  std::vector<Index> place_;
  Index count_ = 0;
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> factor_;
};

/// Q̄, B and those of the interfaces, one after the other: 3 + 9 + 3 per interface matrices over the modes.
using Unknowns = std::vector<DenseMatrix>;
constexpr Index kMean = 0, kByPlace = 3, kInterfaces = 12;

Unknowns of_distances(const ElementModel& model, const SparseMatrix& K, const std::vector<char>& held,
                      const ElementInterfaces& interfaces, const MassMoments& mass) {
  const auto n = static_cast<Index>(model.nodes.size());
  DenseMatrix loads = DenseMatrix::Zero(3 * n, kInterfaces + 3 * static_cast<Index>(interfaces.size()));
  for (Index row = 0; row < model.M.outerSize(); ++row)
    for (SparseMatrix::InnerIterator it(model.M, row); it; ++it) {
      const Index a = it.row() / model.per_node, b = it.col() / model.per_node;
      const int i = static_cast<int>(it.row() % model.per_node), j = static_cast<int>(it.col() % model.per_node);
      if (i >= 3 || j >= 3 || i != j) continue;
      const Vector3d from = model.nodes[static_cast<std::size_t>(b)] - mass.mean.col(0);
      loads(3 * a + i, kMean + i) += it.value() / mass.mass;
      for (int c = 0; c < 3; ++c) loads(3 * a + i, kByPlace + 3 * c + i) += it.value() * from[c];
    }
  if (model.per_node == 6) {
    const std::vector<NodeMass> masses = node_masses(model);
    for (Index a = 0; a < n; ++a)
      for (int c = 0; c < 3; ++c)
        for (int i = 0; i < 3; ++i)
          loads(3 * a + i, kByPlace + 3 * c + i) +=
              masses[static_cast<std::size_t>(a)].mass * masses[static_cast<std::size_t>(a)].offset[c];
  }
  for (std::size_t k = 0; k < interfaces.size(); ++k)
    for (const Index node : interfaces[k].second)
      for (int c = 0; c < 3; ++c)
        loads(3 * node + c, kInterfaces + 3 * static_cast<Index>(k) + c) +=
            1 / static_cast<double>(interfaces[k].second.size());
  return Network(model, K, held, mass.mean.col(0)).solve(loads);
}

/// ½ θ × (θ × d) of the arms of rigid nodes.
void add_turning(const ElementModel& model, const MassMoments& mass, Unknowns& z) {
  const std::vector<NodeMass> masses = node_masses(model);
  for (std::size_t a = 0; a < masses.size(); ++a) {
    const ModalPlace S = model.turn(static_cast<Index>(a));
    const DenseMatrix square = S.transpose() * S;
    const auto second = [&](int d, int e) -> DenseMatrix {  // Q_d of an arm along e
      const DenseMatrix product = S.row(d).transpose() * S.row(e);
      DenseMatrix Q = 0.5 * (product + product.transpose());
      if (d == e) Q -= square;
      return Q;
    };
    const Vector3d from = model.nodes[a] - mass.mean.col(0);
    for (int d = 0; d < 3; ++d)
      for (int e = 0; e < 3; ++e) {
        const DenseMatrix Q = second(d, e);
        const double moment = masses[a].mass * masses[a].offset[e];
        z[static_cast<std::size_t>(kMean + d)] += moment / mass.mass * Q;
        for (int c = 0; c < 3; ++c)
          z[static_cast<std::size_t>(kByPlace + 3 * c + d)] +=
              (masses[a].planar(c, e) + moment * (from[c] + masses[a].offset[c])) * Q;
      }
  }
}

/// What a case says: row · unknowns = Tᵀ K_g T.
Vector row_of(const GeometricCase& it, const ElementInterfaces& interfaces, const MassMoments& mass) {
  Vector row = Vector::Zero(kInterfaces + 3 * static_cast<Index>(interfaces.size()));
  const Vector3d& u = it.vector;
  if (it.load == GeometricLoad::acceleration) {
    row.segment<3>(kMean) = mass.mass * u;
    return row;
  }
  if (it.load == GeometricLoad::force) {
    const auto found =
        std::find_if(interfaces.begin(), interfaces.end(), [&](const auto& own) { return own.first == it.interface; });
    if (found == interfaces.end()) throw InputError(fmt::format("there is no interface '{}'", it.interface));
    row.segment<3>(kInterfaces + 3 * (found - interfaces.begin())) = -u;
    return row;
  }
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d) {
      double factor = 0;  // of Σ m X_c Q_d
      if (it.load == GeometricLoad::spin) {
        factor = u[c] * u[d] - (c == d ? u.squaredNorm() : 0.0);
      } else if (c != d) {
        factor = u[3 - c - d] * ((d - c + 3) % 3 == 1 ? 1 : -1);
      }
      row[kByPlace + 3 * c + d] += factor;
      row[kMean + d] += factor * mass.mass * mass.mean(c, 0);
    }
  return row;
}

void meet_cases(const ElementModel& model, const ElementInterfaces& interfaces, const MassMoments& mass,
                const std::vector<GeometricCase>& cases, Unknowns& z) {
  const auto count = static_cast<Index>(cases.size()), size = static_cast<Index>(z.size());
  DenseMatrix A(count, size), W = DenseMatrix::Zero(size, size);
  W.diagonal().setOnes();
  W.topLeftCorner<3, 3>() = Matrix3d::Identity() / mass.mass;
  const Matrix3d spread = mass.spread();
  for (int c = 0; c < 3; ++c)
    for (int d = 0; d < 3; ++d)
      for (int e = 0; e < 3; ++e) W(kByPlace + 3 * c + e, kByPlace + 3 * d + e) = spread(c, d);
  std::vector<DenseMatrix> missing;
  double largest = 0;
  for (Index k = 0; k < count; ++k) {
    const GeometricCase& it = cases[static_cast<std::size_t>(k)];
    if (it.K.rows() != model.T.rows() || it.K.cols() != model.T.rows())
      throw InputError(fmt::format("a geometric stiffness is {} x {}; mass and stiffness are {} x {}", it.K.rows(),
                                   it.K.cols(), model.T.rows(), model.T.rows()));
    A.row(k) = row_of(it, interfaces, mass).transpose();
    DenseMatrix wanted = model.T.transpose() * (it.K * model.T);
    wanted = 0.5 * (wanted + wanted.transpose()).eval();
    const double scale = std::sqrt(A.row(k) * W * A.row(k).transpose());
    if (!(scale > 0))
      throw InputError("a geometric stiffness belongs to a load that is 0, or that has nothing to act on");
    A.row(k) /= scale;
    wanted /= scale;
    largest = std::max(largest, wanted.cwiseAbs().maxCoeff());
    for (Index j = 0; j < size; ++j) wanted -= A(k, j) * z[static_cast<std::size_t>(j)];
    missing.push_back(std::move(wanted));
  }
  const DenseMatrix G = A * W * A.transpose();
  const DenseMatrix change = W * A.transpose() * G.completeOrthogonalDecomposition().pseudoInverse();
  for (Index j = 0; j < size; ++j)
    for (Index k = 0; k < count; ++k)
      z[static_cast<std::size_t>(j)] += change(j, k) * missing[static_cast<std::size_t>(k)];
  constexpr double kAgree = 1e-6;  // of the largest: what files with eight digits leave
  const DenseMatrix met = A * change;
  for (Index k = 0; k < count; ++k) {
    DenseMatrix left = missing[static_cast<std::size_t>(k)];
    for (Index j = 0; j < count; ++j) left -= met(k, j) * missing[static_cast<std::size_t>(j)];
    if (left.cwiseAbs().maxCoeff() > kAgree * largest)
      throw InputError(fmt::format(
          "geometric stiffness {} contradicts the others: loads that are sums of others have the sum of their "
          "matrices (spins: of their products)",
          k));
  }
}

}  // namespace

ElementStiffening element_stiffening(const ElementModel& model, const SparseMatrix& K, const std::vector<char>& held,
                                     const ElementInterfaces& interfaces, const MassMoments& mass,
                                     const std::vector<GeometricCase>& cases) {
  Unknowns z = of_distances(model, K, held, interfaces, mass);
  if (model.per_node == 6) add_turning(model, mass, z);
  if (!cases.empty()) meet_cases(model, interfaces, mass, cases, z);
  ElementStiffening result;
  for (std::size_t c = 0; c < 3; ++c) {
    result.moments.mean[c] = z[kMean + c];
    for (std::size_t d = 0; d < 3; ++d) result.moments.by_place[c][d] = z[kByPlace + 3 * c + d];
  }
  for (std::size_t k = 0; k < interfaces.size(); ++k)
    result.interfaces.push_back({z[kInterfaces + 3 * k], z[kInterfaces + 3 * k + 1], z[kInterfaces + 3 * k + 2]});
  return result;
}

}  // namespace stickslip
