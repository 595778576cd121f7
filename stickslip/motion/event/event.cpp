// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/event.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/event/event_tangent.hpp"
#include "stickslip/motion/event/taylor_flow.hpp"
#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {
constexpr double kFirstSegment = 1e-3;  // of the run: what the first segment is taken to last before it is known
constexpr double kOfTolerance = 1e-3;   // what counts as nothing beside the error of a step
}  // namespace

EventScheme::EventScheme(const System& system, const EventOptions& options, double tolerance, TimeSpan span,
                         std::vector<double> breakpoints, StopRequest stop, const Variations* variations)
    : system_(system),
      options_(options),
      dynamics_(system),
      breakpoints_(breakpoints_with_start(system, std::move(breakpoints), span)),
      stop_(stop),
      span_(span),
      last_length_(kFirstSegment * span.length()) {
  std::string reason;
  bool exact = TaylorFlow::takes(system, reason);
  for (Index j = 0; variations && j < variations->size(); ++j)
    for (const ParameterVariation::Neighbour& beside : variations->neighbours(j))
      exact = exact && TaylorFlow::takes(*beside.parts.system, reason);
  if (options.flow == FlowKind::exact && !exact)
    throw InputError(fmt::format("run.event.flow = \"exact\" does not apply: {}; use \"automatic\"", reason));
  stepper_options_.integrator = options.integrator;
  stepper_options_.relative_tolerance = tolerance;
  stepper_options_.stop = stop;
  stepper_options_.absolute_tolerance =
      options.absolute_tolerance > 0 ? options.absolute_tolerance : kOfTolerance * tolerance;
  if (exact && options.flow != FlowKind::integrator) {
    exact_ = std::make_unique<TaylorFlow>(dynamics_, breakpoints_, span);
    flow_ = exact_.get();
  } else {
    choose_flow();
    snap_ = kOfTolerance * tolerance;
  }
  if (variations && dynamics_.spring_components() > 0)
    throw InputError(
        "derivatives of the motion are not carried through friction with a spring in series; leave out "
        "run.sensitivities");
  if (variations) tangent_ = std::make_unique<EventTangent>(system, *variations, breakpoints_, span, exact_ != nullptr);
  variations_ = variations;
  circulatory_ = system.linear() && system.linear()->K.asymmetry() > 0;
  closed_form_ = exact && system.laws().contacts().empty() && system.laws().constraints().empty() && !circulatory_ &&
                 !system.forces().applied_depends_on_time() && system.linear()->B.is_zero() &&
                 !dynamics_.friction().has_viscous() && !dynamics_.friction().surface_moves();
  decision_options_.stop = stop;
  const std::size_t laws = dynamics_.laws().size();
  at_rest_.assign(laws, 0);
  told_.assign(laws, 0);
  impact_.assign(laws, 0);
  roles_.assign(laws, LawRole::stuck);
  starts_.assign(laws, {});
  impact_impulse_.assign(laws, 0);
  largest_force_.assign(laws, 0);
  for (Vector* x : {&u_, &w_}) x->setZero(dynamics_.components());
  for (Vector* x : {&f_, &Kq_, &Kv_}) x->setZero(system.info().nv());
  path_.setZero(system.info().nq());
  if (closed_form_) system.forces().applied(0, f_, f_, dynamics_.workspace(), f_);
}

EventScheme::~EventScheme() = default;

void EventScheme::place(double t, const State& s) {
  dynamics_.set_deformation(s.z);
  dynamics_.place(t, s.q, s.v);
}

double EventScheme::gap_size(std::size_t law, const Vector& q) {
  const Index i = dynamics_.laws()[law].first;
  const auto row = dynamics_.Wt().row(i);
  constexpr double kRoundOff = 1e-5;  // 1e-10 of this is round-off of what an acceleration moves in the run
  const double fall =
      std::abs(dynamics_.u()[i]) + row.cwiseAbs().dot(dynamics_.free_acceleration().cwiseAbs()) * span_.length();
  return row.cwiseAbs().dot(dynamics_.reach()(q)) + kRoundOff * fall * span_.length();
}

bool EventScheme::touches(std::size_t law, const Vector& q) {
  return dynamics_.gap(law) <= kTouching * gap_size(law, q);
}

/// A series needs reactions that are linear in the forces; the smallest of many within their sets are not.
void EventScheme::choose_flow() {
  if (exact_ && !dynamics_.choice_moves()) {
    flow_ = exact_.get();
    return;
  }
  use_stepper();
}

void EventScheme::use_stepper() {
  if (!stepper_) stepper_ = std::make_unique<OdeFlow>(dynamics_, stepper_options_, breakpoints_, span_);
  flow_ = stepper_.get();
}

/// Modes from the state alone; a law at rest is decided afterwards.
void EventScheme::classify(State& state, double t) {
  place(t, state);
  const std::vector<Mode> given = state.modes;
  state.modes.assign(dynamics_.laws().size(), Mode::open);
  for (std::size_t k = 0; k < state.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    auto rests = [&](Index i) { return std::abs(dynamics_.u()[i]) <= velocity_round_off(i, state); };
    roles_[k] = LawRole::stuck;
    at_rest_[k] = 0;
    if (law.contact) {
      const double gap = dynamics_.gap(k);
      if (gap < -kEventStartPenetration * gap_size(k, state.q))
        throw InputError(fmt::format(
            "contact '{}' penetrates by {:.3g} m at the start; move the start position until its gap is >= 0",
            law.contact->name, -gap));
      if (!touches(k, state.q) || (dynamics_.u()[law.first] > 0 && !rests(law.first))) continue;
      if (!rests(law.first)) impact_[k] = 1;
    }
    set_mode_by_velocity(k, 0, state);
    // A run that goes on from a slip that has just stopped.
    if (law.holds(state.modes[k]) && given.size() == state.modes.size() && given[k] != Mode::stick)
      roles_[k] = LawRole::stopped;
  }
}

void EventScheme::start(StepRecord& record) {
  State& s = record.state;
  const Index m = dynamics_.components();
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse}) *x = Vector::Zero(m);
  record.constraint_impulse = Vector::Zero(static_cast<Index>(system_.laws().constraints().size()));
  record.law_work = Vector::Zero(static_cast<Index>(dynamics_.laws().size()));
  record.events.reserve(64 + 4 * dynamics_.laws().size());
  system_.kinematics().normalize(s.q);
  if (!system_.laws().constraints().empty()) {
    const ConsistentStart consistent = make_consistent(system_, s.t, s.q, s.v, {.span = span_.length()});
    s.q = consistent.q;
    s.v = consistent.v;
  }
  if (s.z.size() != dynamics_.spring_components()) s.z.setZero(dynamics_.spring_components());
  dynamics_.set_deformation(s.z);
  classify(s, just_after(s.t));
  settle_springs(s);
  record.energy = {};
  energies(record);
  record.energy.initial = record.energy.kinetic + record.energy.potential;
  if (!system_.laws().contacts().empty() &&
      std::none_of(impact_.begin(), impact_.end(), [](char c) { return c != 0; })) {
    project(s.modes, s, s.t);  // out of a small penetration at the start
    energies(record);
    record.energy.correction = record.energy.kinetic + record.energy.potential - record.energy.initial;
  }
  if (std::none_of(impact_.begin(), impact_.end(), [](char c) { return c != 0; })) {
    const StepOutcome outcome = decide(s);
    pending_ = outcome.status != Status::success;  // said again, and then heard, by the first step
  }
  if (tangent_) start_tangent(record);
}

/// How far a segment may reach: to the next jump of a force, or to the end.
double EventScheme::limit_after(double t) const {
  const auto next = std::upper_bound(breakpoints_.begin(), breakpoints_.end(), t + kSameInstant * time_size(t));
  constexpr double kBeyond = 1e-9;  // of time_size(): a run asked to go on at its end has a little time left
  const double end = std::max(span_.end, t + kBeyond * time_size(t));
  return next == breakpoints_.end() ? end : std::min(*next, end);
}

StepOutcome EventScheme::step(double t_end, StepRecord& record) {
  clear_step(record);
  stick_audit_.step = {};
  contact_audit_.step = {};
  choice_audit_.step = 0;
  record.jumped = false;
  for (Vector* x : {&record.reaction_impulse, &record.smooth_impulse, &record.jump_impulse, &record.constraint_impulse})
    x->setZero();
  State& s = record.state;
  const double t_start = s.t;
  if (tangent_ && !std::exchange(tangent_loaded_, true)) tangent_->load(s, record.sensitivity);
  StepOutcome outcome;
  while (outcome.status == Status::success) {
    if (raised(stop_)) {
      outcome.status = Status::interrupted;
      break;
    }
    if (!in_segment_) {
      if (tangent_ && pending_ && !tangent_->left()) leave_start(s);
      outcome = pending_ ? pass_instant(record) : begin_segment(s);
      if (outcome.status != Status::success) break;
    }
    const double t_next = std::min(t_end, segment_end_);
    if (tangent_)
      tangent_->carry(*flow_, flow_ == exact_.get() ? exact_.get() : nullptr, dynamics_, s, t_next, smooth_window());
    flow_->sample(t_next, sample_);
    accumulate(s.t, t_next, record);
    s.t = t_next;
    s.q = sample_.q;
    s.v = sample_.v;
    s.z = sample_.d;
    dynamics_.set_deformation(s.z);
    const bool jump = t_next == segment_end_ && look_for_jumps(s);
    if (breakpoint_at(s.t)) flow_->sample(t_next, sample_);  // the dynamics stay on the side of the segment
    const double side = jump ? just_before(s.t) : s.t;
    // Between the steps of an integrator the dense output drifts a little more than the steps do.
    if (t_next < segment_end_ && !dynamics_.constant_geometry()) project(s.modes, s, s.t);
    audit(record, t_next - t_start, side);
    if (t_next == segment_end_) {
      in_segment_ = false;
      last_length_ = segment_end_ - flow_->t0();
      if (!triggers_.empty()) {
        continued_ = false;
        if (tangent_) leave_segment(s);
        outcome = read_triggers(s);
        if (outcome.status == Status::success) outcome = pass_instant(record);
        break;
      }
      continued_ = true;
      if (!jump || flow_ != exact_.get()) project(s.modes, s, side);  // a belt that speeds up is faster at the jump
      if (tangent_ && !dynamics_.constant_geometry()) tangent_->project(dynamics_, s, side);
      if (std::binary_search(breakpoints_.begin(), breakpoints_.end(), s.t)) {
        continued_ = false;
        pending_ = true;
        if (tangent_) leave_segment(s);
        for (std::size_t k = 0; k < roles_.size(); ++k) {
          roles_[k] = LawRole::stuck;
          told_[k] = 0;
          at_rest_[k] = dynamics_.laws()[k].rests(s.modes[k]);
        }
      }
    }
    if (s.t >= t_end) break;
  }
  // What is handed out is audited: the state after projection and impacts, not the flow on its way there.
  record.duration = s.t - t_start;
  if (tangent_) tangent_->store(s, record.sensitivity);
  if (!system_.laws().constraints().empty()) audit_constraints(record);
  energies(record);
  // What the forces would do within a segment if no law held them: the work of a body at rest is small against that.
  const double free_time = std::min(record.duration, last_length_);
  record.energy_terms =
      0.5 * free_time * free_time * dynamics_.force().cwiseAbs().dot(dynamics_.free_acceleration().cwiseAbs());
  return outcome;
}

/// At a jump of a row or rate the state handed out belongs to one side of it.
void EventScheme::audit_constraints(const StepRecord& record) {
  const State& s = record.state;
  constraint_audit_.add(s, record.duration, (pending_ ? just_before(s.t) : just_after(s.t)) - s.t);
}

/// Back onto the rows that hold in these modes. The energy of that is an error like any other of the integration: it
/// stays in what the audit cannot explain. Beside a jump velocities are those of its side t; positions are those of the
/// instant itself, unless they are what jumps.
void EventScheme::project(const std::vector<Mode>& modes, State& s, double t) {
  place(t, s);
  const bool position_jumps = jumping_constraint_ >= 0 ||
                              std::any_of(jumps_.begin(), jumps_.end(), [](Jump jump) { return jump > Jump::surface; });
  dynamics_.project(modes, position_jumps ? t : s.t, s.q, s.v);
}

/// A law that has just come to zero velocity is not held yet: where a mechanism passes a dead point, or friction lets
/// the law reverse, it goes on with the velocity it has.
const std::vector<Mode>& EventScheme::modes_held_before(const State& s) {
  held_ = s.modes;
  for (std::size_t k = 0; k < held_.size(); ++k)
    if (roles_[k] == LawRole::stopped && dynamics_.laws()[k].holds(held_[k]) && dynamics_.laws()[k].tangents == 1)
      held_[k] = Mode::slip;
  return held_;
}

void EventScheme::energies(StepRecord& record) {
  record.energy.kinetic = system_.inertia().kinetic_energy(record.state.q, record.state.v);
  record.energy.potential = system_.forces().potential_energy(record.state.q) + dynamics_.spring_energy(record.state.z);
}

}  // namespace stickslip
