// SPDX-License-Identifier: Apache-2.0
// Impacts of the event scheme, and the end of those that accumulate.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/event.hpp"
#include "stickslip/motion/event/impact_pose.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/prescribed_into.hpp"
#include "stickslip/solvers/impact.hpp"

namespace stickslip {

namespace {
// Of the strongest impulse at the same instant, weighed by D_NN^½: an edge that a rocking body leaves is not struck,
// and has what the solver's tolerance leaves. Recorded as no event; the impulse itself acts.
constexpr double kNoImpulse = 1e-10;
constexpr long kRepeated = 20;
// Impacts at one instant after which all that took part come together without rebound: a light body between two heavy
// ones collides infinitely often in no time, whether or not a force drives them together.
constexpr long kCollapse = 60;
}  // namespace

/// A limit that follows a reaction has an impulse where the reaction has one, and dry friction here carries none.
StepOutcome EventScheme::refuse_impulsive_limits(const State& s, const Vector& P, std::string_view cause) const {
  constexpr double kNone = 1e-12;  // of the terms: round-off
  for (const std::size_t k : dynamics_.following().laws())
    for (Index i = 0; i < P.size(); ++i)
      if (dynamics_.following().names(k, i) && std::abs(P[i]) > kNone * P.lpNorm<Eigen::Infinity>())
        return {Status::refused,
                fmt::format("the {} at t = {:.9g} gives an impulse to a reaction that the limit of friction '{}' "
                            "depends on, and scheme 'event' has no friction that carries impulses but that of "
                            "contacts: make it a contact with mu, or use scheme = \"moreau\"",
                            cause, s.t, dynamics_.name(k))};
  return {};
}

Vector EventScheme::impulses_of_reactions(const std::vector<Index>& rows, const Vector& p) {
  const Index friction = dynamics_.friction().components(), contacts = dynamics_.components() - friction;
  Vector all = Vector::Zero(dynamics_.components()), P(dynamics_.following().reactions()), lambda;
  for (Index i = 0; i < p.size(); ++i) all[rows[static_cast<std::size_t>(i)]] = p[i];
  P.head(contacts) = all.tail(contacts);
  const Vector force = dynamics_.Wt().transpose() * all, jump = dynamics_.PW() * all;
  dynamics_.mass().multipliers(force, jump, lambda);
  P.tail(lambda.size()) = lambda;
  return P;
}

/// The impact law with friction at all contacts that touch. Modes and rest of the laws afterwards. jumped: the state is
/// that of cross_jumps() already.
StepOutcome EventScheme::take_impacts(StepRecord& record, bool jumped) {
  State& s = record.state;
  // What the integrator leaves of a velocity along a contact that was closed is no blow, and must not rebound.
  if (!jumped) project(before_, s, s.t);
  place(just_after(s.t), s);
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
  if (solution.status != Status::success) {
    for (const std::size_t k : touching)
      if (const Index i = dynamics_.laws()[k].first; dynamics_.blocked(i) && dynamics_.u()[i] < 0)
        return {solution.status, prescribed_into(dynamics_.name(k), s.t)};
    return {solution.status, fmt::format("impact at t = {:.9g}: {}", s.t, solution.message)};
  }
  const Vector &p = solution.p, &u_before = problem.u, &u_after = solution.u;
  if (!dynamics_.following().empty())
    if (const StepOutcome outcome = refuse_impulsive_limits(s, impulses_of_reactions(rows, p), "impact");
        outcome.status != Status::success)
      return outcome;
  for (Index j = 0; j < size; ++j) {
    s.v.noalias() += p[j] * dynamics_.PW().col(rows[j]);
    record.jump_impulse[rows[j]] += p[j];
  }
  record.jumped = true;
  // Mean velocities make the work of the impulses exact.
  double normal_loss = 0, friction_loss = 0, approach = 0, strongest = 0;
  Index i = 0;
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    strongest = std::max(strongest, p[i] * std::sqrt(dynamics_.D()(law.first, law.first)));
    i += law.size;
  }
  i = 0;
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const double D_NN = dynamics_.D()(law.first, law.first);
    const bool felt = p[i] * std::sqrt(D_NN) > kNoImpulse * strongest && p[i] * D_NN > velocity_round_off(law.first, s);
    impact_impulse_[k] = felt ? p[i] : 0.0;
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
  place(just_after(s.t), s);
  constexpr double kAtRest = 1e-12;
  const double tiny = kAtRest * approach;
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

/// Contacts whose further impacts last no longer than accumulation_time: rebounds, and those that a blow elsewhere has
/// opened for as short a time. Contacts that throw a body to and fro between them lose less than e says: where that has
/// gone on for kRepeated impacts at one instant, all that touch and would be back within accumulation_time count. The
/// dynamics hold the accelerations of the decided modes.
void EventScheme::find_accumulating(const State& s) {
  ending_.clear();
  const bool repeated = at_this_instant_ > kRepeated, collapse = at_this_instant_ > kCollapse;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (!law.contact || s.modes[k] != Mode::open) continue;
    if (!impact_[k] && before_[k] == Mode::open && !(repeated && touches(k, s.q))) continue;
    if (collapse && touches(k, s.q)) {
      ending_.push_back(k);
      continue;
    }
    const double e = law.contact->restitution, u = dynamics_.u()[law.first];
    const double a = dynamics_.Wt().row(law.first).dot(dynamics_.acceleration()) + dynamics_.bias()[law.first];
    if (!(a < 0)) continue;
    const double flight = 2 * std::abs(u) / -a;
    if (flight <= accumulation_time() * (repeated ? 1.0 : 1 - e) || flight <= shortest_flight(s.t))
      ending_.push_back(k);
  }
}

/// Their impacts end here, all at once: a body that rocks from corner to corner comes to rest after infinitely many as
/// well.
StepOutcome EventScheme::close_accumulating(StepRecord& record) {
  State& s = record.state;
  find_accumulating(s);
  if (ending_.empty()) return {};
  const auto count = static_cast<Index>(ending_.size());
  DenseMatrix D(count, count);
  Vector u(count);
  for (Index i = 0; i < count; ++i) {
    const Index row = dynamics_.laws()[ending_[static_cast<std::size_t>(i)]].first;
    u[i] = dynamics_.u()[row];
    for (Index j = 0; j < count; ++j)
      D(i, j) = dynamics_.D()(row, dynamics_.laws()[ending_[static_cast<std::size_t>(j)]].first);
  }
  const Vector p = D.completeOrthogonalDecomposition().solve(-u);
  for (Index i = 0; i < count; ++i) {
    const std::size_t k = ending_[static_cast<std::size_t>(i)];
    const Index row = dynamics_.laws()[k].first;
    s.v.noalias() += p[i] * dynamics_.PW().col(row);
    record.energy.impact_loss -= 0.5 * p[i] * u[i];
    record.energy.work_in += p[i] * dynamics_.w()[row];
    impact_[k] = 0;
    roles_[k] = LawRole::stopped;
    set_mode_by_velocity(k, 0, s);
  }
  return settle(s, s.t);
}

}  // namespace stickslip
