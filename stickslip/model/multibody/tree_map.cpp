// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_map.hpp"

namespace stickslip {

TreeMap::TreeMap(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {
  auto free = std::make_shared<Tree>();
  std::vector<char> driven(static_cast<std::size_t>(tree_->nv()), 0);
  for (const DrivenVelocity& it : tree_->driven) driven[static_cast<std::size_t>(it.velocity)] = 1;
  outer_of_.assign(driven.size(), -1);
  position_of_.assign(driven.size(), -1);
  for (const Link& link : tree_->links) {
    if (driven[static_cast<std::size_t>(link.v)]) continue;
    Link next;
    next.kind = link.kind;
    next.axis = link.axis;
    next.q = free->nq();
    next.v = free->nv();
    const int positions = link.kind == JointKind::ball ? 4 : 1;
    for (int k = 0; k < positions; ++k)
      free->coordinates.push_back(tree_->coordinates[static_cast<std::size_t>(link.q + k)]);
    for (int k = 0; k < link.velocities(); ++k) {
      outer_of_[static_cast<std::size_t>(link.v + k)] = next.v + k;
      position_of_[static_cast<std::size_t>(link.v + k)] = next.q;
      free->velocities.push_back(tree_->velocities[static_cast<std::size_t>(link.v + k)]);
      free->velocity.push_back(
          {static_cast<int>(free->links.size()), tree_->velocity[static_cast<std::size_t>(link.v + k)].rotation});
    }
    free->flat &= link.kind != JointKind::ball;
    free->links.push_back(next);
  }
  free_ = std::move(free);
}

Vector TreeMap::free_positions(const Vector& X) const {
  Vector x(free_->nq());
  for (const Link& link : tree_->links) {
    const Index to = position_of_[static_cast<std::size_t>(link.v)];
    if (to < 0) continue;
    for (int k = 0; k < (link.kind == JointKind::ball ? 4 : 1); ++k) x[to + k] = X[link.q + k];
  }
  return x;
}

Vector TreeMap::free_velocities(const Vector& V) const {
  Vector v(outer());
  for (Index k = 0; k < inner(); ++k)
    if (outer_of_[static_cast<std::size_t>(k)] >= 0) v[outer_of_[static_cast<std::size_t>(k)]] = V[k];
  return v;
}

void TreeMap::positions(const Vector& x, Vector& X) const {
  X.resize(tree_->nq());
  for (const Link& link : tree_->links) {
    const Index from = position_of_[static_cast<std::size_t>(link.v)];
    if (from < 0) continue;
    for (int k = 0; k < (link.kind == JointKind::ball ? 4 : 1); ++k) X[link.q + k] = x[from + k];
  }
  for (const DrivenVelocity& it : tree_->driven) {
    const auto eta = modal(it, x);
    double value = it.linear.dot(eta);
    if (it.quadratic.size() > 0) value += 0.5 * eta.dot(it.quadratic.lazyProduct(eta));
    X[tree_->links[static_cast<std::size_t>(tree_->velocity[static_cast<std::size_t>(it.velocity)].link)].q] = value;
  }
}

void TreeMap::matrix(const Vector& x, DenseMatrix& G) const {
  G.setZero(inner(), outer());
  for (Index k = 0; k < inner(); ++k)
    if (outer_of_[static_cast<std::size_t>(k)] >= 0) G(k, outer_of_[static_cast<std::size_t>(k)]) = 1;
  for (const DrivenVelocity& it : tree_->driven) {
    auto row = G.row(it.velocity).segment(outer_of_[static_cast<std::size_t>(it.first)], it.linear.size());
    row = it.linear.transpose();
    if (it.quadratic.size() > 0) row += it.quadratic.lazyProduct(modal(it, x)).transpose();
  }
}

void TreeMap::velocities(const Vector& x, const Vector& v, Vector& V) const {
  V.resize(inner());
  for (Index k = 0; k < inner(); ++k)
    if (outer_of_[static_cast<std::size_t>(k)] >= 0) V[k] = v[outer_of_[static_cast<std::size_t>(k)]];
  for (const DrivenVelocity& it : tree_->driven) {
    const auto rate = v.segment(outer_of_[static_cast<std::size_t>(it.first)], it.linear.size());
    V[it.velocity] = it.linear.dot(rate);
    if (it.quadratic.size() > 0) V[it.velocity] += modal(it, x).dot(it.quadratic.lazyProduct(rate));
  }
}

void TreeMap::bias(const Vector& v, Vector& b) const {
  b.setZero(inner());
  for (const DrivenVelocity& it : tree_->driven) {
    if (it.quadratic.size() == 0) continue;
    const auto rate = v.segment(outer_of_[static_cast<std::size_t>(it.first)], it.linear.size());
    b[it.velocity] = rate.dot(it.quadratic.lazyProduct(rate));
  }
}

void TreeMap::rate_matrix(const Vector& v, DenseMatrix& rate) const {
  rate.setZero(inner(), outer());
  for (const DrivenVelocity& it : tree_->driven) {
    if (it.quadratic.size() == 0) continue;
    const Index first = outer_of_[static_cast<std::size_t>(it.first)], count = it.linear.size();
    rate.row(it.velocity).segment(first, count) = it.quadratic.lazyProduct(v.segment(first, count)).transpose();
  }
}

void TreeMap::pull(const Vector& x, const Vector& F, Vector& f) const {
  f.setZero(outer());
  for (Index k = 0; k < inner(); ++k)
    if (outer_of_[static_cast<std::size_t>(k)] >= 0) f[outer_of_[static_cast<std::size_t>(k)]] += F[k];
  for (const DrivenVelocity& it : tree_->driven) {
    auto part = f.segment(outer_of_[static_cast<std::size_t>(it.first)], it.linear.size());
    part += F[it.velocity] * it.linear;
    if (it.quadratic.size() > 0) part += F[it.velocity] * it.quadratic.lazyProduct(modal(it, x));
  }
}

void TreeMap::add_curvature(const Vector& F, double factor, DenseMatrix& by_q) const {
  for (const DrivenVelocity& it : tree_->driven) {
    if (it.quadratic.size() == 0) continue;
    const Index first = outer_of_[static_cast<std::size_t>(it.first)], count = it.linear.size();
    by_q.block(first, first, count, count) += factor * F[it.velocity] * it.quadratic;
  }
}

}  // namespace stickslip
