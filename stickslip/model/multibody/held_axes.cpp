// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/held_axes.hpp"

namespace stickslip {

HeldAxes::HeldAxes(std::shared_ptr<const Tree> tree) : tree_(std::move(tree)) {
  for (const Index k : tree_->held) elements_.push_back({.name = tree_->velocities[static_cast<std::size_t>(k)]});
}

void HeldAxes::evaluate(double, const Vector& q, SystemWorkspace&, ConstraintRows& rows) const {
  const auto m = static_cast<Index>(tree_->held.size());
  rows.A.setZero(m, tree_->nv());
  rows.rate.setZero(m);
  rows.position.resize(m);
  for (Index r = 0; r < m; ++r) {
    const Index k = tree_->held[static_cast<std::size_t>(r)];
    rows.A(r, k) = 1;
    rows.position[r] = q[tree_->links[static_cast<std::size_t>(tree_->velocity[static_cast<std::size_t>(k)].link)].q];
  }
}

void HeldAxes::bias(double, const Vector&, const Vector&, SystemWorkspace&, Vector& bias) const {
  bias.setZero(static_cast<Index>(tree_->held.size()));
}

void HeldAxes::force_slopes(double, const Vector&, const Vector&, SystemWorkspace&, DenseMatrix& by_q) const {
  by_q.setZero(tree_->nv(), tree_->nv());
}

void HeldAxes::velocity_slopes(double, const Vector&, const Vector&, SystemWorkspace&, DenseMatrix& by_q) const {
  by_q.setZero(static_cast<Index>(tree_->held.size()), tree_->nv());
}

}  // namespace stickslip
