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
  if (to.spin.size() > 0) to.spin += factor * from.spin;
  if (to.own_force.size() > 0) to.own_force += factor * from.own_force;
  for (std::size_t g = 0; g < to.K.size(); ++g) {
    to.K[g] += factor * from.K[g];
    to.C[g] += factor * from.C[g];
  }
}

}  // namespace

CompliantDynamics::CompliantDynamics(const System& system)
    : system_(system), workspace_(system), contacts_(system), nq_(system.info().nq()), nv_(system.info().nv()) {
  components_ = contacts_.component_count();
  laws_ = contacts_.law_count();
  constraints_ = static_cast<Index>(system.laws().constraints().size());
  if (contacts_.has_smooth_part())
    for (const FrictionElement& element : system.laws().friction()) smooth_ += element.size();
  for (Vector* x : {&bias_, &multiplier_, &near_bias_, &constraint_change_}) x->setZero(constraints_);
  none_pinned_.assign(static_cast<std::size_t>(nv_), 0);
  law_components_.setZero(components_);
  law_power_.setZero(laws_);
  exact_ = system.linear() && system.laws().constant_rows() && !system.forces().applied_depends_on_state() &&
           contacts_.constant_data() && constraints_ == 0 && !contacts_.weakens();
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
  if (constraints_ > 0) {
    system_.laws().constraint_source().evaluate(t, q, workspace_, rows_);
    if (!constrained_.refresh(system_.inertia().mass(q, workspace_), rows_.A))
      throw InputError("the constraints are not finite at the start");
  }
  const ContactSource& source = system_.laws().contact_source();
  ContactPoints found;
  source.find(t, q, source.points_stay() ? HUGE_VAL : 0.1 * source.length(), workspace_, found);
  weights.setZero(laws_);
  Index row = 0;
  const auto weight_along = [&](const SparseMatrix& Wt, Index at) {
    f_.setZero(nv_);
    for (SparseMatrix::InnerIterator entry(Wt, at); entry; ++entry) f_[entry.col()] = entry.value();
    h_ = f_;
    constraints_ > 0 ? constrained_.apply(f_, h_) : mass_.solve(h_);
    return f_.dot(h_);
  };
  const Index friction = contacts_.friction_laws();
  const SparseMatrix rows = system_.laws().friction_rows();
  for (Index k = 0, at = 0; k < friction; ++k) {
    weights[k] = weight_along(rows, at);
    at += system_.laws().friction()[static_cast<std::size_t>(k)].size();
  }
  for (const ContactSite& site : found.points) {
    double& weight = weights[friction + site.law];
    weight = std::max(weight, weight_along(found.Wt, row));
    row += system_.laws().contacts()[static_cast<std::size_t>(site.law)].size();
  }
  double lightest = 0;
  system_.inertia().mass(q, workspace_).for_each([&](Index i, Index j, double value) {
    if (i == j && value > 0 && !(lightest > 0 && 1 / value < lightest)) lightest = 1 / value;
  });
  for (Index k = 0; k < laws_; ++k)
    if (!(weights[k] > 0)) weights[k] = lightest;
}

double CompliantDynamics::natural_time(double t, const Vector& q, const Vector& v, double otherwise) {
  q_ = q;
  v_ = v;
  factor_mass();
  const ContactSource& source = system_.laws().contact_source();
  Vector a(nv_);
  system_.force(t, q, v, workspace_, a);
  mass_.solve(a);
  double shortest = HUGE_VAL;
  // A way L, a speed u and an acceleration b, where there are any.
  const auto consider = [&](double L, double u, double b) {
    if (L > 0 && b > 0) shortest = std::min(shortest, std::sqrt(2 * L / b));
    if (L > 0 && u > 0) shortest = std::min(shortest, L / u);
    if (u > 0 && b > 0 && !(L > 0)) shortest = std::min(shortest, u / b);
  };
  if (const double length = source.length(); length > 0 && !source.points_stay()) {
    consider(length, source.speed_bound(v), source.speed_bound(a));
  } else {
    ContactPoints found;
    source.find(t, q, HUGE_VAL, workspace_, found);
    Index row = 0;
    for (const ContactSite& site : found.points) {
      const int size = system_.laws().contacts()[static_cast<std::size_t>(site.law)].size();
      for (int c = 0; c < size; ++c)
        consider(c == 0 ? site.gap : 0, std::abs(row_times(found.Wt, row + c, v) - found.w[row + c]),
                 std::abs(row_times(found.Wt, row + c, a)));
      row += size;
    }
  }
  return std::isfinite(shortest) ? shortest : otherwise;
}

double CompliantDynamics::default_epsilon(double given, const State& start, double span) {
  constexpr double kPart = 1e-2;  // contacts give way in at most that part of the time in which the motion changes
  if (given > 0) return given;
  const double time = kPart * natural_time(start.t, start.q, start.v, span > 0 ? span : 1.0);
  const double round_off = 1e-9;  // a power of ten as such
  return std::pow(10.0, 2 * std::floor(std::log10(time) + round_off));
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
  if (constraints_ > 0) {
    const ConstraintSource& source = system_.laws().constraint_source();
    source.evaluate(t, q_, workspace_, rows_);
    source.bias(t, q_, v_, workspace_, bias_);
    if (!constrained_.refresh(system_.inertia().mass(q_, workspace_), rows_.A)) return false;
    f_ = a_;
    constrained_.acceleration(f_, bias_, a_);
    constrained_.multipliers(f_, a_, multiplier_);
  } else {
    mass_.solve(a_);
  }
  return a_.allFinite();
}

void CompliantDynamics::solve_mass(Vector& f, const Vector& e) {
  if (constraints_ == 0) {
    factor_mass();
    mass_.solve(f);
    return;
  }
  constrained_.acceleration(f, e, solved_);
  constrained_.multipliers(f, solved_, bias_);
  multiplier_change_ += bias_;
  f = solved_;
}

void CompliantDynamics::add_constraints(const System& system, double t, const Vector& q, const Vector& v,
                                        SystemWorkspace& workspace, Vector& h, Vector& residual) {
  if (constraints_ == 0) return;
  const ConstraintSource& source = system.laws().constraint_source();
  source.evaluate(t, q, workspace, near_rows_);
  source.bias(t, q, v, workspace, residual);
  h.noalias() += near_rows_.A.transpose() * multiplier_;
  residual.noalias() += near_rows_.A * a_;
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
    dydt.segment(column_at(k) + motion_size(), reactions()) = x_rate_;
  }
  return true;
}

/// dλ per component of the laws, dΛ per constraint.
void CompliantDynamics::column_sums(Vector& rate) const {
  rate.setZero(reactions());
  if (constraints_ > 0) rate.tail(constraints_) = multiplier_change_;
  for (std::size_t s = 0; s < contacts_.slots().size(); ++s) {
    const CompliantContacts::Slot& slot = contacts_.slots()[s];
    if (slot.friction < 0) rate[contacts_.component_of(slot, 0)] += change_.normal[static_cast<Index>(s)];
    for (int c = 0; c < slot.tangents; ++c)
      rate[contacts_.component_of(slot, 1 + c)] += change_.tangential[slot.first + c];
  }
}

void CompliantDynamics::sum_rates(double t, Vector& rates) {
  rates.resize(all_sums());
  system_.forces().applied(t, q_, v_, workspace_, f_);
  const CompliantContacts::Powers powers = contacts_.powers();
  rates[0] = f_.dot(v_) + system_.inertia().power(q_, v_) + powers.surfaces;
  rates[1] = system_.forces().damper_power(q_, v_) + powers.dampers;
  rates[2] = powers.friction;
  contacts_.law_sums(law_components_, law_smooth_, law_power_);
  rates.segment(component_sums(), components_) = law_components_;
  if (smooth_ > 0) rates.segment(smooth_sums(), smooth_) = law_smooth_;
  rates.tail(laws_) = law_power_;
  if (constraints_ > 0) {
    accelerate(t);
    rates[0] += multiplier_.dot(rows_.rate);  // a constraint that moves
    rates.segment(constraint_sums(), constraints_) = multiplier_;
  }
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
  contacts_.subtract_viscous(probe_v_, balance_);
  qdot_change_ = probe_v_;
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
    if (inertia_) add_constraints(system_, t, probe_q_, probe_v_, workspace_, probe_h_, near_bias_);
    balance_ += point.weight / step * probe_h_;
    constraint_change_ += point.weight / step * near_bias_;
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
  for (Vector* numbers : {&change_.mu, &change_.normal_damping, &change_.own_force, &change_.spin}) numbers->resize(0);
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
  other.force(t, q_, v_, other_workspace, values.balance);
  values.balance += probe_f_;
  other.inertia().mass(q_, other_workspace).add_product(-1.0, a_, values.balance);
  values.constraint.setZero(constraints_);
  add_constraints(other, t, q_, v_, other_workspace, values.balance, values.constraint);
}

void CompliantDynamics::add_data_change(DataChange& change, Vector& rate) {
  change.contacts.deformation.setZero(contacts_.tangents());
  contacts_.vary(change.contacts);
  contacts_.add_forces(change.contacts.normal, change.contacts.tangential, change.balance);
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
