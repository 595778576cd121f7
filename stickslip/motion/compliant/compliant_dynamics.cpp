// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant_dynamics.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

/// f' ≈ Σ weight f(place η)/η: error η⁴ f⁽⁵⁾/30.
struct StencilPoint {
  double place, weight;
};
constexpr std::array<StencilPoint, 4> kStencil{{{1, 8.0 / 12}, {-1, -8.0 / 12}, {2, -1.0 / 12}, {-2, 1.0 / 12}}};
const double kStencilStep = std::pow(std::numeric_limits<double>::epsilon(), 0.2);  // of the size of a component

void add_scaled(double factor, const CompliantContacts::Change& from, CompliantContacts::Change& to) {
  to.gap += factor * from.gap;
  to.normal_velocity += factor * from.normal_velocity;
  to.velocity += factor * from.velocity;
  for (std::size_t g = 0; g < to.K.size(); ++g) {
    to.K[g] += factor * from.K[g];
    to.C[g] += factor * from.C[g];
  }
}

}  // namespace

CompliantDynamics::CompliantDynamics(const System& system)
    : system_(system), workspace_(system), contacts_(system), nq_(system.info().nq()), nv_(system.info().nv()) {
  for (const ContactElement& law : system.laws().contacts()) components_ += law.size();
  laws_ = static_cast<Index>(system.laws().contacts().size());
  none_pinned_.assign(static_cast<std::size_t>(nv_), 0);
  law_components_.setZero(components_);
  law_power_.setZero(laws_);
  exact_ = system.linear() && system.laws().constant_rows() && !system.forces().applied_depends_on_state() &&
           contacts_.constant_stiffness();
  for (Vector* x : {&h_, &a_, &f_, &balance_, &probe_f_, &probe_h_}) x->setZero(nv_);
  qdot_.setZero(nq_);
  origin_.setZero(nq_);
}

void CompliantDynamics::factor_mass() {
  if (factored_ && system_.inertia().constant()) return;
  factored_ = mass_.factorize(system_.inertia().mass(q_, workspace_), none_pinned_);
  if (!factored_) throw InputError("the mass matrix is not positive definite");
}

void CompliantDynamics::contact_weights(double t, const Vector& q, Vector& weights) {
  q_ = q;
  factor_mass();
  const ContactSource& source = system_.laws().contact_source();
  ContactPoints found;
  source.find(t, q, source.points_stay() ? HUGE_VAL : 0.1 * source.length(), workspace_, found);
  weights.setZero(laws_);
  Index row = 0;
  const auto weight_along = [&](Index at) {
    f_.setZero(nv_);
    for (SparseMatrix::InnerIterator entry(found.Wt, at); entry; ++entry) f_[entry.col()] = entry.value();
    h_ = f_;
    mass_.solve(h_);
    return f_.dot(h_);
  };
  for (const ContactSite& site : found.points) {
    weights[site.law] = std::max(weights[site.law], weight_along(row));
    row += system_.laws().contacts()[static_cast<std::size_t>(site.law)].size();
  }
  double lightest = 0;
  system_.inertia().mass(q, workspace_).for_each([&](Index i, Index j, double value) {
    if (i == j && value > 0 && !(lightest > 0 && 1 / value < lightest)) lightest = 1 / value;
  });
  for (Index k = 0; k < laws_; ++k)
    if (!(weights[k] > 0)) weights[k] = lightest;
}

void CompliantDynamics::set_origin(const Vector& q0) {
  origin_ = q0;
  if (!system_.kinematics().flat()) origin_.setZero();
}

void CompliantDynamics::position_of(const Vector& y, Vector& q) const {
  q = y.head(nq_) + origin_;
  system_.kinematics().normalize(q);
}

bool CompliantDynamics::place(double t, const Vector& y) {
  position_of(y, q_);
  v_ = y.segment(nq_, nv_);
  delta_ = y.segment(nq_ + nv_, contacts_.tangents());
  return contacts_.place(t, q_, v_, delta_, workspace_);
}

bool CompliantDynamics::accelerate(double t) {
  factor_mass();
  model_force(t, q_, v_, h_);
  a_ = h_;
  contacts_.add_forces(a_);
  mass_.solve(a_);
  return a_.allFinite();
}

bool CompliantDynamics::derivative(double t, const Vector& y, Vector& dydt) {
  if (!place(t, y) || !accelerate(t)) return false;
  system_.kinematics().rate(q_, v_, qdot_);
  dydt.head(nq_) = qdot_;
  dydt.segment(nq_, nv_) = a_;
  contacts_.rates(delta_);
  dydt.segment(nq_ + nv_, contacts_.tangents()) = delta_;
  if (sums_) {
    sum_rates(t, x_rate_);
    dydt.segment(motion_size(), sums_size()) = x_rate_;
  }
  for (Index k = 0; k < unknowns_; ++k) {
    x_ = y.segment(column_at(k), motion_size());
    vary(t, x_, x_rate_);
    if (parameter_slope_) parameter_slope_(t, k, x_rate_);
    dydt.segment(column_at(k), motion_size()) = x_rate_;
    if (!sums_) continue;
    column_sums(x_rate_);
    dydt.segment(column_at(k) + motion_size(), components_) = x_rate_;
  }
  return true;
}

/// dλ per component of the contact laws.
void CompliantDynamics::column_sums(Vector& rate) const {
  rate.setZero(components_);
  std::vector<Index> first;
  Index component = 0;
  for (const ContactElement& law : system_.laws().contacts()) {
    first.push_back(component);
    component += law.size();
  }
  for (std::size_t s = 0; s < contacts_.slots().size(); ++s) {
    const CompliantContacts::Slot& slot = contacts_.slots()[s];
    const Index at = first[static_cast<std::size_t>(slot.law)];
    rate[at] += change_.normal[static_cast<Index>(s)];
    for (int c = 0; c < slot.tangents; ++c) rate[at + 1 + c] += change_.tangential[slot.first + c];
  }
}

void CompliantDynamics::sum_rates(double t, Vector& rates) {
  rates.resize(3 + components_ + laws_);
  system_.forces().applied(t, q_, v_, workspace_, f_);
  const CompliantContacts::Powers powers = contacts_.powers();
  rates[0] = f_.dot(v_) + system_.inertia().power(q_, v_) + powers.surfaces;
  rates[1] = system_.forces().damper_power(q_, v_) + powers.dampers;
  rates[2] = powers.friction;
  contacts_.law_sums(law_components_, law_power_);
  rates.segment(3, components_) = law_components_;
  rates.tail(laws_) = law_power_;
  if (contacts_.constant_stiffness()) return;
  // Stiffness that changes along the motion stores or releases energy at fixed deformation.
  system_.kinematics().rate(q_, v_, qdot_);
  const double way = sizes_.size() > 0 ? sizes_.head(nq_).maxCoeff() : 1.0, speed = qdot_.lpNorm<Eigen::Infinity>();
  const double step = kStencilStep * (speed > 0 ? way / speed : 1.0);
  contacts_.forces(normal_, tangential_);
  std::vector<DenseMatrix> K_rate;
  for (const StencilPoint& point : kStencil) {
    probe_q_ = q_ + point.place * step * qdot_;
    contacts_.neighbour(t + point.place * step, probe_q_, v_, normal_, tangential_, &contacts_, workspace_, near_, probe_f_);
    if (K_rate.empty()) K_rate.assign(near_.K.size(), DenseMatrix());
    for (std::size_t g = 0; g < K_rate.size(); ++g) {
      if (K_rate[g].size() == 0) K_rate[g].setZero(near_.K[g].rows(), near_.K[g].cols());
      K_rate[g] += point.weight / step * near_.K[g];
    }
  }
  rates[0] += contacts_.stiffening_power(K_rate);
}

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
  qdot_change_ = probe_v_;
}

void CompliantDynamics::smooth_slopes(double t, const Vector& x) {
  double step = HUGE_VAL;
  for (Index i = 0; i < nq_ + nv_; ++i)
    if (x[i] != 0) step = std::min(step, kStencilStep * (sizes_.size() > i ? sizes_[i] : 1.0) / std::abs(x[i]));
  const bool data = !contacts_.constant_stiffness();
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
    system_.kinematics().normalize(probe_q_);
    probe_v_ = v_ + point.place * step * x.segment(nq_, nv_);
    contacts_.neighbour(t, probe_q_, probe_v_, normal_, tangential_, data ? &contacts_ : nullptr, workspace_, near_,
                        probe_f_);
    if (data && change_.K.empty()) {
      for (std::size_t g = 0; g < near_.K.size(); ++g) {
        change_.K.push_back(DenseMatrix::Zero(near_.K[g].rows(), near_.K[g].cols()));
        change_.C.push_back(DenseMatrix::Zero(near_.C[g].rows(), near_.C[g].cols()));
      }
    }
    add_scaled(point.weight / step, near_, change_);
    model_force(t, probe_q_, probe_v_, probe_h_);
    probe_h_ += probe_f_;
    if (inertia_ && !system_.inertia().constant())
      system_.inertia().mass(probe_q_, workspace_).add_product(-1.0, a_, probe_h_);
    balance_ += point.weight / step * probe_h_;
    system_.kinematics().rate(probe_q_, probe_v_, probe_qdot_);
    qdot_change_ += point.weight / step * probe_qdot_;
  }
}

void CompliantDynamics::model_force(double t, const Vector& q, const Vector& v, Vector& h) {
  inertia_ ? system_.force(t, q, v, workspace_, h) : system_.forces().total(t, q, v, workspace_, h);
}

bool CompliantDynamics::balance(double t, const Vector& y, Vector& out) {
  if (!place(t, y)) return false;
  model_force(t, q_, v_, h_);
  contacts_.add_forces(h_);
  contacts_.rates(delta_);
  out.resize(nv_ + contacts_.tangents());
  out << h_, delta_;
  return true;
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
  for (Vector* numbers : {&change_.mu, &change_.normal_damping, &change_.own_force}) numbers->resize(0);
  exact_ ? exact_slopes(t, x) : smooth_slopes(t, x);
  change_.deformation = x.tail(contacts_.tangents());
  contacts_.vary(change_);
  contacts_.add_forces(change_.normal, change_.tangential, balance_);
}

void CompliantDynamics::vary(double t, const Vector& x, Vector& rate) {
  vary_balance(t, x);
  factor_mass();
  mass_.solve(balance_);
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
  other.force(t, q_, v_, other_workspace, values.balance);
  values.balance += probe_f_;
  other.inertia().mass(q_, other_workspace).add_product(-1.0, a_, values.balance);
}

void CompliantDynamics::add_data_change(DataChange& change, Vector& rate) {
  change.contacts.deformation.setZero(contacts_.tangents());
  contacts_.vary(change.contacts);
  contacts_.add_forces(change.contacts.normal, change.contacts.tangential, change.balance);
  mass_.solve(change.balance);
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

bool CompliantDynamics::jacobian(double t, const Vector& y, SlopePencil& J) {
  if (!place(t, y) || !accelerate(t)) return false;
  const Index n = nv_, T = contacts_.tangents();
  for (Index i = 0; i < n; ++i) {
    J.slope.add(i, n + i, 1);
    J.mass.add(i, i, 1);
  }
  for (Index i = 0; i < T; ++i) J.mass.add(2 * n + i, 2 * n + i, 1);
  const auto add = [](const SystemMatrix& matrix, double factor, Index row, Index column, MatrixEntries& to) {
    const bool full = matrix.storage() == Storage::dense;
    matrix.for_each([&](Index i, Index j, double value) {
      if (!full || value != 0) to.add(row + i, column + j, factor * value);
    });
  };
  add(system_.inertia().mass(q_, workspace_), 1, n, n, J.mass);
  system_.force_slopes(t, q_, v_, workspace_, by_q_, by_v_);
  add(by_q_, 1, n, 0, J.slope);
  add(by_v_, 1, n, n, J.slope);
  contacts_.add_slopes(n, J.slope);
  return true;
}

}  // namespace stickslip
