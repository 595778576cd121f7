// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant_dynamics.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/compliant/stencil.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

CompliantDynamics::CompliantDynamics(const System& system)
    : system_(system), workspace_(system), contacts_(system), nq_(system.info().nq()), nv_(system.info().nv()) {
  components_ = contacts_.component_count();
  laws_ = contacts_.law_count();
  constraints_ = static_cast<Index>(system.laws().constraints().size());
  if (contacts_.has_smooth_part())
    for (const FrictionElement& element : system.laws().friction()) smooth_ += element.size();
  for (Vector* x : {&bias_, &multiplier_, &near_bias_, &constraint_change_}) x->setZero(constraints_);
  none_pinned_.assign(static_cast<std::size_t>(nv_), 0);
  circulatory_ = system.linear() && system.linear()->K.asymmetry() > 0;
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

void CompliantDynamics::motion_rate(Vector& rate) {
  system_.kinematics().rate(q_, v_, qdot_);
  contacts_.rates(delta_);
  rate.resize(motion_size());
  rate << qdot_, a_, delta_;
}

void CompliantDynamics::reaction_rate(Vector& rate) {
  contacts_.law_sums(law_components_, law_smooth_, law_power_);
  rate.resize(reactions());
  rate.head(components_) = law_components_;
  if (constraints_ > 0) rate.tail(constraints_) = multiplier_;
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
    const double stretched = parameter_slope_ ? parameter_slope_(t, k, x_rate_) : 0.0;
    if (stretched != 0) x_rate_ += stretched * dydt.head(motion_size());
    dydt.segment(column_at(k), motion_size()) = x_rate_;
    if (!sums_) continue;
    column_sums(x_rate_);
    if (stretched != 0) {
      reaction_rate(x_);
      x_rate_ += stretched * x_;
    }
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
  if (circulatory_) {
    system_.linear()->K.product(q_, f_);
    system_.linear()->K.product(v_, probe_h_);
    rates[0] -= 0.5 * (v_.dot(f_) - q_.dot(probe_h_));
  }
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
  constexpr double kPart = 1e-2;  // of the run: in less, what depends on time is taken to change little
  const double step = kStencilStep * std::min(kPart * span_, speed > 0 ? way / speed : HUGE_VAL);
  contacts_.forces(normal_, tangential_);
  std::vector<DenseMatrix> K_rate;
  for (const StencilPoint& point : kStencil) {
    probe_q_ = q_ + point.place * step * qdot_;
    contacts_.neighbour(t + point.place * step, probe_q_, v_, normal_, tangential_, &contacts_, workspace_, near_,
                        probe_f_);
    if (K_rate.empty()) K_rate.assign(near_.K.size(), DenseMatrix());
    for (std::size_t g = 0; g < K_rate.size(); ++g) {
      if (K_rate[g].size() == 0) K_rate[g].setZero(near_.K[g].rows(), near_.K[g].cols());
      K_rate[g] += point.weight / step * near_.K[g];
    }
  }
  rates[0] += contacts_.stiffening_power(K_rate);
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

}  // namespace stickslip
