// SPDX-License-Identifier: Apache-2.0
// The energy of one step: work of forces, laws and constraints, what contacts add or take.
#include <algorithm>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

namespace {

double product(const Vector& x, const Vector& y) {
  double sum = 0;
  for (Index i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace

void MoreauScheme::record_energy(double h, StepRecord& record) {
  const double theta = options_.theta;
  EnergyLedger& e = record.energy;
  const State& s = record.state;
  e.correction += correction_work_;
  if (drift_kick_) {
    system_.forces().applied(t0_ + 0.5 * h, q_m_, v_m_, workspace_, scratch_);
    e.work_in += h * scratch_.dot(v_theta_);
    e.damper_loss += h * system_.forces().damper_power(q_m_, v_theta_);
  } else if (nonlinear_) {
    move(theta * h, v_theta_, q_theta_);
    if (options_.force == ForceSampling::mean && system_.forces().applied_depends_on_time()) {
      forces_.sample(options_.force, t0_, t0_ + h, q_theta_, v_theta_, workspace_, scratch_);
    } else {
      system_.forces().applied(t0_ + theta * h, q_theta_, v_theta_, workspace_, scratch_);
    }
    e.work_in += h * (scratch_.dot(v_theta_) + system_.inertia().power(q_theta_, v_theta_));
    e.damper_loss += h * system_.forces().damper_power(q_theta_, v_theta_);
    if (damps_late_) record_late_damping(h, e);
  } else {
    e.work_in += h * product(f_, v_theta_);
    if (damped_by_model_) e.damper_loss += h * system_.forces().damper_power(q0_, v_theta_);
  }
  if (circulatory_) e.work_in -= h * circulatory_power(h);
  const Vector& u1 = lean_ ? residuals_.u : u1_;
  const bool has_smooth = laws_.has_weakening() || laws_.has_viscous();
  for (Index k = 0; k < laws_.laws(); ++k)
    for (Index i = laws_.first(k), end = i + laws_.size(k); i < end; ++i) {
      const double u_theta = theta * u1[i] + (1 - theta) * u0_[i];
      const double w_theta = theta * problem_.w[i] + (1 - theta) * w0_friction_[i];
      const double smooth = has_smooth ? smooth_impulse(k, i, h, u_theta) : 0.0;
      const double impulse = solution_.r[i] + spring_impulse_[i] + smooth;
      record.smooth_impulse[i] = smooth;
      record.law_work[k] += impulse * (u_theta + w_theta);
      e.friction_loss -= impulse * u_theta;
      e.work_in += impulse * w_theta;
    }
  if (constrained_.any()) e.work_in += constrained_.work(theta, t0_, q0_, workspace_);
  if (!active_.empty()) record_contact_work(record);
  if (linear_) {  // M v serves the next step as well
    linear_->M.product(s.v, Mv_);
    momentum_is_known_ = true;
    e.kinetic = 0.5 * product(Mv_, s.v);
    if (elastic_ || springs_.any()) e.potential = system_.forces().potential_energy(s.q);
  } else {
    e.kinetic = system_.inertia().kinetic_energy(s.q, s.v);
    e.potential = system_.forces().potential_energy(s.q);
  }
  if (springs_.any()) e.potential += springs_.energy();
  if (active_.empty()) return;
  if (blows_ > 0) {  // each by the work of its impulses
    if (!newton_alone_) contact_audit_.step.gain = blow_gain_ + (has_impact_ ? std::max(0.0, contact_gain()) : 0.0);
    return;
  }
  // Newton's rebound is counted by the work of its impulses, in book_impact().
  if (has_impact_ || !some_impact_rebounds()) contact_audit_.step.gain = std::max(0.0, contact_gain());
  record_contact_velocity();
}

/// Weakening and viscous part of one component, as they acted in the step.
double MoreauScheme::smooth_impulse(Index law, Index i, double h, double u_theta) const {
  if (!linear_implicit()) return smooth_[i];
  return (laws_.has_weakening() ? weakened_[i] : 0.0) - h * laws_.viscous(law) * u_theta;
}

/// Power taken out by the skew part of K at q_θ: v·(K - Kᵀ) q / 2.
double MoreauScheme::circulatory_power(double h) {
  move(options_.theta * h, v_theta_, q_theta_);
  double power = 0;
  linear_->K.for_each(
      [&](Index i, Index j, double k) { power += 0.5 * k * (v_theta_[i] * q_theta_[j] - v_theta_[j] * q_theta_[i]); });
  return power;
}

void MoreauScheme::record_contact_work(StepRecord& record) {
  const double theta = options_.theta;
  EnergyLedger& e = record.energy;
  double normal_loss = 0, friction_loss = 0;
  bool impact = false;
  for (const Active& active : active_) {
    const int size = contacts_[static_cast<std::size_t>(active.law)].size();
    impact |= active.impact;
    for (int c = 0; c < size; ++c) {
      const Index i = active.first + c;
      const double surface = theta * w_end()[active.row + c] + (1 - theta) * w_start()[active.row + c];
      const double impulse = impulses()[i];
      const double u_end = u1_[i] - (c == 0 ? active.bias : 0.0);
      const double u_theta = theta * u_end + (1 - theta) * u0_[i];
      const double work = impulse * u_theta;
      (c == 0 ? normal_loss : friction_loss) -= work;
      e.work_in += impulse * surface;
      record.law_work[laws_.laws() + active.law] += work + impulse * surface;
    }
  }
  if (impact) {
    contact_audit_.step.gain += book_impact(normal_loss, friction_loss, e);
    return;
  }
  e.impact_loss += normal_loss;
  e.friction_loss += friction_loss;
}

bool MoreauScheme::some_impact_rebounds() const {
  return std::any_of(active_.begin(), active_.end(), [&](const Active& active) {
    return active.impact && contacts_[static_cast<std::size_t>(active.law)].restitution > 0;
  });
}

/// Kinetic energy that the contacts of the step added.
double MoreauScheme::contact_gain() {
  if (has_impact_) return impact_solution_.work;
  if (iterates_) free_velocity();
  double gain = 0;
  for (Index i = 0; i < solution_.r.size(); ++i) {
    const double u_free = row_times(problem_.Wt, i, v_free_) - problem_.w[i];
    gain += 0.5 * solution_.r[i] * (u1_[i] + u_free);
  }
  for (const Active& active : active_) gain -= solution_.r[active.first] * active.bias;
  return gain;
}

}  // namespace stickslip
