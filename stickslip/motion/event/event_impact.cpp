// SPDX-License-Identifier: Apache-2.0
// Impacts of the event scheme, and the end of those that accumulate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/event.hpp"
#include "stickslip/motion/event/impact_pose.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/solvers/impact.hpp"

namespace stickslip {

/// A limit that follows a reaction has an impulse where the reaction has one, and dry friction here carries none.
StepOutcome EventScheme::refuse_impulsive_limits(const State& s, const std::vector<Index>& rows, const Vector& p) {
  constexpr double kNone = 1e-12;  // of the terms: round-off
  const Index friction = dynamics_.friction().components(), contacts = dynamics_.components() - friction;
  Vector all = Vector::Zero(dynamics_.components()), P(dynamics_.following().reactions()), lambda;
  for (Index i = 0; i < p.size(); ++i) all[rows[static_cast<std::size_t>(i)]] = p[i];
  P.head(contacts) = all.tail(contacts);
  const Vector force = dynamics_.Wt().transpose() * all, jump = dynamics_.PW() * all;
  dynamics_.mass().multipliers(force, jump, lambda);
  P.tail(lambda.size()) = lambda;
  for (const std::size_t k : dynamics_.following().laws())
    for (Index i = 0; i < P.size(); ++i)
      if (dynamics_.following().names(k, i) && std::abs(P[i]) > kNone * P.lpNorm<Eigen::Infinity>())
        return {Status::refused,
                fmt::format("the impact at t = {:.9g} gives an impulse to a reaction that the limit of friction '{}' "
                            "depends on, and scheme 'event' has no friction that carries impulses but that of "
                            "contacts: make it a contact with mu, or use scheme = \"moreau\"",
                            s.t, dynamics_.name(k))};
  return {};
}

/// The impact law with friction at all contacts that touch. Modes and rest of the laws afterwards.
StepOutcome EventScheme::take_impacts(StepRecord& record) {
  State& s = record.state;
  dynamics_.place(just_after(s.t), s.q, s.v);
  std::vector<std::size_t>& touching = touching_;
  touching.clear();
  for (std::size_t k = 0; k < s.modes.size(); ++k)
    if (dynamics_.laws()[k].contact && (s.modes[k] != Mode::open || impact_[k])) touching.push_back(k);
  ImpactProblem problem;
  std::vector<Index> rows;
  pose_impact(dynamics_, touching, problem, rows);
  const Index size = static_cast<Index>(rows.size());
  ImpactSolution solution;
  solve(problem, {}, impact_workspace_, solution);
  if (solution.status != Status::success)
    return {solution.status, fmt::format("impact at t = {:.9g}: {}", s.t, solution.message)};
  const Vector &p = solution.p, &u_before = problem.u, &u_after = solution.u;
  if (!dynamics_.following().empty())
    if (const StepOutcome outcome = refuse_impulsive_limits(s, rows, p); outcome.status != Status::success)
      return outcome;
  for (Index j = 0; j < size; ++j) {
    s.v.noalias() += p[j] * dynamics_.PW().col(rows[j]);
    record.jump_impulse[rows[j]] += p[j];
  }
  record.jumped = true;
  // Mean velocities make the work of the impulses exact.
  double normal_loss = 0, friction_loss = 0, approach = 0;
  Index i = 0;
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    impact_impulse_[k] = p[i];
    approach = std::max(approach, -u_before[i]);
    for (int c = 0; c < law.size; ++c) {
      const double mean = 0.5 * (u_before[i + c] + u_after[i + c]), w = dynamics_.w()[law.first + c];
      (c == 0 ? normal_loss : friction_loss) -= p[i + c] * mean;
      record.energy.work_in += p[i + c] * w;
      record.law_work[static_cast<Index>(k)] += p[i + c] * (mean + w);
    }
    i += law.size;
  }
  contact_audit_.step.gain += book_impact(normal_loss, friction_loss, record.energy);
  // Modes after the impact. Velocities at round-off of the approach are zero.
  dynamics_.place(just_after(s.t), s.q, s.v);
  const double tiny = 1e-12 * approach;
  i = 0;
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const double normal = u_after[i];
    i += law.size;
    if (normal > std::max(tiny, velocity_round_off(law.first, s))) {
      s.modes[k] = Mode::open;
      at_rest_[k] = 0;
      continue;
    }
    set_mode_by_velocity(k, tiny, s);
  }
  // Dry friction passes no impulse: a law that stuck may move now.
  for (std::size_t k = 0; k < s.modes.size(); ++k)
    if (!dynamics_.laws()[k].contact) set_mode_by_velocity(k, tiny, s);
  return {};
}

/// Rebounds whose further impacts last no longer than accumulation_time are ended here, and so are contacts that a blow
/// elsewhere has opened for as short a time: a body that rocks from corner to corner comes to rest after infinitely many
/// impacts as well. The dynamics hold the accelerations of the decided modes.
StepOutcome EventScheme::close_accumulating(StepRecord& record) {
  State& s = record.state;
  bool closed = false;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const bool touched = law.contact && (impact_[k] || before_[k] != Mode::open);
    if (!touched || s.modes[k] != Mode::open) continue;
    const double e = law.contact->restitution, u = dynamics_.u()[law.first];
    const double a = dynamics_.Wt().row(law.first).dot(dynamics_.acceleration()) + dynamics_.bias()[law.first];
    if (!(a < 0)) continue;
    const double flight = 2 * u / -a;
    if (!(flight <= options_.accumulation_time * (1 - e)) && !(flight <= shortest_flight(s.t))) continue;
    const double p = -u / dynamics_.D()(law.first, law.first);
    s.v.noalias() += p * dynamics_.PW().col(law.first);
    record.energy.impact_loss -= 0.5 * p * u;
    record.energy.work_in += p * dynamics_.w()[law.first];
    impact_[k] = 0;
    closed = true;
    roles_[k] = LawRole::stopped;
    set_mode_by_velocity(k, 0, s);
  }
  if (!closed) return {};
  return settle(s, s.t);
}

}  // namespace stickslip
