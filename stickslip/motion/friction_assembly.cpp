// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/friction_assembly.hpp"

#include <fmt/format.h>

#include <cmath>

#include "stickslip/common/error.hpp"

namespace stickslip {

FrictionAssembly::FrictionAssembly(const System& system)
    : elements_(&system.laws().friction()),
      Wt_(system.laws().friction_rows()),
      limit_(Vector::Zero(static_cast<Index>(elements_->size()))),
      static_limit_(limit_),
      index_slot_(1 + system.info().nq() + system.info().nv()) {
  Index row = 0;
  for (const FrictionElement& element : *elements_) {
    first_.push_back(row);
    size_.push_back(static_cast<char>(element.size()));
    viscous_.push_back(element.viscous);
    row += element.size();
    limits_vary_ |= !element.limit.is_constant() || (element.static_limit && !element.static_limit->is_constant());
    limits_depend_on_state_ |= element.limit.depends_on_state(index_slot_) ||
                               (element.static_limit && element.static_limit->depends_on_state(index_slot_));
    follows_.push_back(element.limit.depends_on_reactions(index_slot_) ||
                       (element.static_limit && element.static_limit->depends_on_reactions(index_slot_)));
    limits_depend_on_reactions_ |= follows_.back() != 0;
    has_static_ |= element.static_limit.has_value();
    has_weakening_ |= element.weakening.shape != WeakeningShape::none;
    has_viscous_ |= element.viscous > 0;
    for (const StateFunction& w : element.surface_velocity) surface_moves_ |= !(w.is_constant() && w({}) == 0.0);
    for (const Direction& direction : element.directions)
      if (direction.size() == 1 && direction[0].second == 1.0)
        coordinate_.push_back(static_cast<int>(direction[0].first));
  }
  if (static_cast<Index>(coordinate_.size()) != Wt_.rows()) coordinate_.clear();
}

void FrictionAssembly::evaluate_limits(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                       bool following) {
  if (limits_known_ && !limits_vary_) return;
  if (limits_vary_) workspace.variables.set(t, q, v);
  const auto variables = workspace.variables.span();
  for (Index k = 0; k < laws(); ++k) {
    if (!following && follows_[k]) continue;
    const FrictionElement& e = element(k);
    limit_[k] = e.limit(variables);
    static_limit_[k] = e.static_limit ? (*e.static_limit)(variables) : limit_[k];
    if (!(limit_[k] >= 0) || !std::isfinite(limit_[k]))
      throw InputError(
          fmt::format("friction.{}.limit = {} at t = {}; it must be a finite number >= 0", e.name, limit_[k], t));
    if (!(static_limit_[k] >= limit_[k]) || !std::isfinite(static_limit_[k]))
      throw InputError(fmt::format("friction.{}.static_limit = {} is below limit = {} at t = {}; it must be >= limit",
                                   e.name, static_limit_[k], limit_[k], t));
  }
  limits_known_ = true;
}

void FrictionAssembly::evaluate_surface(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                        Vector& w) const {
  w.setZero();
  if (!surface_moves_) return;
  workspace.variables.set(t, q, v);
  for (Index k = 0; k < laws(); ++k)
    for (std::size_t c = 0; c < element(k).surface_velocity.size(); ++c)
      w[first_[k] + static_cast<Index>(c)] = element(k).surface_velocity[c](workspace.variables.span());
}

void FrictionAssembly::relative_velocity(const Vector& v, const Vector& w, Vector& u) const {
  if (!coordinate_.empty()) {
    for (Index k = 0; k < Wt_.rows(); ++k) u[k] = v[coordinate_[k]] - w[k];
    return;
  }
  for (Index k = 0; k < Wt_.rows(); ++k) {
    double sum = 0;
    for (SparseMatrix::InnerIterator entry(Wt_, k); entry; ++entry) sum += entry.value() * v[entry.col()];
    u[k] = sum - w[k];
  }
}

void FrictionAssembly::add_reactions(double factor, const Vector& r, Vector& g) const {
  if (!coordinate_.empty()) {
    for (Index k = 0; k < Wt_.rows(); ++k) g[coordinate_[k]] += factor * r[k];
    return;
  }
  for (Index k = 0; k < Wt_.rows(); ++k)
    for (SparseMatrix::InnerIterator entry(Wt_, k); entry; ++entry) g[entry.col()] += factor * entry.value() * r[k];
}

void FrictionAssembly::weakening_force(const Vector& u, double factor, Vector& force) const {
  for (Index k = 0; k < laws(); ++k) {
    const FrictionElement& e = element(k);
    const Index i = first_[k];
    if (e.size() == 1) {
      force[i] = e.weakening.shape == WeakeningShape::none ? 0.0 : factor * limit_[k] * weakening(e.weakening, u[i]);
    } else {
      const double speed = std::hypot(u[i], u[i + 1]);
      const double size = speed > 0 ? factor * limit_[k] * weakening(e.weakening, speed) / speed : 0.0;
      force[i] = size * u[i];
      force[i + 1] = size * u[i + 1];
    }
  }
}

SparseMatrix FrictionAssembly::viscous_matrix() const {
  SparseMatrix weights(components(), components());
  for (Index k = 0; k < laws(); ++k)
    for (int c = 0; c < element(k).size(); ++c) weights.insert(first_[k] + c, first_[k] + c) = element(k).viscous;
  return SparseMatrix(Wt_.transpose() * weights * Wt_);
}

Mode FrictionAssembly::mode(Index k, const Vector& u) const {
  const Index i = first_[k];
  return size_[k] == 1 ? mode_of(u[i]) : mode_of(u[i], u[i + 1]);
}

}  // namespace stickslip
