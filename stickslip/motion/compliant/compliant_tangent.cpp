// SPDX-License-Identifier: Apache-2.0
// Slopes of the right-hand side: along a change of the state, by the data of neighbouring systems, and as matrices.
#include <cmath>

#include "stickslip/motion/compliant/compliant_dynamics.hpp"
#include "stickslip/motion/compliant/stencil.hpp"

namespace stickslip {

namespace {

void add_scaled(double factor, const CompliantContacts::Change& from, CompliantContacts::Change& to) {
  to.gap += factor * from.gap;
  to.normal_velocity += factor * from.normal_velocity;
  to.velocity += factor * from.velocity;
  if (to.spin.size() > 0) to.spin += factor * from.spin;
  if (to.own_force.size() > 0) to.own_force += factor * from.own_force;
  for (std::size_t g = 0; g < to.K.size(); ++g) {
    to.K[g] += factor * from.K[g];
    to.C[g] += factor * from.C[g];
  }
}

}  // namespace

void CompliantDynamics::exact_slopes(double t, const Vector& x) {
  static_cast<void>(t);
  change_.gap.setZero(contacts_.slot_count());
  change_.normal_velocity.setZero(contacts_.slot_count());
  change_.velocity.setZero(contacts_.tangents());
  contacts_.for_each_row([&](std::size_t s, int c, const SparseMatrix& Wt, Index row) {
    double by_q = 0, by_v = 0;
    for (SparseMatrix::InnerIterator entry(Wt, row); entry; ++entry) {
      by_q += entry.value() * x[entry.col()];
      by_v += entry.value() * x[nq_ + entry.col()];
    }
    const auto i = static_cast<Index>(s);
    if (c == 0) {
      change_.gap[i] = by_q;
      change_.normal_velocity[i] = by_v;
    } else {
      change_.velocity[contacts_.slots()[s].first + c - 1] = by_v;
    }
  });
  balance_.setZero(nv_);
  probe_q_ = x.head(nq_);
  probe_v_ = x.segment(nq_, nv_);
  system_.linear()->K.add_product(-1.0, probe_q_, balance_);
  system_.linear()->B.add_product(-1.0, probe_v_, balance_);
  contacts_.subtract_viscous(probe_v_, balance_);
  qdot_change_ = probe_v_;
}

void CompliantDynamics::probe(double t, bool data) {
  system_.kinematics().normalize(probe_q_);
  contacts_.neighbour(t, probe_q_, probe_v_, normal_, tangential_, data ? &contacts_ : nullptr, workspace_, near_,
                      probe_f_);
  model_force(t, probe_q_, probe_v_, probe_h_);
  probe_h_ += probe_f_;
  if (inertia_ && !system_.inertia().constant())
    system_.inertia().mass(probe_q_, workspace_).add_product(-1.0, a_, probe_h_);
  if (inertia_) add_constraints(system_, t, probe_q_, probe_v_, workspace_, probe_h_, near_bias_);
  system_.kinematics().rate(probe_q_, probe_v_, probe_qdot_);
}

void CompliantDynamics::smooth_slopes(double t, const Vector& x) {
  double step = HUGE_VAL;
  for (Index i = 0; i < nq_ + nv_; ++i)
    if (x[i] != 0) step = std::min(step, kStencilStep * (sizes_.size() > i ? sizes_[i] : 1.0) / std::abs(x[i]));
  const bool data = !contacts_.constant_data();
  constraint_change_.setZero();
  change_.spin.setZero(contacts_.turns() ? contacts_.slot_count() : 0);
  change_.own_force.setZero(data ? contacts_.slot_count() : 0);
  change_.gap.setZero(contacts_.slot_count());
  change_.normal_velocity.setZero(contacts_.slot_count());
  change_.velocity.setZero(contacts_.tangents());
  change_.K.clear();
  change_.C.clear();
  balance_.setZero(nv_);
  qdot_change_.setZero(nq_);
  if (step == HUGE_VAL) return;
  contacts_.forces(normal_, tangential_);
  for (const StencilPoint& point : kStencil) {
    probe_q_ = q_ + point.place * step * x.head(nq_);
    probe_v_ = v_ + point.place * step * x.segment(nq_, nv_);
    probe(t, data);
    if (data && change_.K.empty()) {
      for (std::size_t g = 0; g < near_.K.size(); ++g) {
        change_.K.push_back(DenseMatrix::Zero(near_.K[g].rows(), near_.K[g].cols()));
        change_.C.push_back(DenseMatrix::Zero(near_.C[g].rows(), near_.C[g].cols()));
      }
    }
    add_scaled(point.weight / step, near_, change_);
    balance_ += point.weight / step * probe_h_;
    constraint_change_ += point.weight / step * near_bias_;
    qdot_change_ += point.weight / step * probe_qdot_;
  }
}

void CompliantDynamics::balance_slopes(double t, DenseMatrix& by_x, DenseMatrix& by_rate) {
  const Index T = contacts_.tangents(), n = nv_ + T;
  by_x.setZero(n, n);
  by_rate.setZero(n, n);
  by_rate.bottomRightCorner(T, T).diagonal().setConstant(-1);
  x_.setZero(2 * nv_ + T);
  for (Index j = 0; j < 2 * nv_ + T; ++j) {
    x_[j] = 1;
    vary_balance(t, x_);
    x_[j] = 0;
    DenseMatrix& to = j >= nv_ && j < 2 * nv_ ? by_rate : by_x;
    const Index column = j < nv_ ? j : j - nv_;
    to.col(column).head(nv_) += balance_;
    to.col(column).tail(T) += change_.rate;
  }
}

void CompliantDynamics::vary_balance(double t, const Vector& x) {
  for (Vector* numbers : {&change_.mu, &change_.normal_damping, &change_.own_force, &change_.spin, &change_.section})
    numbers->resize(0);
  exact_ ? exact_slopes(t, x) : smooth_slopes(t, x);
  if (change_.own_force.size() > 0)
    for (Vector* numbers : {&change_.mu, &change_.normal_damping}) numbers->setZero(contacts_.slot_count());
  change_.deformation = x.tail(contacts_.tangents());
  contacts_.vary(change_);
  contacts_.add_forces(change_.normal, change_.tangential, balance_);
}

void CompliantDynamics::vary(double t, const Vector& x, Vector& rate) {
  vary_balance(t, x);
  multiplier_change_.setZero(constraints_);
  solve_mass(balance_, constraint_change_);
  rate.resize(motion_size());
  rate.head(nq_) = qdot_change_;
  rate.segment(nq_, nv_) = balance_;
  rate.tail(contacts_.tangents()) = change_.rate;
}

void CompliantDynamics::data_of(double t, const System& other, CompliantContacts& other_contacts,
                                SystemWorkspace& other_workspace, DataChange& values) {
  contacts_.forces(normal_, tangential_);
  other_contacts.neighbour(t, q_, v_, normal_, tangential_, &contacts_, other_workspace, values.contacts, probe_f_);
  values.balance.setZero(nv_);
  if (inertia_) {
    other.force(t, q_, v_, other_workspace, values.balance);
    other.inertia().mass(q_, other_workspace).add_product(-1.0, a_, values.balance);
  } else {
    other.forces().total(t, q_, v_, other_workspace, values.balance);
  }
  values.balance += probe_f_;
  values.constraint.setZero(constraints_);
  add_constraints(other, t, q_, v_, other_workspace, values.balance, values.constraint);
}

void CompliantDynamics::balance_data_change(DataChange& change, Vector& out) {
  change.contacts.deformation.setZero(contacts_.tangents());
  contacts_.vary(change.contacts);
  contacts_.add_forces(change.contacts.normal, change.contacts.tangential, change.balance);
  out.resize(nv_ + contacts_.tangents());
  out << change.balance, change.contacts.rate;
}

void CompliantDynamics::add_data_change(DataChange& change, Vector& rate) {
  balance_data_change(change, x_);
  solve_mass(change.balance, change.constraint);
  rate.segment(nq_, nv_) += change.balance;
  rate.segment(nq_ + nv_, contacts_.tangents()) += change.contacts.rate;
  change_.normal += change.contacts.normal;
  change_.tangential += change.contacts.tangential;
}

bool CompliantDynamics::jacobian(double t, const Vector& y, DenseMatrix& J) {
  if (!place(t, y) || !accelerate(t)) return false;
  const Index n = motion_size();
  Vector x = Vector::Zero(n), rate;
  for (Index j = 0; j < n; ++j) {
    x[j] = 1;
    vary(t, x, rate);
    J.col(j).head(n) = rate;
    x[j] = 0;
  }
  return J.allFinite();
}

bool CompliantDynamics::sparse_jacobian(const Vector& q) {
  rate_map_.update(system_.kinematics(), q);
  return constraints_ == 0 && rate_map_.orthogonal();
}

bool CompliantDynamics::jacobian(double t, const Vector& y, SlopePencil& J) {
  if (!place(t, y) || !accelerate(t)) return false;
  const Index T = contacts_.tangents();
  rate_map_.update(system_.kinematics(), q_);
  for (const RateMap::Entry& entry : rate_map_.entries()) J.slope.add(entry.row, nq_ + entry.column, entry.value);
  for (Index i = 0; i < nq_; ++i) J.mass.add(i, i, 1);
  for (Index i = 0; i < T; ++i) J.mass.add(nq_ + nv_ + i, nq_ + nv_ + i, 1);
  const auto each = [](const SystemMatrix& matrix, auto&& f) {
    const bool full = matrix.storage() == Storage::dense;
    matrix.for_each([&](Index i, Index j, double value) {
      if (!full || value != 0) f(i, j, value);
    });
  };
  each(system_.inertia().mass(q_, workspace_), [&](Index i, Index j, double m) { J.mass.add(nq_ + i, nq_ + j, m); });
  // Of bodies, what spins contributes without being stiff is left out.
  if (system_.kinematics().flat()) {
    system_.force_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  } else {
    system_.forces().slopes(t, q_, v_, workspace_, by_q_, by_v_);
  }
  each(by_q_, [&](Index i, Index j, double k) {
    for (std::size_t e = rate_map_.first(j); e < rate_map_.first(j + 1); ++e)
      J.slope.add(nq_ + i, rate_map_.entries()[e].row, k * rate_map_.entries()[e].inverse);
  });
  each(by_v_, [&](Index i, Index j, double b) { J.slope.add(nq_ + i, nq_ + j, b); });
  contacts_.add_slopes(rate_map_, nq_, nv_, J.slope);
  return true;
}

}  // namespace stickslip
