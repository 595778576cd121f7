// SPDX-License-Identifier: Apache-2.0
// What happens at one instant: what triggered it, the decision of all modes, the segment that follows. Impacts and ties
// have files of their own.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/motion/event/event.hpp"
#include "stickslip/motion/event/event_tangent.hpp"

namespace stickslip {

namespace {

bool slips(Mode mode) { return mode == Mode::slip || mode == Mode::slip_plus || mode == Mode::slip_minus; }

constexpr long kMostAtOneInstant = 200;

}  // namespace

/// An event that falls together with a jump of a force, as far as the integration can tell, happens at the jump.
void EventScheme::snap_to_breakpoint(State& s) const {
  const double near = snap_ * time_size(s.t);
  const auto at = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), s.t);
  if (at == breakpoints_.end() || *at > s.t + near) return;
  const Vector way = (*at - s.t) * s.v;
  system_.kinematics().displace(way, s.q);
  s.t = *at;
}

double EventScheme::velocity_round_off(Index i, const State& s) {
  constexpr double kRoundOff = 1e-13;
  return kRoundOff * (dynamics_.terms(i, s.v) + std::abs(dynamics_.w()[i])) +
         2 * std::abs(dynamics_.bias()[i] * (dynamics_.t() - s.t));
}

double EventScheme::shortest_flight(double t) const {
  constexpr double kShortest = 1e-12;
  return kShortest * span_.size(t);
}

/// Mode and rest of a law that is not open, from the placed velocities; those up to `tiny` or to round-off are zero.
void EventScheme::set_mode_by_velocity(std::size_t k, double tiny, State& s) {
  const ModeDynamics::Law& law = dynamics_.laws()[k];
  double speed = 0, size = 0;
  for (int c = 0; c < law.tangents; ++c) {
    const Index i = law.tangent() + c;
    speed = std::hypot(speed, dynamics_.u()[i]);
    size = std::max(size, velocity_round_off(i, s));
  }
  const bool frictionless = dynamics_.limit(k) == 0 && dynamics_.static_limit(k) == 0;
  const bool rests = speed <= std::max(tiny, size);
  at_rest_[k] = 0;
  if (dynamics_.idle(k)) {
    s.modes[k] = Mode::slip;
  } else if (law.springs()) {
    s.modes[k] = Mode::stick;  // settle_springs() knows those that slip
  } else if (law.contact && (law.tangents == 0 || frictionless)) {
    s.modes[k] = Mode::closed;
    at_rest_[k] = 1;
  } else if (rests) {
    s.modes[k] = Mode::stick;
    at_rest_[k] = 1;
  } else {
    s.modes[k] = law.tangents == 2 ? Mode::slip : mode_of(dynamics_.u()[law.tangent()]);
  }
}

StepOutcome EventScheme::read_triggers(State& s) {
  snap_to_breakpoint(s);
  place(s.t, s);
  for (std::size_t k = 0; k < roles_.size(); ++k) {
    roles_[k] = LawRole::stuck;
    impact_[k] = 0;
    at_rest_[k] = dynamics_.laws()[k].rests(s.modes[k]);
    told_[k] = 0;
  }
  before_ = s.modes;
  for (const Monitor& monitor : triggers_) {
    const auto k = static_cast<std::size_t>(monitor.law);
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    switch (monitor.trigger) {
      case Trigger::stop:
        s.modes[k] = Mode::stick;
        at_rest_[k] = law.holds(Mode::stick);
        told_[k] = 1;
        if (at_rest_[k]) roles_[k] = LawRole::stopped;
        break;
      case Trigger::release:
        if (law.springs()) {
          // Where the spring is longest just there, round-off alone has brought it to the limit: it goes back.
          const Mode slip = law.size == 2 ? Mode::slip : monitor.sign > 0 ? Mode::slip_minus : Mode::slip_plus;
          if (dynamics_.slider_speed(k, slip) > 0) s.modes[k] = slip;
          told_[k] = 1;
          break;
        }
        [[fallthrough]];
      case Trigger::lift:
        roles_[k] = LawRole::released;
        break;
      case Trigger::touch:
        impact_[k] = 1;
        roles_[k] = LawRole::stopped;
        set_mode_by_velocity(k, 0, s);
        break;
      case Trigger::singular:
        if (!law.contact)
          return {Status::no_solution,
                  fmt::format("friction '{}' slips at t = {:.9g} into a configuration where its own force raises the "
                              "reactions in its limit as fast as the limit itself: the limit grows without bound and "
                              "no motion goes on from here (as in Painlevé's paradox). Use a smaller coefficient in "
                              "friction.{}.limit",
                              dynamics_.name(k), s.t, dynamics_.name(k))};
        return {Status::no_solution,
                fmt::format("contact '{}' slides at t = {:.9g} into a configuration where its friction (mu = {:.6g}) "
                            "pushes it into the surface faster than the normal reaction can push it out (Painlevé's "
                            "paradox): the accelerations grow without bound and no motion with rigid contact goes on "
                            "from here. Use scheme = \"moreau\", which passes by an impact without collision, or a "
                            "smaller mu",
                            law.contact->name, s.t, dynamics_.limit(k))};
    }
  }
  stop_together(s);
  pending_ = true;
  return {};
}

/// The decision, from velocities with which everything holds that was held before; then those of the laws that stick.
StepOutcome EventScheme::settle(State& s, double t) {
  project(modes_held_before(s), s, t);
  settle_springs(s);
  const StepOutcome outcome = decide(s);
  if (outcome.status != Status::success || held_ == s.modes) return outcome;
  project(s.modes, s, t);
  place(just_after(s.t), s);
  dynamics_.solve(s.modes);
  return {};
}

/// A blow or a jump of a force or limit may turn a slider round, or leave its spring too long.
void EventScheme::settle_springs(State& s) {
  if (dynamics_.spring_components() == 0) return;
  place(just_after(s.t), s);
  dynamics_.settle_springs(told_, s.modes);
  s.z = dynamics_.deformation();
}

StepOutcome EventScheme::pass_instant(StepRecord& record) {
  State& s = record.state;
  if (before_.size() != s.modes.size()) before_ = s.modes;
  if (s.t > last_event_time_ + 0.1 * shortest_flight(s.t)) at_this_instant_ = 0;
  last_event_time_ = s.t;
  if (++at_this_instant_ > kMostAtOneInstant)
    return {Status::not_converged,
            fmt::format("more than {} events at t = {:.12g}: the modes of the laws do not settle; {}",
                        kMostAtOneInstant, s.t,
                        system_.laws().constraints().empty()
                            ? "use scheme = \"moreau\", which needs no modes"
                            : "another run.tolerance (a hundredth of it, say) resolves which law gives way first")};
  if (++events_ > options_.max_events)
    return {Status::not_converged,
            fmt::format("more than run.event.max_events = {} events up to t = {:.9g}; impacts that accumulate more "
                        "slowly than run.event.accumulation_time = {:.3g} s, or chatter, cause this: raise either, or "
                        "use scheme = \"moreau\"",
                        options_.max_events, s.t, accumulation_time())};
  const std::vector<Mode> before = before_;
  std::fill(impact_impulse_.begin(), impact_impulse_.end(), 0.0);
  const bool jump = look_for_jumps(s);
  StepOutcome outcome;
  if (jump) outcome = cross_jumps(record);
  if (outcome.status != Status::success) return outcome;
  const bool impact = std::any_of(impact_.begin(), impact_.end(), [](char c) { return c != 0; });
  if (impact) outcome = take_impacts(record, jump);
  if (outcome.status != Status::success) return outcome;
  outcome = settle(s, jump ? just_after(s.t) : s.t);
  if (outcome.status != Status::success) return outcome;
  if (impact) outcome = close_accumulating(record);
  if (outcome.status == Status::success) outcome = begin_segment(s);
  // The instant is over even where a stop request ended what follows it.
  if (outcome.status != Status::success && outcome.status != Status::interrupted) return outcome;
  record.problems += 1;
  if (tangent_) {
    if (!impact) touching_.clear();
    place(just_after(s.t), s);
    tangent_->arrive(dynamics_, s, just_after(s.t), touching_);
  }
  note_changes(before, record);
  pending_ = false;
  before_.clear();
  return outcome;
}

/// The segment after an instant shows all derivatives of the laws that were tied: one that falls at once was given the
/// wrong one of its two modes.
StepOutcome EventScheme::begin_segment(State& s) {
  const std::size_t most = 4 * ties_.size() + 1;
  for (std::size_t turn = 0;; ++turn) {
    choose_flow();
    dynamics_.set_deformation(s.z);
    StepOutcome outcome = flow_->begin(s.t, s.q, s.v, s.modes, starts_, limit_after(s.t), continued_);
    // A force such as sqrt(t) has no series where it begins, but a motion.
    if (outcome.status == Status::not_finite && flow_ == exact_.get()) {
      use_stepper();
      dynamics_.set_deformation(s.z);
      outcome = flow_->begin(s.t, s.q, s.v, s.modes, starts_, limit_after(s.t), continued_);
    }
    if (outcome.status != Status::success) return outcome;
    if (flow_->triggers().empty() || flow_->t1() > s.t || turn == most) break;
    const int law = flow_->triggers().front().law;
    const auto tie =
        std::find_if(ties_.begin(), ties_.end(), [&](const Tie& t) { return t.law == law || t.other == law; });
    if (tie == ties_.end()) break;
    turn_tie(*tie, !tie->gives, s);
    place(just_after(s.t), s);
    dynamics_.solve(s.modes);
  }
  starts_.assign(starts_.size(), {});
  ties_.clear();
  if (tangent_) tangent_->begin_segment();
  in_segment_ = true;
  segment_end_ = flow_->t1();
  triggers_ = flow_->triggers();
  // A rest no longer than the round-off of the clock would pass for the jump at its end.
  if (const auto jump = breakpoint_at(segment_end_); triggers_.empty() && jump && *jump > segment_end_ && *jump > s.t)
    segment_end_ = *jump;
  redundant_ = dynamics_.redundant();
  if (redundant_) cut_where_no_choice_holds(s);
  if (raised(stop_)) {
    in_segment_ = false;
    return {Status::interrupted, ""};
  }
  return {};
}

StepOutcome EventScheme::no_mode(const State& s, const Decision& decision) const {
  std::string sliding;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (law.contact && slips(s.modes[k]) && dynamics_.limit(k) > 0)
      sliding +=
          fmt::format("{}'{}' (mu = {:.6g})", sliding.empty() ? "" : ", ", law.contact->name, dynamics_.limit(k));
  }
  if (decision.status == Status::no_solution && sliding.empty())
    for (const std::size_t k : dynamics_.following().laws())
      if (slips(s.modes[k]))
        return {Status::no_solution,
                fmt::format("at t = {:.9g} no acceleration satisfies the law of friction '{}' while it slips: whatever "
                            "its limit is, the reactions of that force make it larger (as in Painlevé's paradox). Use "
                            "a smaller coefficient in friction.{}.limit",
                            s.t, dynamics_.name(k), dynamics_.name(k))};
  if (decision.status == Status::no_solution && !sliding.empty())
    return {Status::no_solution,
            fmt::format("at t = {:.9g} no acceleration satisfies the contact law while {} slides: friction pushes the "
                        "contact into the surface faster than any normal reaction can push it out (Painlevé's "
                        "paradox). Use scheme = \"moreau\", which passes by an impact without collision, or a smaller "
                        "mu",
                        s.t, sliding)};
  return {decision.status,
          fmt::format("at t = {:.9g} the modes of the laws cannot be decided: {}", s.t, decision.message)};
}

/// While a contact slides, several accelerations at the same state are Painlevé's second paradox: no policy of ours
/// could choose between them. (Static above dynamic friction, by contrast, has one.)
StepOutcome EventScheme::several_modes(const State& s, const Decision& decision) const {
  std::string names;
  for (std::size_t k = 0; k < sliding_.size(); ++k) {
    if (!sliding_[k] || !dynamics_.laws()[k].contact || !(dynamics_.limit(k) > 0)) continue;
    const Index i = dynamics_.laws()[k].first;
    double d[2], own = dynamics_.D()(i, i);
    dynamics_.slip_direction(k, s.modes[k], d);
    for (int c = 0; c < dynamics_.laws()[k].tangents; ++c)
      own -= dynamics_.limit(k) * d[c] * dynamics_.D()(i, dynamics_.laws()[k].tangent() + c);
    if (own <= 0)
      names += fmt::format("{}'{}' (mu = {:.6g})", names.empty() ? "" : ", ", dynamics_.name(k), dynamics_.limit(k));
  }
  if (names.empty()) return {};
  return {Status::refused,
          fmt::format("at t = {:.9g} {} accelerations satisfy the contact law while {} slides: it may lift off or be "
                      "pressed on by its own friction (Painlevé's paradox), and rigid contact cannot tell which. Use "
                      "scheme = \"moreau\", or a smaller mu",
                      s.t, decision.admissible == 2 ? std::string("two") : std::to_string(decision.admissible), names)};
}

StepOutcome EventScheme::several_limits(const State& s, std::size_t law) const {
  return {Status::refused,
          fmt::format("at t = {:.9g} several accelerations satisfy the law of friction '{}' while it slips: its limit "
                      "follows reactions that its own force reverses, and both signs of them hold (as in Painlevé's "
                      "paradox); rigid bodies cannot tell which. Use a smaller coefficient in friction.{}.limit",
                      s.t, dynamics_.name(law), dynamics_.name(law))};
}

/// The gap of an open contact is 0 where its segment begins: it was closed or struck at this instant, or lies on the
/// surface to round-off. (Another one may be nearer than `touches` asks for and still be on its way.)
bool EventScheme::starts_from_surface(std::size_t k, const State& s) {
  constexpr double kRoundOff = 64 * std::numeric_limits<double>::epsilon();
  const double gap = dynamics_.gap(k);
  const bool was_here = impact_[k] || (before_.size() == s.modes.size() && before_[k] != Mode::open);
  if (was_here) return touches(k, s.q);
  return gap <= kRoundOff * dynamics_.Wt().row(dynamics_.laws()[k].first).cwiseAbs().dot(dynamics_.reach()(s.q));
}

/// Problem (V) at the placed state; new modes, directions of slip, and what vanishes at the start of the next segment.
StepOutcome EventScheme::decide(State& s) {
  place(just_after(s.t), s);
  dynamics_.decision_problem(s.modes, at_rest_, roles_, problem_, chosen_, sliding_);
  starts_.assign(starts_.size(), {});
  ties_.clear();
  for (std::size_t k = 0; k < s.modes.size(); ++k)
    if (told_[k] && dynamics_.laws()[k].springs()) starts_[k].border = s.modes[k] == Mode::stick ? 2 : 0;
  for (std::size_t k = 0; k < s.modes.size(); ++k)
    if (dynamics_.laws()[k].contact && s.modes[k] == Mode::open && starts_from_surface(k, s)) starts_[k].gap = 1;
  for (std::size_t k = 0; k < s.modes.size(); ++k) dynamics_.set_unloaded(k, false);
  if (!chosen_.empty()) {
    const Decision decision = decide_modes(problem_, decision_options_);
    if (decision.status != Status::success) return no_mode(s, decision);
    choice_audit_.step = std::max(choice_audit_.step, decision.admissible);
    if (decision.several >= 0) return several_limits(s, static_cast<std::size_t>(chosen_[decision.several]));
    for (std::size_t j = 0; j < chosen_.size(); ++j)
      if (problem_.laws[j].follows >= 0)
        dynamics_.set_limits(static_cast<std::size_t>(chosen_[j]), decision.limit[j], decision.static_limit[j]);
    if (decision.admissible > 1 && std::any_of(sliding_.begin(), sliding_.end(), [](char c) { return c != 0; })) {
      const StepOutcome outcome = several_modes(s, decision);
      if (outcome.status != Status::success) return outcome;
    }
    Index first = 0;
    for (std::size_t j = 0; j < chosen_.size(); first += problem_.laws[j].set.size, ++j) {
      const auto k = static_cast<std::size_t>(chosen_[j]);
      const ModeDynamics::Law& law = dynamics_.laws()[k];
      const Mode mode = decision.modes[j];
      const char tied = decision.tied[j] ? decision.tied[j] : tie_of_released(k, decision, j, first);
      // What has just reached the border of its set gives way from there: with u' = 0 but for round-off, which may as
      // well have decided it.
      starts_[k].tied = roles_[k] == LawRole::released;
      starts_[k].rises = true;  // of what gives way, until a tie says otherwise
      if (!decision.unloaded.empty()) dynamics_.set_unloaded(k, decision.unloaded[j] != 0);
      if (sliding_[k]) {
        if (mode == Mode::open) {
          s.modes[k] = Mode::open;
          starts_[k].gap = 2;
        } else if (roles_[k] == LawRole::released || tied) {
          ties_.push_back({chosen_[j], s.modes[k], Mode::open, tied_to_lift});
        }
        continue;
      }
      s.modes[k] = mode;
      if (mode == Mode::open) starts_[k].gap = 2;
      if (mode == Mode::slip_plus || mode == Mode::slip_minus) starts_[k].u = 1;
      if (mode == Mode::slip && law.tangents == 2) {
        const Index t = first + (law.contact ? 1 : 0);
        const double a1 = decision.acceleration[t], a2 = decision.acceleration[t + 1], a = std::hypot(a1, a2);
        if (a > 0) {
          dynamics_.set_direction(k, a1 / a, a2 / a);
          dynamics_.set_heading(k, ModeDynamics::Heading::acceleration);
        }
      }
      if (!tied) continue;
      starts_[k].border = 1;
      const Index t = first + (law.contact ? 1 : 0);
      Mode give = Mode::open;
      if (tied == tied_to_slip && mode == Mode::stick) {
        give = law.tangents == 2 ? Mode::slip : decision.r[t] > 0 ? Mode::slip_minus : Mode::slip_plus;
        const double r = law.tangents == 2 ? std::hypot(decision.r[t], decision.r[t + 1]) : 0.0;
        if (r > 0) dynamics_.set_direction(k, -decision.r[t] / r, -decision.r[t + 1] / r);
      }
      ties_.push_back({chosen_[j], mode, give, tied});
    }
  }
  for (Tie& tie : ties_)
    if (tie.kind == tied_to_lift) {
      tie.other = dynamics_.other_side(static_cast<std::size_t>(tie.law), s.modes);
      if (tie.other >= 0) tie.give = tie.rest;
    }
  // Directions of what breaks away have the digits of the decision until u' says them to its own.
  const bool solved = dynamics_.solve(s.modes);
  for (const int k : chosen_) dynamics_.set_heading(static_cast<std::size_t>(k), ModeDynamics::Heading::velocity);
  if (!solved) return {Status::not_finite, fmt::format("reactions are not finite at t = {:.9g}", s.t)};
  if (!ties_.empty()) settle_ties(s);
  return {};
}

/// A law that was found on the border of its set is there, whatever round-off leaves of forces that vanish together:
/// its slack is small beside the forces it has carried. And so is one that was found there again within the same
/// instant: the last bits of t lie further apart than its load takes to reach the border.
char EventScheme::tie_of_released(std::size_t k, const Decision& decision, std::size_t j, Index first) const {
  constexpr double kNear = 1e-9;
  const ModeDynamics::Law& law = dynamics_.laws()[k];
  const double tiny = kNear * largest_force_[k];
  if (roles_[k] != LawRole::released || sliding_[k]) return not_tied;
  const bool again = at_this_instant_ > 1;
  const Mode mode = decision.modes[j];
  if (mode != Mode::open && law.contact && (decision.r[first] <= tiny || (again && mode == Mode::closed)))
    return tied_to_lift;
  if (mode != Mode::stick || dynamics_.static_limit(k) > dynamics_.limit(k)) return not_tied;
  const Index t = first + (law.contact ? 1 : 0);
  const double size = law.tangents == 2 ? std::hypot(decision.r[t], decision.r[t + 1]) : std::abs(decision.r[t]);
  const double radius = law.contact ? dynamics_.limit(k) * decision.r[first] : dynamics_.limit(k);
  return again || radius - size <= tiny ? tied_to_slip : not_tied;
}

void EventScheme::note_changes(const std::vector<Mode>& before, StepRecord& record) {
  const State& s = record.state;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    if (dynamics_.idle(k)) continue;
    const Mode after = s.modes[k];
    const int id = static_cast<int>(k);
    if (impact_impulse_[k] > 0)
      record.events.push_back({s.t, id, EventKind::impact, before[k], after, impact_impulse_[k]});
    if (const auto kind = event_between(before[k], after))
      record.events.push_back({s.t, id, *kind, before[k], after, 0});
    impact_[k] = 0;
  }
}

}  // namespace stickslip
