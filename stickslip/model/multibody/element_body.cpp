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

class ElementBody {
 public:
  ElementBody(const SparseMatrix& M, const SparseMatrix& K, const ElementBodyOptions& options)
      : M_(M), K_(K), o_(options), n_(static_cast<Index>(options.nodes.size())), model_{M, options.nodes} {
    if (n_ > 0 && M.rows() == 6 * n_) model_.per_node = 6;
    const Index size = model_.per_node * n_;
    for (const SparseMatrix* A : {&M_, &K_})
      if (A->rows() != size || A->cols() != size)
        throw InputError(
            fmt::format("{} nodes have {} displacements, or {} coordinates with rotations; the {} matrix is {} x {}",
                        n_, 3 * n_, 6 * n_, A == &M_ ? "mass" : "stiffness", A->rows(), A->cols()));
    for (const auto& [name, nodes] : o_.interfaces) {
      if (nodes.empty()) throw InputError(fmt::format("interface '{}' has no nodes", name));
      for (const Index k : nodes)
        if (k < 0 || k >= n_)
          throw InputError(
              fmt::format("interface '{}': there is no node {}; they are counted from 0 to {}", name, k, n_ - 1));
    }
    if (!o_.stiffening && !o_.geometric.empty())
      throw InputError("a geometric stiffness is given, but stiffening = false; leave one of them out");
  }

  FlexibleBody build() {
    make_basis();
    const MassMoments mass = element_moments(model_);
    ElementStiffening stiffening;
    if (o_.stiffening) stiffening = element_stiffening(model_, K_, held_nodes(), o_.interfaces, mass, o_.geometric);
    body_.stations = mass_stations(mass, o_.stiffening ? &stiffening.moments : nullptr);
    for (std::size_t k = 0; k < o_.interfaces.size(); ++k) {
      add_interface(o_.interfaces[k].first, o_.interfaces[k].second);
      if (!o_.stiffening) continue;
      for (std::size_t c = 0; c < 3; ++c)
        if (!stiffening.interfaces[k][c].isZero(0.0)) body_.stations.back().shortening[c] = stiffening.interfaces[k][c];
    }
    return std::move(body_);
  }

 private:
  const std::vector<Index>& nodes_of(const std::string& name) const {
    for (const auto& [own, nodes] : o_.interfaces)
      if (own == name) return nodes;
    throw InputError(fmt::format("there is no interface '{}'", name));
  }

  std::vector<char> held_nodes() const {
    std::vector<char> held(static_cast<std::size_t>(n_), 0);
    for (const std::string& name : o_.held)
      for (const Index k : nodes_of(name)) held[static_cast<std::size_t>(k)] = 1;
    return held;
  }

  void make_basis() {
    const Index p = model_.per_node;
    const std::vector<char> held = held_nodes();
    std::vector<Index> index(static_cast<std::size_t>(p * n_), -1), back;
    for (Index k = 0; k < p * n_; ++k)
      if (!held[static_cast<std::size_t>(k / p)]) {
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
        for (Index c = 0; c < p; ++c)
          if (const Index i = index[static_cast<std::size_t>(p * k + c)]; i >= 0) kept.insert(i);
    constexpr Index kInSpace = 6;
    const ModalBasis basis = modal_basis(free_part(M_), free_part(K_), {kept.begin(), kept.end()}, o_.modes,
                                         o_.held.empty() ? kInSpace : 0, o_.damping);
    model_.T.setZero(p * n_, basis.T.cols());
    for (std::size_t k = 0; k < back.size(); ++k) model_.T.row(back[k]) = basis.T.row(static_cast<Index>(k));
    body_.stiffness = basis.K;
    body_.damping = basis.D;
    body_.frequency = basis.frequency;
  }

  void add_interface(const std::string& name, const std::vector<Index>& nodes) {
    const Index modes = model_.T.cols(), p = model_.per_node;
    FlexibleStation station;
    station.node = name;
    ModalPlace mean = ModalPlace::Zero(3, 1 + modes), own = ModalPlace::Zero(3, modes);
    for (const Index k : nodes) {
      mean += model_.place(k) / static_cast<double>(nodes.size());
      if (p == 6) own += model_.turn(k) / static_cast<double>(nodes.size());
    }
    station.position = mean.col(0);
    station.shift = mean.rightCols(modes);
    // Best rotation: Σ (r² 1 - r rᵀ) θ = Σ r × u
    Matrix3d spread = Matrix3d::Zero();
    ModalPlace moment = ModalPlace::Zero(3, modes);
    for (const Index k : nodes) {
      const Vector3d r = o_.nodes[static_cast<std::size_t>(k)] - station.position;
      spread += r.squaredNorm() * Matrix3d::Identity() - r * r.transpose();
      for (Index c = 0; c < modes; ++c) moment.col(c) += r.cross(Vector3d(model_.T.block<3, 1>(p * k, c)));
    }
    constexpr double kOnALine = 1e-10;  // of the largest: nodes on a line say nothing of the rotation about it
    const Matrix3d inverse = pseudo_inverse(spread, kOnALine);
    if (p == 6) {
      station.turn = inverse * moment + (Matrix3d::Identity() - inverse * spread) * own;
    } else if (nodes.size() > 1) {
      station.turn = inverse * moment;
    }
    body_.stations.push_back(std::move(station));
  }

  const SparseMatrix& M_;
  const SparseMatrix& K_;
  const ElementBodyOptions& o_;
  Index n_;
  ElementModel model_;
  FlexibleBody body_;
};

}  // namespace

FlexibleBody make_element_body(const SparseMatrix& M, const SparseMatrix& K, const ElementBodyOptions& options) {
  return ElementBody(M, K, options).build();
}

}  // namespace stickslip
