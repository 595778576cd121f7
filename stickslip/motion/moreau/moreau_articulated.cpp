// SPDX-License-Identifier: Apache-2.0
// Steps of trees without a matrix (articulated_step.hpp): how they enter the scheme, and what they leave behind.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/moreau/articulated_step.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

namespace {
constexpr double kSameTime = 1e-14;  // of the time: the rest of a step that is none
}  // namespace

MoreauScheme::~MoreauScheme() = default;

std::unique_ptr<ArticulatedStep> MoreauScheme::make_articulated() {
  auto step = std::make_unique<ArticulatedStep>(
      system_, laws_, forces_,
      ArticulatedOptions{
          .theta = options_.theta, .force = options_.force, .tolerance = options_.fixed_point_tolerance});
  return step->possible() ? std::move(step) : nullptr;
}

/// False: not solved, or a contact is near; nothing has changed.
bool MoreauScheme::step_articulated(double h, double t_end, StepRecord& record) {
  const std::vector<Mode>& modes = record.state.modes;
  if (!std::all_of(modes.begin() + laws_.laws(), modes.end(), [](Mode mode) { return mode == Mode::open; })) {
    articulated_->forget();
    return false;
  }
  t0_ = record.state.t;
  q0_ = record.state.q;
  v0_ = record.state.v;
  active_.clear();
  has_impact_ = false;
  contact_audit_.step = {};
  if (laws_.limits_vary()) laws_.evaluate_limits(forces_.left_limit(t0_ + 0.5 * h, h), q0_, v0_, workspace_);
  if (articulated_->solve(t0_, h, q0_, v0_, locates(), workspace_) != Status::success ||
      articulated_->may_swing(last_increment_) || !contacts_stay_away()) {
    articulated_->forget();
    return false;
  }
  const double end = t0_ + articulated_->length();
  const bool complete = !articulated_->shortened() || t_end - end <= kSameTime * std::abs(t_end);
  commit_articulated(complete ? t_end : end, record);
  splits_ = complete ? 0 : splits_ + 1;
  left_ = h - articulated_->length();
  return true;
}

/// No point can touch in the step, nor in one as long after it.
bool MoreauScheme::contacts_stay_away() {
  if (contacts_.empty()) return true;
  constexpr double kSteps = 2;
  const ContactSource& source = system_.laws().contact_source();
  const Vector& v1 = articulated_->velocity();
  const double h = articulated_->length();
  q_m_ = articulated_->middle();
  source.find(t0_ + 0.5 * h, q_m_, reach_within(kSteps * h, v0_, v1), workspace_, found_);
  Index row = 0;
  for (const ContactSite& point : found_.points) {
    if (surfaces_move_) return false;
    const double before = row_times(found_.Wt, row, v0_) - found_.w[row];
    const double after = row_times(found_.Wt, row, v1) - found_.w[row];
    const Approach approach{before, after, before, 0};
    if (!(point.gap > touching(point, row, approach, h) + kSteps * approach.way(h))) return false;
    contact_audit_.step.approach = std::max({contact_audit_.step.approach, -before, -after});
    row += contacts_[static_cast<std::size_t>(point.law)].size();
  }
  return true;
}

void MoreauScheme::commit_articulated(double t_end, StepRecord& record) {
  const double h = articulated_->length();
  State& s = record.state;
  v_theta_ = articulated_->mean_velocity();
  last_increment_ = articulated_->velocity() - v0_;
  s.v = articulated_->velocity();
  for (Index i = 0; i < s.q.size(); ++i) s.q[i] = q0_[i] + h * v_theta_[i];
  s.t = t_end;
  record.duration = h;
  record.jumped = false;
  record.problems = 1;
  frozen_ = {articulated_->stopped(), -1, 0, false};
  const Index laws = laws_.laws();
  solution_.u.resize(laws);
  solution_.r.resize(laws);
  for (Index k = 0; k < laws; ++k) {
    solution_.u[k] = s.v[articulated_->coordinate(k)];
    solution_.r[k] = record.reaction_impulse[k] = h * articulated_->reaction(k);
  }
  articulated_->keep();
  stops_exactly_ = true;
  note_friction_modes(t_end, record);
  stops_exactly_ = false;
  if (!contacts_.empty()) {
    record_points(h, record);
    record_contact_modes(t_end, record);
    remember_points();
  }
  record_articulated(record);
}

/// Laws hold by construction: what is held has its reaction in its set, what moves has it at its limit. Left to measure
/// are the balance of momentum and the energy.
void MoreauScheme::record_articulated(StepRecord& record) {
  const double h = record.duration, theta = options_.theta;
  const State& s = record.state;
  raise(residuals_.momentum, articulated_->terms());
  const double largest = residuals_.momentum, residual = articulated_->residual();
  raise(momentum_audit_.step, largest > 0 ? residual / largest : residual);
  stick_audit_.step.terms = 0;
  record.energy_terms = 0;
  EnergyLedger& e = record.energy;
  if (options_.force == ForceSampling::mean && system_.forces().applied_depends_on_time()) {
    forces_.sample(options_.force, t0_, t0_ + h, articulated_->middle(), v_theta_, workspace_, scratch_);
  } else {
    system_.forces().applied(t0_ + theta * h, articulated_->middle(), v_theta_, workspace_, scratch_);
  }
  e.work_in += h * scratch_.dot(v_theta_);
  e.damper_loss += h * system_.forces().damper_power(articulated_->middle(), v_theta_);
  for (Index k = 0; k < laws_.laws(); ++k) {
    const double work = solution_.r[k] * v_theta_[articulated_->coordinate(k)];
    record.law_work[k] += work;
    e.friction_loss -= work;
  }
  const Energies end = articulated_->energies(s.q, s.v);
  e.kinetic = end.kinetic;
  e.potential = end.potential;
}

}  // namespace stickslip
