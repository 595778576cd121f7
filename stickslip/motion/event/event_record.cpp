// SPDX-License-Identifier: Apache-2.0
// What a part of a step leaves behind: impulses and energies by quadrature along the flow, residuals at its end.
#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/common/gauss_legendre.hpp"
#include "stickslip/motion/event/event.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/solvers/residual.hpp"

namespace stickslip {

void EventScheme::relative_velocity(double t, const FlowSample& sample) {
  if (!dynamics_.constant_geometry()) {
    u_ = dynamics_.u();  // the flow has placed the dynamics there
    w_ = dynamics_.w();
    return;
  }
  w_ = dynamics_.w();
  FrictionAssembly& friction = dynamics_.friction();
  if (friction.surface_moves()) {
    Vector& moving = weights_;  // scratch: w of the friction laws alone
    moving.resize(friction.components());
    friction.evaluate_surface(t, sample.q, sample.v, dynamics_.workspace(), moving);
    w_.head(friction.components()) = moving;
  }
  u_.noalias() = dynamics_.Wt() * sample.v;
  u_ -= w_;
}

/// Friction alone, of constant size while it slips, and constant forces: their work is force times path.
void EventScheme::accumulate_in_closed_form(double from, double to, StepRecord& record) {
  EnergyLedger& e = record.energy;
  const Vector& impulse = closed_impulse_;
  record.reaction_impulse += impulse;
  path_ = sample_.q - record.state.q;
  for (std::size_t k = 0; k < dynamics_.laws().size(); ++k) {
    const Index i = dynamics_.laws()[k].first;
    const double carried = impulse[i] * dynamics_.w()[i];
    e.work_in += carried;
    record.law_work[static_cast<Index>(k)] += carried;
    if (record.state.modes[k] == Mode::stick) continue;
    const double path = dynamics_.Wt().row(i).dot(path_) - dynamics_.w()[i] * (to - from);
    e.friction_loss -= sample_.r[i] * path;
    record.law_work[static_cast<Index>(k)] += sample_.r[i] * path;
  }
  e.work_in += f_.dot(path_);
}

/// sample_ holds the flow at `to`.
void EventScheme::accumulate(double from, double to, StepRecord& record) {
  if (!(to > from)) return;
  if (closed_form_ && !redundant_ && flow_->impulses(from, to, closed_impulse_))
    return accumulate_in_closed_form(from, to, record);
  EnergyLedger& e = record.energy;
  const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
  const bool constrained = !system_.laws().constraints().empty();
  for (const QuadraturePoint& point : kGaussLegendre8) {
    const double t = middle + half * point.x, weight = (to - from) * point.weight;
    flow_->sample(t, node_);
    relative_velocity(t, node_);
    record.reaction_impulse += weight * node_.r;
    record.smooth_impulse += weight * node_.smooth;
    for (std::size_t k = 0; k < dynamics_.laws().size(); ++k) {
      const ModeDynamics::Law& law = dynamics_.laws()[k];
      for (int c = 0; c < law.size; ++c) {
        const Index i = law.first + c;
        const double force = node_.r[i] + node_.smooth[i];
        e.friction_loss -= weight * (law.springs() ? node_.smooth[i] : force) * u_[i];
        e.work_in += weight * force * w_[i];
        record.law_work[static_cast<Index>(k)] += weight * force * (u_[i] + w_[i]);
      }
      // What the spring stores is potential energy; what its slider takes is lost.
      if (law.springs() && record.state.modes[k] != Mode::stick)
        e.friction_loss += weight * dynamics_.limit(k) * dynamics_.slider_speed(k, record.state.modes[k]);
    }
    system_.forces().applied(t, node_.q, node_.v, dynamics_.workspace(), f_);
    e.work_in += weight * (f_.dot(node_.v) + system_.inertia().power(node_.q, node_.v));
    e.damper_loss += weight * system_.forces().damper_power(node_.q, node_.v);
    if (circulatory_) {
      system_.linear()->K.product(node_.q, Kq_);
      system_.linear()->K.product(node_.v, Kv_);
      e.work_in -= 0.5 * weight * (node_.v.dot(Kq_) - node_.q.dot(Kv_));
    }
    if (constrained) {
      if (dynamics_.constant_geometry()) {
        dynamics_.place(t, node_.q, node_.v);
        dynamics_.solve(record.state.modes);
      }
      dynamics_.constraint_forces(lambda_);
      record.constraint_impulse += weight * lambda_;
      e.work_in += weight * lambda_.dot(dynamics_.constraint_rows().rate);
    }
  }
  flow_->sample(to, sample_);  // limits that vary are those of this state again, and not of the last node
}

/// Terms of the acceleration along component i over what a unit of r does there: what its reaction is small against.
/// The flow has placed the dynamics at some state of the segment, and sample_ holds the reactions.
/// D: of the constrained system, or without the constraints, which is less than that only beside a dead point.
double EventScheme::force_size(Index i, double D) const {
  if (!(D > 0)) return 0;
  const double terms = dynamics_.Wt().row(i).cwiseAbs().dot(dynamics_.free_acceleration().cwiseAbs()) +
                       std::abs(dynamics_.bias()[i]) + dynamics_.D().row(i).cwiseAbs().dot(sample_.r.cwiseAbs());
  return terms / D;
}

/// What a reaction changes in the last bits of t: under a load of microseconds an event lies between two numbers.
double EventScheme::reaction_round_off(Index first, int size, double t) {
  constexpr double kBits = 4 * std::numeric_limits<double>::epsilon();
  flow_->sample(std::max(flow_->t0(), t - kBits * std::abs(t)), node_);
  const double change = (node_.r - sample_.r).segment(first, size).cwiseAbs().maxCoeff();
  flow_->sample(t, node_);  // and the dynamics where they were
  return change;
}

/// Laws at the state the flow has just reached, from its numbers alone; surfaces at t, on the side of the segment.
void EventScheme::audit(StepRecord& record, double duration, double t) {
  const State& s = record.state;
  relative_velocity(t, sample_);
  for (std::size_t k = 0; k < dynamics_.laws().size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const Mode mode = s.modes[k];
    if (dynamics_.idle(k)) continue;
    const bool stuck = law.holds(mode);
    const double limit = stuck ? dynamics_.static_limit(k) : dynamics_.limit(k);
    one_set_[0] =
        law.contact ? law.contact->set(limit) : dynamics_.friction().element(static_cast<Index>(k)).set(limit);
    if (law.contact && mode == Mode::open) {
      raise(contact_audit_.step.penetration, -std::min(0.0, dynamics_.gap(k)));
      continue;
    }
    Vector &r = one_r_[law.size - 1], &u = one_u_[law.size - 1];
    r = sample_.r.segment(law.first, law.size);
    u = u_.segment(law.first, law.size);
    if (law.springs()) {  // its law is one of the slider
      double n[2];
      dynamics_.spring_direction(k, mode, n);
      const double speed = dynamics_.slider_speed(k, mode);
      for (int c = 0; c < law.size; ++c) u[c] = speed * n[c];
    }
    const Index i = law.first;
    const double free_D = dynamics_.free_D(i);
    // Of the run so far: where a law stops or lifts off, or its load passes through 0, its own force may vanish.
    double& largest = largest_force_[k];
    largest = std::max(largest, force_size(i, free_D));
    auto relative = [](double value, double size) { return size > 0 ? value / size : value; };
    double outside = membership_residual(one_set_, r);
    if (outside > 0) outside = std::max(0.0, outside - reaction_round_off(law.first, law.size, s.t));
    raise(record.membership, relative(outside, largest));
    if (stuck && duration > 0) {
      double motion = 0, terms = 0;
      for (int c = 0; c < law.size; ++c) {
        motion = std::max(motion, std::abs(u[c]));
        terms = std::max(terms, dynamics_.terms(i + c, s.v) + std::abs(w_[i + c]) +
                                    dynamics_.terms(i + c, dynamics_.free_acceleration()) * duration);
      }
      raise(stick_audit_.step.motion, motion * duration);
      raise(stick_audit_.step.terms, terms * duration);  // and what the free motion would make of them
    }
    if (stuck || law.contact) continue;
    // Force that stops u within a hundredth of the run, the time that also scales the integrator's tolerance. (Of the
    // free motion: at a dead point D vanishes, and no reaction could make up for round-off of u.)
    constexpr double kMoment = 1e-2;
    one_rho_[0] = 1.0 / std::max(free_D * kMoment * span_.length(), 1e-300);
    raise(record.inclusion, relative(natural_map_residual(one_set_, r, u, one_rho_), largest));
  }
}

void EventScheme::ChoiceAudit::account(const AuditLedger& /*run*/) { most_ = std::max(most_, step); }

void EventScheme::ChoiceAudit::exchange(Memory& memory) { memory.exchange(most_); }

void EventScheme::ChoiceAudit::add_items(const AuditLedger& /*run*/, const AuditLimits& /*limits*/,
                                         std::vector<AuditItem>& items) const {
  if (most_ > 0)
    items.push_back(reported("admissible_modes", most_, "",
                             "largest number of admissible modes at one event; the policy chose among them"));
}

std::vector<AuditPart*> EventScheme::audit_parts() {
  std::vector<AuditPart*> parts{&stick_audit_};
  if (!system_.laws().constraints().empty()) parts.push_back(&constraint_audit_);
  parts.push_back(&choice_audit_);
  if (system_.laws().contacts().empty()) return parts;
  contact_audit_.guarantees.ends_outside = false;
  contact_audit_.guarantees.no_gain = impacts_never_gain(system_.laws().contacts());
  parts.push_back(&contact_audit_);
  return parts;
}

}  // namespace stickslip
