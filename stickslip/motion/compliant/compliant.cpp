// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/compliant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/common/radau.hpp"
#include "stickslip/motion/compliant/radau_nodes.hpp"
#include "stickslip/motion/event/flow.hpp"
#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

namespace {

constexpr double kWayPerSearch = 0.4;  // of the reach of a search for points: after that way they are looked for again

}  // namespace

CompliantScheme::CompliantScheme(const System& system, const CompliantOptions& options, double tolerance, double step,
                                 TimeSpan span, std::vector<double> breakpoints, StopRequest stop,
                                 const Variations* variations, std::shared_ptr<const State> whole_start)
    : system_(system),
      options_(options),
      tolerance_(tolerance),
      fixed_(step),
      span_(span),
      stretch_(std::move(breakpoints), span),
      stop_(stop),
      resolution_(system, span.start, span.end, kResolvedOrder, kResolvedAccuracy),
      dynamics_(system),
      variations_(variations),
      neighbours_(dynamics_, variations),
      unknowns_(variations ? variations->size() : 0),
      whole_start_(std::move(whole_start)),
      switches_(only_polygons(system.laws().contacts())),
      constraints_(system),
      constraint_audit_(system) {
  dynamics_.set_span(span.length());
  if (variations) options_.locate_switches = true;
}

CompliantScheme::~CompliantScheme() = default;

bool CompliantScheme::rate(double t, const Vector& y, Vector& dydt) {
  try {
    const bool known = dynamics_.derivative(stretch_.inside(t), y, dydt);
    if (watching_ && !saw_change_) saw_change_ = !known || dynamics_.contacts().pieces() != pieces_;
    return known;
  } catch (const InputError& error) {
    refusal_ = error.what();
    return false;
  }
}

void CompliantScheme::take_modes(State& s) const {
  const CompliantContacts& contacts = dynamics_.contacts();
  s.modes.resize(static_cast<std::size_t>(contacts.law_count()));
  for (std::size_t k = 0; k < s.modes.size(); ++k) s.modes[k] = contacts.mode(k);
  if (!contacts.has_facets()) return;
  s.facets.resize(s.modes.size());
  for (std::size_t k = 0; k < s.facets.size(); ++k) s.facets[k] = contacts.facets(k);
}

/// Slots that have given way lose their static coefficient, those that have come to rest get it.
void CompliantScheme::settle(double t) {
  CompliantContacts& contacts = dynamics_.contacts();
  if (!contacts.has_static()) return;
  if (!restart_) y_ = integrator_->y();
  rate_before_.resize(y_.size());
  rate_after_.resize(y_.size());
  if (!(derives() ? rate(t, y_, rate_before_) : dynamics_.place(stretch_.inside(t), y_))) return;
  std::vector<std::size_t> given_way;
  for (std::size_t s = 0; s < contacts.slots().size(); ++s)
    if (contacts.slots()[s].held && !contacts.sticks(s)) given_way.push_back(s);
  const std::vector<CompliantContacts::Slot> held = contacts.slots();
  if (!derives() || given_way.empty()) {
    if (contacts.hold_or_release()) dynamics_.place(stretch_.inside(t), y_);
    pieces_ = contacts.pieces();
    share_holds();
    record_holds(held);
    return;
  }
  contacts.hold_or_release();
  if (!rate(t, y_, rate_after_)) return;
  pieces_ = contacts.pieces();
  contacts.swap_holds(held);  // derivatives of what gave way are those of before
  jump_columns(t, releases(t, y_, held, given_way), y_);
  dynamics_.place(stretch_.inside(t), y_);
  contacts.hold_or_release();
  dynamics_.place(stretch_.inside(t), y_);
  share_holds();
  record_holds(held);
  restart_ = true;
}

/// Onto the constraints, where the step has left them by its error.
void CompliantScheme::project(double t) {
  dynamics_.position_of(y_, project_q_);
  project_v_ = y_.segment(system_.info().nq(), system_.info().nv());
  static_cast<void>(project_position(system_, stretch_.inside(t), project_q_, constraints_));
  static_cast<void>(project_velocity(system_, stretch_.inside(t), project_q_, project_v_, constraints_));
  dynamics_.put_position(project_q_, y_);
  y_.segment(system_.info().nq(), system_.info().nv()) = project_v_;
  first_step_ = integrator_->suggested_step();
  restart_ = true;
}

/// What a gap or a stiffness that jumps in time at t strains or relieves was brought in from outside.
void CompliantScheme::enter_stretch(double t) {
  const bool jumps = stretch_.ends_at(t) && dynamics_.place(stretch_.inside(t), y_);
  const double before = dynamics_.contacts().energy();
  stretch_.enter(t);
  if (!jumps || !dynamics_.place(stretch_.inside(t), y_)) return;
  (stiff_ ? sums_[0] : y_[dynamics_.motion_size()]) += dynamics_.contacts().energy() - before;
}

void CompliantScheme::begin(double t) {
  enter_stretch(t);
  integrator_->restart(t, y_, first_step_);
  if (rows_integrator_ && rows_integrator_->y().size() != y_.size()) {
    rows_integrator_->set_absolute_scale(scale_);
    rows_integrator_->restart(t, y_);
  }
  restart_ = false;
}

/// Slots for the points ahead; the integrator begins anew where they changed.
void CompliantScheme::collect(double t) {
  CompliantContacts& contacts = dynamics_.contacts();
  const Index nq = system_.info().nq(), nv = system_.info().nv(), T = contacts.tangents();
  const std::vector<CompliantContacts::Slot> before = contacts.slots();
  Vector q;
  DenseMatrix delta(T, 1 + unknowns_ + (tape_ ? T : 0));
  if (tape_) delta.rightCols(T).setIdentity();
  delta.col(0) = y_.segment(nq + nv, T);
  for (Index k = 0; k < unknowns_; ++k) delta.col(1 + k) = y_.segment(dynamics_.column_at(k) + nq + nv, T);
  const Vector old = y_;
  const Index sums = dynamics_.sums_size(), old_sums = dynamics_.motion_size(), old_column = dynamics_.column_size();
  dynamics_.position_of(y_, q);
  dropped_energy_ += dynamics_.collect(t, q, contacts.margin(), delta);
  way_since_search_ = 0;
  const auto& now = contacts.slots();
  const bool same = before.size() == now.size() &&
                    std::equal(before.begin(), before.end(), now.begin(), [](const auto& a, const auto& b) {
                      return a.law == b.law && a.key == b.key && a.first == b.first;
                    });
  if (tape_) tape_->push_back(TapeSlots{before, delta.rightCols(T)});
  if (same) return;
  const Index now_T = contacts.tangents(), own = dynamics_.column_size() - dynamics_.motion_size();
  y_.setZero(dynamics_.size());
  y_.head(nq + nv) = old.head(nq + nv);
  y_.segment(nq + nv, now_T) = delta.col(0);
  y_.segment(dynamics_.motion_size(), sums) = old.segment(old_sums, sums);
  for (Index k = 0; k < unknowns_; ++k) {
    const Index from = old_sums + sums + k * old_column, to = dynamics_.column_at(k);
    y_.segment(to, nq + nv) = old.segment(from, nq + nv);
    y_.segment(to + nq + nv, now_T) = delta.col(1 + k);
    y_.segment(to + dynamics_.motion_size(), own) = old.segment(from + old_column - own, own);
  }
  neighbours_.follow();
  dynamics_.place(stretch_.inside(t), y_);
  deepest_.begin(contacts, t);
  pieces_ = contacts.pieces();
  raise_scales();
  first_step_ = integrator_->suggested_step();
  integrator_->set_absolute_scale(scale_);
  restart_ = true;
}

StepOutcome CompliantScheme::failure(OdeStep step, double t) {
  if (step == OdeStep::stopped) return {Status::interrupted, ""};
  if (!refusal_.empty()) return {Status::refused, refusal_};
  y1_ = integrator_->y();
  rates_.resize(y1_.size());
  if (!rate(t + SmoothStretch::kMoment * stretch_.same_time(t), y1_, rates_) || !rates_.allFinite())
    return {Status::not_finite,
            fmt::format("the motion cannot be continued beyond t = {:.9g}: a force is not finite there", t)};
  return {Status::not_converged,
          fmt::format("the integrator cannot meet the tolerance at t = {:.9g}; use a larger run.tolerance, or softer "
                      "contacts",
                      t)};
}

/// One step of the integrator.
StepOutcome CompliantScheme::advance(StepRecord& record) {
  const double now = record.state.t;
  if (want_stiff_) go_stiff();
  settle(now);
  if (!dynamics_.contacts().points_stay() &&
      (restart_ || way_since_search_ > kWayPerSearch * dynamics_.contacts().margin())) {
    if (!restart_) y_ = integrator_->y();
    collect(now);
  }
  if (restart_) begin(now);
  refusal_.clear();
  const double end = stretch_.end_after(now);
  double limit = resolution_.until(now, end);
  if (end - limit <= 2 * stretch_.same_time(end)) limit = end;  // what is less would pass for the breakpoint
  if (resolution_.stuck()) return too_fast(now);
  const double speed = system_.laws().contact_source().speed_bound(record.state.v);
  if (!dynamics_.contacts().points_stay() && speed > 0)
    limit = std::min(limit, now + kWayPerSearch * dynamics_.contacts().margin() / speed);
  if (const double until = std::exchange(touch_until_, HUGE_VAL); until > now + 2 * stretch_.same_time(now))
    limit = std::min(limit, until);
  const OdeStep step = integrate(limit);
  pushed_ = step == OdeStep::step_too_small && push_over_switch(now, record);
  if (pushed_) return {};
  if (step != OdeStep::accepted) return failure(step, now);
  way_since_search_ += speed * (integrator_->t() - integrator_->t_old());
  sums_base_ = sums_;
  step_end_ = integrator_->t();
  switch_times_.clear();
  part_.end = NAN;
  in_step_ = true;
  cut_ = ends_own_law_ = false;
  look_for_switches(record);
  if (continued_ && !cut_) {
    if (!stiff_) {  // no switch that explains the rejected step: as if nothing had been
      step_back(now);
      return {};
    }
    continued_ = false;  // its stages lie where the pieces hold: what Newton's iteration had left is the motion itself
  }
  if (tape_ && !cut_) record_step(now, integrator_->y_old(), step_end_ - now, false);
  // The Jacobian of the step is that of other pieces: Newton's method with it may take a change that it hardly moves
  // for a solution (the slope of a stiff slider, after it has come to stick).
  if (stiff_ && !switch_times_.empty() && !cut_) first_step_ = integrator_->suggested_step();
  watch_stiffness();
  y_ = cut_ ? switch_y_ : integrator_->y();
  if (dynamics_.constraints() > 0 && !cut_) project(step_end_);  // a state just over a switch stays there
  dynamics_.place(stretch_.inside(step_end_), y_);
  raise_scales();
  integrator_->set_absolute_scale(scale_);
  raise(audit_.step.penetration, deepest_.look(dynamics_.contacts(), step_end_));
  return {};
}

void CompliantScheme::state_at(double t, Vector& y) {
  if (t == step_end_) {
    y = y_;
    return;
  }
  // The dense output of a step that a switch cut short knows what came after the switch.
  if (cut_ || rows_integrator_) {
    step_to(t, y);
  } else {
    integrator_->interpolate(t, y);
  }
}

/// Sums at t inside the step: in y, or by the quadrature of the implicit method, between kinks.
void CompliantScheme::integrate_sums(double t, const Vector& y) {
  if (!stiff_) {
    sums_ = y.segment(dynamics_.motion_size(), dynamics_.sums_size());
    return;
  }
  sums_ = sums_base_;
  if (pushed_) return;                        // over no time to speak of
  const bool carried = cut_ && t > reached_;  // beyond there is no dense output
  const double to = carried ? reached_ : t;
  double from = integrator_->t_old();
  const bool smooth =
      std::none_of(switch_times_.begin(), switch_times_.end(), [&](double kink) { return kink > from && kink < to; });
  if (const Part& part = carried ? reached_part_ : part_; smooth && part.end == to) {
    add_part_sums(part);
  } else {
    for (const double kink : switch_times_)
      if (kink > from && kink < to) {
        add_sums(from, kink, nullptr);
        from = kink;
      }
    add_sums(from, to, carried ? &reached_y_ : &y);
  }
  if (carried) sums_ += carried_sums_;
}

/// A step that a switch ends lies before it, whatever round-off says of its last node: there a force may jump.
void CompliantScheme::add_part_sums(const Part& part) {
  const double from = integrator_->t_old(), h = part.end - from;
  if (cut_ && dynamics_.contacts().can_keep_pieces()) dynamics_.contacts().keep_pieces(step_pieces_);
  for (std::size_t i = 0; i < part.nodes.size(); ++i) {
    const double at = stretch_.inside(from + radau5::kNodes[i] * h);
    if (!dynamics_.place(at, part.nodes[i])) continue;
    take_slip(part.rates[i]);
    dynamics_.sum_rates(at, rates_);
    sums_ += h * radau5::kWeights[i] * rates_;
  }
  dynamics_.contacts().let_go();
}

/// Slip of the placed state from the rates of an implicit step: that of the state is its trial force over C.
void CompliantScheme::take_slip(const Vector& rates) {
  CompliantContacts& contacts = dynamics_.contacts();
  contacts.take_slip(rates.segment(system_.info().nq() + system_.info().nv(), contacts.tangents()));
}

/// Over a part of the step; `last`: the state at its end, where that is known better than from the dense output.
void CompliantScheme::add_sums(double from, double to, const Vector* last) {
  for (std::size_t i = 0; i < radau5::kNodes.size(); ++i) {
    const double at = radau5::kNodes[i] == 1 ? to : from + radau5::kNodes[i] * (to - from);
    if (last && at == to) {
      y1_ = *last;
    } else {
      integrator_->interpolate(at, y1_);
    }
    if (!dynamics_.place(stretch_.inside(at), y1_)) continue;
    integrator_->interpolate_rate(at, k1_);
    take_slip(k1_);
    dynamics_.sum_rates(stretch_.inside(at), rates_);
    sums_ += (to - from) * radau5::kWeights[i] * rates_;
  }
}

void CompliantScheme::sample(double t, StepRecord& record) {
  state_at(t, sample_y_);
  integrate_sums(t, sample_y_);
  take_state(t, sample_y_, record);
}

/// State, energies and sums of y into the record.
void CompliantScheme::take_state(double t, const Vector& y, StepRecord& record) {
  State& s = record.state;
  dynamics_.place(stretch_.inside(t), y);
  s.t = recorded_ = t;
  s.q = dynamics_.q();
  s.v = dynamics_.v();
  if (dynamics_.constraints() > 0) {  // between the ends of steps, and just over a switch, y is there to the tolerance
    static_cast<void>(project_position(system_, stretch_.inside(t), s.q, constraints_));
    static_cast<void>(project_velocity(system_, stretch_.inside(t), s.q, s.v, constraints_));
  }
  s.z = y.segment(system_.info().nq() + system_.info().nv(), dynamics_.contacts().tangents());
  const auto gained = [&](Index first, Index count) {
    return sums_.segment(first, count) - sums_reached_.segment(first, count);
  };
  record.reaction_impulse += gained(dynamics_.component_sums(), dynamics_.components());
  if (const Index smooth = dynamics_.smooth_components(); smooth > 0)
    record.smooth_impulse.head(smooth) += gained(dynamics_.smooth_sums(), smooth);
  if (dynamics_.constraints() > 0)
    record.constraint_impulse += gained(dynamics_.constraint_sums(), dynamics_.constraints());
  record.law_work = sums_.tail(record.law_work.size());
  sums_reached_ = sums_;
  EnergyLedger& e = record.energy;
  e.work_in = sums_[0];
  e.damper_loss = sums_[1] + dropped_energy_;
  e.friction_loss = sums_[2];
  const CompliantContacts::Residuals laws = dynamics_.contacts().residuals();
  raise(record.membership, laws.membership);
  raise(record.inclusion, laws.inclusion);
  e.kinetic = system_.inertia().kinetic_energy(s.q, s.v);
  e.potential = system_.forces().potential_energy(s.q) + dynamics_.contacts().energy();
  dynamics_.contacts().point_forces(record.point_forces);
  if (unknowns_ == 0 || tape_) return;
  if (moves_breakpoints()) {
    at_fixed_time_ = y;
    put_columns_at_fixed_time(t, at_fixed_time_);
  }
  take_sensitivity(moves_breakpoints() ? at_fixed_time_ : y, record);
}

/// ∫dλ of every unknown up to where the step begins.
void CompliantScheme::keep_column_sums() {
  if (unknowns_ == 0 || tape_ || dynamics_.sums_size() == 0 || sample_y_.size() != dynamics_.size()) return;
  const Index components = dynamics_.column_size() - dynamics_.motion_size();
  column_reached_.resize(components * unknowns_);
  at_fixed_time_ = sample_y_;
  put_columns_at_fixed_time(step_start_, at_fixed_time_);
  for (Index k = 0; k < unknowns_; ++k)
    column_reached_.segment(k * components, components) =
        at_fixed_time_.segment(dynamics_.column_at(k) + dynamics_.motion_size(), components);
}

StepOutcome CompliantScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  audit_.step = {};
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.constraint_impulse}) x->setZero();
  const double t_start = step_start_ = record.state.t;
  keep_column_sums();
  StepOutcome outcome;
  if (options_.fixed_step()) outcome = fixed_step(t_end, record);
  while (record.state.t < t_end && outcome.status == Status::success) {
    if (!in_step_) outcome = advance(record);
    if (outcome.status != Status::success) break;
    const double t = std::min(t_end, step_end_);
    sample(t, record);
    if (t == step_end_) {
      in_step_ = false;
      restart_ = restart_ || cut_ || (stiff_ && !switch_times_.empty()) || stretch_.ends_at(t);
    }
  }
  record.duration = record.state.t - t_start;
  if (dynamics_.constraints() > 0) constraint_audit_.add(record.state, record.duration);
  const long seen = counters().evaluations + fixed_evaluations_;
  switches_.evaluations += seen - std::exchange(evaluations_seen_, seen);
  return outcome;
}

}  // namespace stickslip
