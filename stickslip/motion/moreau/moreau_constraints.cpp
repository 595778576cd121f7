// SPDX-License-Identifier: Apache-2.0
// Bilateral constraints in one step: their rows where impulses act, and what the step leaves of them.
#include <fmt/format.h>

#include <algorithm>

#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

/// Rows at q_θ, and what they ask of the velocity at the end.
Status MoreauScheme::place_constraints(double h, const Vector& v1) {
  if (!constrained_.any()) return Status::success;
  const double theta = options_.theta;
  v_theta_ = theta * v1 + (1 - theta) * v0_;
  move(theta * h, v_theta_, q_theta_);
  move(h, v_theta_, q_end_);
  const SystemMatrix& M = system_.inertia().mass(q_theta_, workspace_);
  if (!constrained_.place(forces_.left_limit(t0_ + theta * h, h), q_theta_, M, workspace_))
    return fail(Status::not_finite,
                fmt::format("moreau: a constraint is not finite in the step from t = {:.9g} s; reduce run.step", t0_));
  constrained_.ask(forces_.left_limit(t0_ + h, h), q_end_, v1, workspace_);
  return Status::success;
}

/// As place_constraints() with v1 = v0; tells whether the step comes so near to a singular position that its rows are
/// better taken elsewhere, and takes them there.
Status MoreauScheme::begin_constraints(double h) {
  if (!constrained_.any()) return Status::success;
  constexpr double kTurning = 0.1;  // of a change of v1 that one iteration gives back: far from any singular position
  constexpr double kNearer = 0.7;   // of the way at an end: the step holds the singular position, or is next to it
  constexpr double kNear = 0.9;     // likewise, where the step does not converge with the rows of its middle. Elsewhere
                                    // those of an end would give the reactions for a part of the step only
  beside_singular_ = false;
  if (!constrained_.constant_rows()) constrained_.begin(t0_, q0_, system_.inertia().mass(q0_, workspace_), workspace_);
  if (const Status status = place_constraints(h, v0_); status != Status::success) return status;
  if (constrained_.constant_rows()) return Status::success;
  if (!away_from_singular_ && constrained_.rank() >= most_rank_ && constrained_.turning() <= kTurning) {
    most_rank_ = constrained_.rank();
    return Status::success;
  }
  const ConstrainedStep::Independence middle = constrained_.independence();
  auto place_at = [&](const Vector& q, double t) {
    return constrained_.place(t, q, system_.inertia().mass(q, workspace_), workspace_);
  };
  const double end = forces_.left_limit(t0_ + h, h);
  if (!place_at(q_end_, end)) return place_constraints(h, v0_);
  const ConstrainedStep::Independence after = constrained_.independence();
  if (!place_at(q0_, t0_)) return place_constraints(h, v0_);
  const ConstrainedStep::Independence before = constrained_.independence();
  const bool later = after.better_than(before, 1.0);
  if (!(later ? after : before).better_than(middle, away_from_singular_ ? kNear : kNearer))
    return place_constraints(h, v0_);
  beside_singular_ = true;
  if (later) place_at(q_end_, end);
  constrained_.ask(end, q_end_, workspace_);
  return Status::success;
}

/// Normal rows of the points that carry load: a correction that moved them would open them, or push them in.
void MoreauScheme::hold_loaded_points() {
  auto loaded = [&](const Active& active) { return carries_load(active); };
  const auto count = static_cast<Index>(std::count_if(active_.begin(), active_.end(), loaded));
  held_rows_.setZero(count, count > 0 ? v0_.size() : 0);
  Index row = 0;
  for (const Active& active : active_) {
    if (!loaded(active)) continue;
    for (SparseMatrix::InnerIterator entry(found_.Wt, active.row); entry; ++entry)
      held_rows_(row, entry.col()) = entry.value();
    ++row;
  }
}

/// The projection of the velocities is an impulse of the constraints as well, M Δv = Aᵀ Λ', and of those whose rate
/// jumps at the end of the step the whole one of that jump.
void MoreauScheme::count_projection(StepRecord& record) {
  const State& s = record.state;
  scratch_ = s.v - solution_.v;
  (linear_ ? linear_->M : system_.inertia().mass(s.q, workspace_)).product(scratch_, balance_);
  constraint_terms_.noalias() = constraint_workspace_.mass.weighted_inverse().transpose() * balance_;
  record.constraint_impulse += constraint_terms_;
  record.energy.work_in += 0.5 * constraint_terms_.dot(constrained_.end_rates() + constraint_workspace_.rows.rate);
  if (!laws_.limits_depend_on_reactions()) return;
  const DenseMatrix& G = constrained_.rows();
  response_.noalias() = G.transpose() * constrained_.impulse();
  column_.noalias() = G.transpose() * followed_.cwiseProduct(constrained_.impulse());
  balance_.noalias() = G.transpose() * followed_.cwiseProduct(constraint_terms_);
  reaction_audit_.add(response_, column_, balance_, inverse_diagonal_, record.duration);
}

/// What the step left of its constraints, of the order h³, is taken out: their positions and velocities hold to
/// round-off at the end of every step.
Status MoreauScheme::settle_on_constraints(StepRecord& record) {
  State& s = record.state;
  record.constraint_impulse = constrained_.impulse();
  hold_loaded_points();
  q_end_ = s.q;
  Status status = project_position(system_, s.t, s.q, constraint_workspace_, held_rows_);
  if (status == Status::not_converged && held_rows_.rows() > 0) {
    s.q = q_end_;
    held_rows_.resize(0, 0);
    status = project_position(system_, s.t, s.q, constraint_workspace_);
  }
  if (status == Status::success) status = project_velocity(system_, s.t, s.q, s.v, constraint_workspace_, held_rows_);
  if (status != Status::success)
    return fail(status, fmt::format("moreau: the constraints cannot be met at t = {:.9g} s (a mechanism that has come "
                                    "apart or locked); reduce run.step",
                                    s.t));
  count_projection(record);
  stick_exactly(s);
  constraint_audit_.add(s, record.duration);
  return Status::success;
}

}  // namespace stickslip
