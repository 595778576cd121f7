// SPDX-License-Identifier: Apache-2.0
// Transposed slopes of the right-hand side, for adjoint equations: weights on y' become weights on y and on the data.
#include <cmath>

#include "stickslip/motion/compliant/compliant_dynamics.hpp"
#include "stickslip/motion/compliant/stencil.hpp"

namespace stickslip {

namespace {

double entries(const std::vector<DenseMatrix>& a, const std::vector<DenseMatrix>& b) {
  double sum = 0;
  for (std::size_t g = 0; g < std::min(a.size(), b.size()); ++g) sum += a[g].cwiseProduct(b[g]).sum();
  return sum;
}

double dot(const Vector& a, const Vector& b) { return b.size() > 0 ? a.dot(b) : 0.0; }

/// Of all data of contacts that may change with the state or with a parameter.
double contact_product(const CompliantContacts::Change& weights, const CompliantContacts::Change& values) {
  return weights.gap.dot(values.gap) + weights.normal_velocity.dot(values.normal_velocity) +
         dot(weights.velocity, values.velocity) + dot(weights.own_force, values.own_force) +
         dot(weights.mu, values.mu) + dot(weights.normal_damping, values.normal_damping) +
         dot(weights.section, values.section) + entries(weights.K, values.K) + entries(weights.C, values.C);
}

}  // namespace

void CompliantContacts::pull_back(Change& weights) {
  for (Vector* x : {&weights.gap, &weights.normal_velocity, &weights.mu, &weights.normal_damping, &weights.own_force,
                    &weights.spin})
    x->setZero(slot_count());
  for (Vector* x : {&weights.deformation, &weights.velocity, &weights.section}) x->setZero(tangents_);
  weights.K.resize(groups_.size());
  weights.C.resize(groups_.size());
  CompliantCotangent& c = cotangent_;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    Group& group = *groups_[g];
    const CompliantProblem& p = group.problem;
    c.normal.resize(static_cast<Index>(group.slots.size()));
    for (Vector* x : {&c.tangential, &c.rate}) x->resize(p.deformation.size());
    for (std::size_t k = 0; k < group.slots.size(); ++k) {
      const Slot& slot = slots_[static_cast<std::size_t>(group.slots[k])];
      c.normal[static_cast<Index>(k)] = weights.normal[group.slots[k]];
      c.tangential.segment(p.points[k].first, slot.tangents) = weights.tangential.segment(slot.first, slot.tangents);
      c.rate.segment(p.points[k].first, slot.tangents) = weights.rate.segment(slot.first, slot.tangents);
    }
    stickslip::pull_back(p, group.solution, group.workspace, c);
    weights.K[g] = c.K;
    weights.C[g] = c.C;
    for (std::size_t k = 0; k < group.slots.size(); ++k) {
      const Index s = group.slots[k], i = static_cast<Index>(k), f = p.points[k].first;
      const Slot& slot = slots_[static_cast<std::size_t>(s)];
      weights.gap[s] = c.gap[i];
      weights.normal_velocity[s] = c.normal_velocity[i];
      weights.mu[s] = c.mu[i];
      weights.normal_damping[s] = c.normal_damping[i];
      weights.own_force[s] = c.own_force[i];
      weights.deformation.segment(slot.first, slot.tangents) = c.deformation.segment(f, slot.tangents);
      weights.velocity.segment(slot.first, slot.tangents) = c.velocity.segment(f, slot.tangents);
      weights.section.segment(slot.first, slot.tangents) = c.section.segment(f, slot.tangents);
      if (!turns() || slot.tangents < 2) continue;
      const double r0 = weights.rate[slot.first], r1 = weights.rate[slot.first + 1];
      weights.deformation[slot.first] += spin_[s] * r1;
      weights.deformation[slot.first + 1] -= spin_[s] * r0;
      weights.spin[s] = p.deformation[f] * r1 - p.deformation[f + 1] * r0;
    }
  }
}

double CompliantDynamics::product(const DataChange& weights, const DataChange& change) {
  return contact_product(weights.contacts, change.contacts) + weights.balance.dot(change.balance) +
         dot(weights.constraint, change.constraint);
}

void CompliantDynamics::pull_back(double t, const DenseMatrix& U, DenseMatrix& by_state,
                                  std::vector<DataChange>& by_data) {
  by_state.setZero(motion_size(), U.cols());
  pull_back_data(U, by_data);
  for (Index k = 0; k < U.cols(); ++k)
    by_state.col(k).tail(contacts_.tangents()) = by_data[static_cast<std::size_t>(k)].contacts.deformation;
  exact_ ? pull_back_exact(U, by_data, by_state) : pull_back_smooth(t, U, by_data, by_state);
}

void CompliantDynamics::pull_back_data(const DenseMatrix& U, std::vector<DataChange>& by_data) {
  const Index T = contacts_.tangents();
  by_data.resize(static_cast<std::size_t>(U.cols()));
  if (constraints_ == 0) factor_mass();
  for (Index k = 0; k < U.cols(); ++k) {
    DataChange& to = by_data[static_cast<std::size_t>(k)];
    to.balance = U.col(k).segment(nq_, nv_);
    to.constraint.setZero(constraints_);
    if (constraints_ == 0) {
      mass_.solve(to.balance);
    } else {  // the matrix of accelerations and multipliers is symmetric
      const Vector weights = to.balance, none = Vector::Zero(constraints_);
      constrained_.acceleration(weights, none, to.balance);
      constrained_.multipliers(weights, to.balance, to.constraint);
    }
    CompliantContacts::Change& contacts = to.contacts;
    contacts.normal.setZero(contacts_.slot_count());
    contacts.tangential.setZero(T);
    contacts.rate = U.col(k).tail(T);
    contacts_.for_each_row([&](std::size_t s, int c, const SparseMatrix& Wt, Index row) {
      double along = 0;
      for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry) along += entry.value() * to.balance[entry.col()];
      (c == 0 ? contacts.normal[static_cast<Index>(s)] : contacts.tangential[contacts_.slots()[s].first + c - 1]) =
          along;
    });
    contacts_.pull_back(contacts);
  }
}

void CompliantDynamics::pull_back_exact(const DenseMatrix& U, const std::vector<DataChange>& by_data,
                                        DenseMatrix& by_state) {
  for (Index k = 0; k < U.cols(); ++k) {
    const DataChange& weights = by_data[static_cast<std::size_t>(k)];
    probe_v_ = U.col(k).head(nv_);  // q' = v
    contacts_.subtract_viscous(weights.balance, probe_v_);
    probe_q_.setZero(nq_);
    system_.linear()->K.for_each([&](Index i, Index j, double k_ij) { probe_q_[j] -= k_ij * weights.balance[i]; });
    system_.linear()->B.for_each([&](Index i, Index j, double b_ij) { probe_v_[j] -= b_ij * weights.balance[i]; });
    contacts_.for_each_row([&](std::size_t s, int c, const SparseMatrix& Wt, Index row) {
      const auto i = static_cast<Index>(s);
      const double by_gap = c == 0 ? weights.contacts.gap[i] : 0.0;
      const double by_velocity =
          c == 0 ? weights.contacts.normal_velocity[i] : weights.contacts.velocity[contacts_.slots()[s].first + c - 1];
      for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry) {
        probe_q_[entry.col()] += entry.value() * by_gap;
        probe_v_[entry.col()] += entry.value() * by_velocity;
      }
    });
    by_state.col(k).head(nq_) = probe_q_;
    by_state.col(k).segment(nq_, nv_) = probe_v_;
  }
}

void CompliantDynamics::pull_back_smooth(double t, const DenseMatrix& U, const std::vector<DataChange>& by_data,
                                         DenseMatrix& by_state) {
  const bool data = !contacts_.constant_data();
  contacts_.forces(normal_, tangential_);
  for (Vector* numbers : {&near_.mu, &near_.normal_damping, &near_.own_force, &near_.spin, &near_.section})
    numbers->resize(0);
  near_.K.clear();
  near_.C.clear();
  for (Index i = 0; i < nq_ + nv_; ++i) {
    const double step = kStencilStep * (sizes_.size() > i ? sizes_[i] : 1.0);
    for (const StencilPoint& point : kStencil) {
      probe_q_ = q_;
      probe_v_ = v_;
      (i < nq_ ? probe_q_[i] : probe_v_[i - nq_]) += point.place * step;
      probe(t, data);
      if (data)  // constants of the laws
        for (Vector* numbers : {&near_.mu, &near_.normal_damping, &near_.section}) numbers->resize(0);
      for (Index k = 0; k < U.cols(); ++k) {
        const DataChange& weights = by_data[static_cast<std::size_t>(k)];
        by_state(i, k) +=
            point.weight / step *
            (contact_product(weights.contacts, near_) + dot(weights.contacts.spin, near_.spin) +
             weights.balance.dot(probe_h_) + dot(weights.constraint, near_bias_) + U.col(k).head(nq_).dot(probe_qdot_));
      }
    }
  }
}

}  // namespace stickslip
