// SPDX-License-Identifier: Apache-2.0
// What errors of positions, velocities and forces are measured against.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/plane_norm.hpp"
#include "stickslip/motion/viscoelastic/viscoelastic_dynamics.hpp"

namespace stickslip {

namespace {
// A component that rests while others move is given this part of the velocity that all the energy would make.
constexpr double kShare = 1e-2;
// Times at which forces are looked at where the start shows none.
constexpr int kLooks = 8;

/// Nothing moves: any number will do.
double positive(double scale) { return scale > 0 ? scale : 1.0; }
}  // namespace

void ViscoelasticScales::collect(Vector& scale) const {
  const Index nq = position.size(), n = velocity.size(), m = force.size();
  scale.resize(nq + n + m);
  auto speed = [&](Index i) { return std::max(velocity[i], kShare * vigour / std::sqrt(mass[i])); };
  for (Index i = 0; i < nq; ++i) {
    double rate = 0;
    if (turn.size() == 0) {
      rate = speed(i);
    } else {
      for (Index j = 0; j < n; ++j) rate += turn(i, j) * speed(j);
    }
    scale[i] = positive(std::max(position[i], rate * time));
  }
  for (Index i = 0; i < n; ++i) scale[nq + i] = positive(speed(i));
  for (Index k = 0; k < m; ++k) scale[nq + n + k] = positive(force[k]);
}

void ViscoelasticDynamics::first_scales(double start, double end, const Vector& ideal, double round_off,
                                        ViscoelasticScales& s) {
  s.position.setZero(nq_);
  for (Vector* x : {&s.velocity, &s.mass}) x->setZero(n_);
  s.force = ideal.cwiseAbs();
  s.round_off.setZero(m_);
  const SystemMatrix& M = system_.inertia().mass(q_, workspace_);
  for (Index i = 0; i < n_; ++i) s.mass[i] = M(i, i);
  factor_mass();
  Vector effective(m_), acceleration = Vector::Zero(n_);  // 1/B_kk
  s.time = 0;
  for (const Block& block : blocks_)
    for (int c = 0; c < block.law.size; ++c) {
      const Index k = block.row[static_cast<std::size_t>(c)];
      row_of(k, product_);
      f_ = product_;
      mass_.solve(f_);
      const double beta = product_.dot(f_);
      effective[k] = beta > 0 ? 1 / beta : 0.0;
      const double impedance = std::sqrt(K_[k] * effective[k]);
      if (beta > 0) s.time = std::max(s.time, 1 / std::sqrt(K_[k] * beta));
      s.round_off[k] = round_off * std::numeric_limits<double>::epsilon() * std::max(block.law.D, impedance);
      const double limit = limit_[static_cast<std::size_t>(&block - blocks_.data())];
      if (limit == kNoLimit) continue;
      s.force[k] = std::max(s.force[k], limit);
      acceleration += limit * product_.cwiseAbs().cwiseQuotient(s.mass);
    }
  for (int look = 0; look <= kLooks; ++look) {
    system_.force(start + (end - start) * look / kLooks, q_, v_, workspace_, h_);
    acceleration = acceleration.cwiseMax(h_.cwiseAbs().cwiseQuotient(s.mass));
    if (acceleration.maxCoeff() > 0) break;
  }
  s.velocity = v_.cwiseAbs().cwiseMax(s.time * acceleration);
  s.vigour = s.mass.cwiseSqrt().cwiseProduct(s.velocity).stableNorm();
  for (Index k = 0; k < m_; ++k) {
    row_of(k, product_);
    s.force[k] = std::max(s.force[k], effective[k] * product_.cwiseAbs().dot(acceleration));
  }
  span_ = end - start;
  raise_force_scales(s);
}

/// And how far positions could go, which differences of M are taken over.
void ViscoelasticDynamics::raise_force_scales(ViscoelasticScales& s) {
  for (Index i = 0; i < n_; ++i) reach_[i] = positive(span_ * s.velocity[i]);
  set_tangents();
  s.turn = T_.cwiseAbs();
  for (Index k = 0; k < m_; ++k) {
    double speed = std::abs(rate_[k]);
    if (k < constraints_) {
      speed += rows_.A.row(k).cwiseAbs().dot(s.velocity);
    } else {
      for (SparseMatrix::InnerIterator entry(friction_.Wt(), k - constraints_); entry; ++entry)
        speed += std::abs(entry.value()) * s.velocity[entry.col()];
    }
    s.force[k] = std::max({s.force[k], std::abs(force_[k]), s.round_off[k] * speed});
  }
}

void ViscoelasticDynamics::raise_scales(const Vector& q_start, ViscoelasticScales& s) {
  double vigour = 0;
  for (Index i = 0; i < nq_; ++i) s.position[i] = std::max(s.position[i], std::abs(q_[i] - q_start[i]));
  for (Index i = 0; i < n_; ++i) {
    s.velocity[i] = std::max(s.velocity[i], std::abs(v_[i]));
    vigour = plane_norm(vigour, std::sqrt(s.mass[i]) * v_[i]);
  }
  s.vigour = std::max(s.vigour, vigour);
  raise_force_scales(s);
}

}  // namespace stickslip
