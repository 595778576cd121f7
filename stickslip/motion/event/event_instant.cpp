// SPDX-License-Identifier: Apache-2.0
// What happens at one instant: impacts, the decision of all modes, ties.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/event.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

namespace {

bool slips(Mode mode) { return mode == Mode::slip || mode == Mode::slip_plus || mode == Mode::slip_minus; }

/// Laws that came to rest, were released or touched at the end of a segment.
constexpr long kMostAtOneInstant = 200;

}  // namespace

/// An event that falls together with a jump of a force, as far as the integration can tell, happens at the jump.
void EventScheme::snap_to_breakpoint(State& s) const {
  const double near = snap_ * (1 + std::abs(s.t));
  const auto at = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), s.t);
  if (at == breakpoints_.end() || *at > s.t + near) return;
  s.q += (*at - s.t) * s.v;
  s.t = *at;
}

StepOutcome EventScheme::read_triggers(State& s) {
  if (system_.info().nq() == system_.info().nv()) snap_to_breakpoint(s);
  dynamics_.place(s.t, s.q, s.v);
  for (std::size_t k = 0; k < roles_.size(); ++k) {
    roles_[k] = LawRole::stuck;
    impact_[k] = 0;
    at_rest_[k] = s.modes[k] == Mode::stick || s.modes[k] == Mode::closed;
  }
  before_ = s.modes;
  for (const Monitor& monitor : triggers_) {
    const auto k = static_cast<std::size_t>(monitor.law);
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    switch (monitor.trigger) {
      case Trigger::stop:
        s.modes[k] = Mode::stick;
        at_rest_[k] = 1;
        roles_[k] = LawRole::stopped;
        break;
      case Trigger::release:
      case Trigger::lift:
        roles_[k] = LawRole::released;
        break;
      case Trigger::touch: {
        const bool frictionless = law.tangents == 0 || (dynamics_.limit(k) == 0 && dynamics_.static_limit(k) == 0);
        impact_[k] = 1;
        roles_[k] = LawRole::stopped;
        bool still = true;
        for (int c = 0; c < law.tangents; ++c) still &= std::abs(dynamics_.u()[law.tangent() + c]) < 1e-13;
        s.modes[k] = frictionless        ? Mode::closed
                     : still             ? Mode::stick
                     : law.tangents == 2 ? Mode::slip
                                         : mode_of(dynamics_.u()[law.tangent()]);
        at_rest_[k] = frictionless || still;
        break;
      }
      case Trigger::singular:
        return {Status::no_solution,
                fmt::format("contact '{}' slides at t = {:.9g} into a configuration where its friction (mu = {:.6g}) "
                            "pushes it into the surface faster than the normal reaction can push it out (Painlevé's "
                            "paradox): the accelerations grow without bound and no motion with rigid contact goes on "
                            "from here. Use scheme = \"moreau\", which passes by an impact without collision, or a "
                            "smaller mu",
                            law.contact->name, s.t, dynamics_.limit(k))};
    }
  }
  pending_ = true;
  return {};
}

/// Where a force jumps, what happens next is up to the force after the jump.
double EventScheme::just_after(double t) const {
  const double near = 1e-12 * (1 + std::abs(t));
  const auto at = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), t - near);
  return at != breakpoints_.end() && *at <= t + near ? std::max(t, *at) + near : t;
}

StepOutcome EventScheme::pass_instant(StepRecord& record) {
  State& s = record.state;
  if (before_.size() != s.modes.size()) before_ = s.modes;
  if (s.t > last_event_time_ + 1e-13 * (1 + std::abs(s.t))) at_this_instant_ = 0;
  last_event_time_ = s.t;
  if (++at_this_instant_ > kMostAtOneInstant)
    return {Status::not_converged,
            fmt::format("more than {} events at t = {:.12g}: the modes of the laws do not settle; use scheme = "
                        "\"moreau\", which needs no modes",
                        kMostAtOneInstant, s.t)};
  if (++events_ > options_.max_events)
    return {Status::not_converged,
            fmt::format("more than run.event.max_events = {} events up to t = {:.9g}; impacts that accumulate more "
                        "slowly than run.event.accumulation_time = {:.3g} s, or chatter, cause this: raise either, or "
                        "use scheme = \"moreau\"",
                        options_.max_events, s.t, options_.accumulation_time)};
  const std::vector<Mode> before = before_;
  std::fill(impact_impulse_.begin(), impact_impulse_.end(), 0.0);
  const bool impact = std::any_of(impact_.begin(), impact_.end(), [](char c) { return c != 0; });
  StepOutcome outcome;
  if (impact) outcome = take_impacts(record);
  if (outcome.status != Status::success) return outcome;
  project(record);
  outcome = decide(s);
  if (outcome.status != Status::success) return outcome;
  if (impact) {
    close_accumulating(record);
    // What closes now has its friction decided with it.
    dynamics_.place(just_after(s.t), s.q, s.v);
  }
  outcome = begin_segment(s);
  if (outcome.status != Status::success) return outcome;
  record.problems += 1;
  note_changes(before, record);
  pending_ = false;
  before_.clear();
  return {};
}

/// The segment after an instant shows all derivatives of the laws that were tied: one that falls at once was given the
/// wrong one of its two modes.
StepOutcome EventScheme::begin_segment(State& s) {
  const std::size_t most = 4 * ties_.size() + 1;
  for (std::size_t turn = 0;; ++turn) {
    const StepOutcome outcome = flow_->begin(s.t, s.q, s.v, s.modes, starts_, limit_after(s.t), continued_);
    if (outcome.status != Status::success) return outcome;
    if (flow_->triggers().empty() || flow_->t1() > s.t || turn == most) break;
    const int law = flow_->triggers().front().law;
    const auto tie = std::find_if(ties_.begin(), ties_.end(), [&](const Tie& t) { return t.law == law; });
    if (tie == ties_.end()) break;
    const auto k = static_cast<std::size_t>(law);
    turn_tie(*tie, s.modes[k] == tie->rest ? tie->give : tie->rest, s);
    dynamics_.place(just_after(s.t), s.q, s.v);
    dynamics_.solve(s.modes);
  }
  starts_.assign(starts_.size(), {});
  ties_.clear();
  in_segment_ = true;
  segment_end_ = flow_->t1();
  triggers_ = flow_->triggers();
  redundant_ = dynamics_.redundant();
  if (redundant_) cut_where_a_law_gives_way(s);
  return {};
}

bool EventScheme::some_law_gives_way(double t, const State& s) {
  flow_->sample(t, node_);
  dynamics_.place(t, node_.q, node_.v);
  dynamics_.decision_problem(s.modes, at_rest_, roles_, problem_, chosen_, sliding_);
  const Decision decision = decide_modes(problem_);
  triggers_.clear();
  if (decision.status != Status::success) return false;
  for (std::size_t j = 0; j < chosen_.size(); ++j) {
    const auto k = static_cast<std::size_t>(chosen_[j]);
    const Mode mode = decision.modes[j];
    const bool holds = sliding_[k] ? mode != Mode::open : mode == s.modes[k];
    if (!holds) triggers_.push_back({chosen_[j], mode == Mode::open ? Trigger::lift : Trigger::release, 1, 0});
  }
  return !triggers_.empty();
}

void EventScheme::cut_where_a_law_gives_way(const State& s) {
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    roles_[k] = LawRole::stuck;
    at_rest_[k] = s.modes[k] == Mode::stick || s.modes[k] == Mode::closed;
  }
  constexpr int kPoints = 8;
  const std::vector<Monitor> at_end = triggers_;
  double held = flow_->t0();
  for (int j = 1; j <= kPoints; ++j) {
    double gave = j == kPoints ? flow_->t1() : flow_->t0() + (flow_->t1() - flow_->t0()) * j / kPoints;
    if (some_law_gives_way(gave, s)) {
      while (gave - held > 4e-16 * (1 + std::abs(gave))) {
        const double middle = 0.5 * (held + gave);
        if (middle == held || middle == gave) break;
        (some_law_gives_way(middle, s) ? gave : held) = middle;
      }
      some_law_gives_way(gave, s);
      segment_end_ = gave;
      dynamics_.solve(s.modes);
      return;
    }
    held = gave;
  }
  triggers_ = at_end;
  dynamics_.place(just_after(s.t), s.q, s.v);
  dynamics_.solve(s.modes);
}

void EventScheme::turn_tie(const Tie& tie, Mode mode, State& s) {
  const auto k = static_cast<std::size_t>(tie.law);
  s.modes[k] = mode;
  starts_[k] = {};
  starts_[k].tied = true;
  if (mode == tie.rest) starts_[k].border = 1;
  if (mode != tie.rest && mode == Mode::open) starts_[k].gap = 3;
  if (mode != tie.rest && (mode == Mode::slip_plus || mode == Mode::slip_minus)) starts_[k].u = 2;
}

/// Newton's impact law with friction at all contacts that touch. Modes and rest of the laws afterwards.
StepOutcome EventScheme::take_impacts(StepRecord& record) {
  State& s = record.state;
  dynamics_.place(just_after(s.t), s.q, s.v);
  std::vector<std::size_t> touching;
  DualProblem problem;
  std::vector<Index> rows;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (!law.contact || (s.modes[k] == Mode::open && !impact_[k])) continue;
    touching.push_back(k);
    problem.sets.push_back(law.contact->set(dynamics_.limit(k)));
    for (int c = 0; c < law.size; ++c) rows.push_back(law.first + c);
  }
  const Index size = static_cast<Index>(rows.size());
  DenseMatrix D(size, size);
  problem.b.resize(size);
  for (Index i = 0; i < size; ++i) {
    problem.b[i] = dynamics_.u()[rows[i]];
    for (Index j = 0; j < size; ++j) D(i, j) = dynamics_.D()(rows[i], rows[j]);
  }
  const Vector u_before = problem.b;
  Index i = 0;
  double approach = 0;
  for (const std::size_t k : touching) {
    if (problem.b[i] < 0) problem.b[i] *= 1 + dynamics_.laws()[k].contact->restitution;
    approach = std::max(approach, -u_before[i]);
    i += dynamics_.laws()[k].size;
  }
  problem.D = D;
  SolveOptions options;
  options.tolerance = 1e-14;
  options.max_seconds = 20;
  const InclusionSolution solution = solve(problem, options);
  if (solution.status != Status::success && !(solution.residuals.inclusion < 1e-10))
    return {solution.status, fmt::format("impact at t = {:.9g}: {}", s.t, solution.message)};
  const Vector& p = solution.r;
  const Vector u_after = u_before + D * p;
  for (Index j = 0; j < size; ++j) {
    s.v.noalias() += p[j] * dynamics_.PW().col(rows[j]);
    record.jump_impulse[rows[j]] += p[j];
  }
  record.jumped = true;
  // Mean velocities make the work of the impulses exact.
  double loss = 0;
  i = 0;
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    impact_impulse_[k] = p[i];
    for (int c = 0; c < law.size; ++c) {
      const double mean = 0.5 * (u_before[i + c] + u_after[i + c]), w = dynamics_.w()[law.first + c];
      (c == 0 ? record.energy.impact_loss : record.energy.friction_loss) -= p[i + c] * mean;
      record.energy.work_in += p[i + c] * w;
      record.law_work[static_cast<Index>(k)] += p[i + c] * (mean + w);
      loss -= p[i + c] * mean;
    }
    i += law.size;
  }
  if (loss < 0) record.contact_gain += -loss;
  // Modes after the impact. Velocities at round-off of the approach are zero.
  dynamics_.place(just_after(s.t), s.q, s.v);
  const double tiny = 1e-12 * approach;
  i = 0;
  for (const std::size_t k : touching) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    const double normal = u_after[i];
    i += law.size;
    if (normal > std::max(tiny, 1e-14)) {
      s.modes[k] = Mode::open;
      at_rest_[k] = 0;
      continue;
    }
    if (law.tangents == 0 || (dynamics_.limit(k) == 0 && dynamics_.static_limit(k) == 0)) {
      s.modes[k] = Mode::closed;
      at_rest_[k] = 1;
      continue;
    }
    double speed = 0;
    for (int c = 0; c < law.tangents; ++c) speed = std::hypot(speed, dynamics_.u()[law.tangent() + c]);
    at_rest_[k] = speed <= tiny;
    s.modes[k] = speed <= tiny ? Mode::stick : law.tangents == 2 ? Mode::slip : mode_of(dynamics_.u()[law.tangent()]);
  }
  // Dry friction passes no impulse: a law that stuck may move now.
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (law.contact || dynamics_.idle(k)) continue;
    double speed = 0;
    for (int c = 0; c < law.size; ++c) speed = std::hypot(speed, dynamics_.u()[law.first + c]);
    at_rest_[k] = speed <= tiny;
    if (speed <= tiny) {
      s.modes[k] = Mode::stick;
    } else {
      s.modes[k] = law.size == 2 ? Mode::slip : mode_of(dynamics_.u()[law.first]);
    }
  }
  return {};
}

/// Rebounds whose further impacts last no longer than accumulation_time are ended here. The dynamics hold the
/// accelerations of the decided modes.
void EventScheme::close_accumulating(StepRecord& record) {
  State& s = record.state;
  bool closed = false;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (!impact_[k] || s.modes[k] != Mode::open) continue;
    const double e = law.contact->restitution, u = dynamics_.u()[law.first];
    const double a = dynamics_.Wt().row(law.first).dot(dynamics_.acceleration()) + dynamics_.bias()[law.first];
    if (!(a < 0) || !(e < 1) || !(2 * u <= options_.accumulation_time * -a * (1 - e))) continue;
    const double p = -u / dynamics_.D()(law.first, law.first);
    s.v.noalias() += p * dynamics_.PW().col(law.first);
    record.energy.impact_loss -= 0.5 * p * u;
    record.energy.work_in += p * dynamics_.w()[law.first];
    impact_[k] = 0;
    closed = true;
    const bool frictionless = law.tangents == 0 || (dynamics_.limit(k) == 0 && dynamics_.static_limit(k) == 0);
    double speed = 0;
    for (int c = 0; c < law.tangents; ++c) speed = std::hypot(speed, dynamics_.u()[law.tangent() + c]);
    roles_[k] = LawRole::stopped;
    at_rest_[k] = frictionless || speed <= 1e-12;
    s.modes[k] = frictionless        ? Mode::closed
                 : at_rest_[k]       ? Mode::stick
                 : law.tangents == 2 ? Mode::slip
                                     : mode_of(dynamics_.u()[law.tangent()]);
  }
  if (!closed) return;
  project(record);
  decide(s);
}

StepOutcome EventScheme::no_mode(const State& s, const Decision& decision) const {
  std::string sliding;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    if (law.contact && slips(s.modes[k]) && dynamics_.limit(k) > 0)
      sliding +=
          fmt::format("{}'{}' (mu = {:.6g})", sliding.empty() ? "" : ", ", law.contact->name, dynamics_.limit(k));
  }
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
    if (!sliding_[k] || !(dynamics_.limit(k) > 0)) continue;
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

/// Problem (V) at the placed state; new modes, directions of slip, and what vanishes at the start of the next segment.
StepOutcome EventScheme::decide(State& s) {
  dynamics_.place(just_after(s.t), s.q, s.v);
  dynamics_.decision_problem(s.modes, at_rest_, roles_, problem_, chosen_, sliding_);
  starts_.assign(starts_.size(), {});
  ties_.clear();
  for (std::size_t k = 0; k < s.modes.size(); ++k)
    if (dynamics_.laws()[k].contact && s.modes[k] == Mode::open && dynamics_.gap(k) <= touching_) starts_[k].gap = 1;
  std::vector<int> tied;
  if (!chosen_.empty()) {
    const Decision decision = decide_modes(problem_);
    if (decision.status != Status::success) return no_mode(s, decision);
    admissible_ = std::max(admissible_, decision.admissible);
    if (decision.admissible > 1 && std::any_of(sliding_.begin(), sliding_.end(), [](char c) { return c != 0; })) {
      const StepOutcome outcome = several_modes(s, decision);
      if (outcome.status != Status::success) return outcome;
    }
    Index first = 0;
    for (std::size_t j = 0; j < chosen_.size(); first += problem_.laws[j].set.size, ++j) {
      const auto k = static_cast<std::size_t>(chosen_[j]);
      const ModeDynamics::Law& law = dynamics_.laws()[k];
      const Mode mode = decision.modes[j];
      if (sliding_[k]) {
        if (mode == Mode::open) {
          s.modes[k] = Mode::open;
          starts_[k].gap = 2;
        } else if (roles_[k] == LawRole::released || decision.tied[j]) {
          tied.push_back(static_cast<int>(k));
        }
        continue;
      }
      s.modes[k] = mode;
      if (mode == Mode::open) starts_[k].gap = 2;
      if (mode == Mode::slip_plus || mode == Mode::slip_minus) starts_[k].u = 1;
      if (mode == Mode::slip && law.tangents == 2) {
        const Index t = first + (law.contact ? 1 : 0);
        const double a1 = decision.acceleration[t], a2 = decision.acceleration[t + 1], a = std::hypot(a1, a2);
        if (a > 0) dynamics_.set_direction(k, a1 / a, a2 / a);
      }
      if (decision.tied[j]) {
        tied.push_back(static_cast<int>(k));
        starts_[k].border = 1;
        if (law.tangents == 2 && mode == Mode::stick) {
          const Index t = first + (law.contact ? 1 : 0);
          const double r = std::hypot(decision.r[t], decision.r[t + 1]);
          if (r > 0) dynamics_.set_direction(k, -decision.r[t] / r, -decision.r[t + 1] / r);
        }
      }
    }
  }
  if (!dynamics_.solve(s.modes))
    return {Status::not_finite, fmt::format("reactions are not finite at t = {:.9g}", s.t)};
  if (!tied.empty()) settle_ties(s, tied);
  return {};
}

/// Moved on by a moment in these modes, do the tied laws keep their conditions?
bool EventScheme::holds_a_moment_later(const State& s, const std::vector<Mode>& modes, const std::vector<int>& tied,
                                       std::vector<char>& right) {
  dynamics_.place(just_after(s.t), s.q, s.v);
  if (!dynamics_.solve(modes)) return false;
  const double moment = 1e-6 * std::clamp(last_length_, 1e-4, 1.0);
  const Vector a = dynamics_.acceleration();
  Vector qdot(s.q.size());
  const Vector v_mean = s.v + 0.5 * moment * a;
  system_.position_rate(s.q, v_mean, qdot);
  const Vector q = s.q + moment * qdot, v = s.v + moment * a;
  dynamics_.place(just_after(s.t) + moment, q, v);
  if (!dynamics_.solve(modes)) return false;
  const Vector du = dynamics_.Wt() * dynamics_.acceleration() + dynamics_.bias();
  right.assign(modes.size(), 1);
  bool all = true;
  for (const int id : tied) {
    const auto k = static_cast<std::size_t>(id);
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    switch (modes[k]) {
      case Mode::open:
        right[k] = du[law.first] > 0;
        break;
      case Mode::slip_plus:
        right[k] = starts_[k].u == 0 || du[law.tangent()] > 0;
        if (law.contact) right[k] = right[k] && dynamics_.reaction()[law.first] >= 0;
        break;
      case Mode::slip_minus:
        right[k] = starts_[k].u == 0 || du[law.tangent()] < 0;
        if (law.contact) right[k] = right[k] && dynamics_.reaction()[law.first] >= 0;
        break;
      case Mode::slip:
        // Along the direction in which the stuck law was about to give way.
        right[k] = dynamics_.u()[law.tangent()] * du[law.tangent()] +
                       dynamics_.u()[law.tangent() + 1] * du[law.tangent() + 1] >=
                   0;
        break;
      case Mode::closed:
        right[k] = dynamics_.reaction()[law.first] >= 0;
        break;
      case Mode::stick: {
        right[k] = monitor_value(dynamics_, {id, Trigger::release, 1, 0}) >= 0;
        if (law.tangents == 1) right[k] = right[k] && monitor_value(dynamics_, {id, Trigger::release, -1, 0}) >= 0;
        if (law.contact) right[k] = right[k] && dynamics_.reaction()[law.first] >= 0;
        break;
      }
    }
    all = all && right[k];
  }
  return all;
}

/// u' = 0 and the reaction on the border: both resting and giving way satisfy (V). The mode that is still right a
/// moment later is taken; laws that give way are tried first, all combinations for a few laws, else the wrong ones are
/// turned. begin_segment() has the last word.
void EventScheme::settle_ties(State& s, const std::vector<int>& tied) {
  for (const int id : tied) {
    const auto k = static_cast<std::size_t>(id);
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    Tie tie{id, s.modes[k], s.modes[k]};
    if (sliding_[k] || s.modes[k] == Mode::closed) {
      tie.give = Mode::open;
    } else if (s.modes[k] == Mode::stick) {
      const bool lifts = law.contact && dynamics_.reaction()[law.first] <= 0;
      const double r = dynamics_.reaction()[law.tangent()];
      tie.give = lifts ? Mode::open : law.tangents == 2 ? Mode::slip : r > 0 ? Mode::slip_minus : Mode::slip_plus;
    }
    ties_.push_back(tie);
  }
  constexpr std::size_t kAllCombinations = 6;
  const std::size_t count = ties_.size();
  std::vector<char> right;
  if (count <= kAllCombinations) {
    for (unsigned held = 0; held < (1u << count); ++held) {
      for (std::size_t j = 0; j < count; ++j) turn_tie(ties_[j], held >> j & 1u ? ties_[j].rest : ties_[j].give, s);
      if (holds_a_moment_later(s, s.modes, tied, right)) break;  // the last one is: all rest
    }
  } else {
    for (const Tie& tie : ties_) turn_tie(tie, tie.give, s);
    for (std::size_t round = 0; round < count && !holds_a_moment_later(s, s.modes, tied, right); ++round)
      for (const Tie& tie : ties_)
        if (!right[static_cast<std::size_t>(tie.law)])
          turn_tie(tie, s.modes[static_cast<std::size_t>(tie.law)] == tie.rest ? tie.give : tie.rest, s);
  }
  dynamics_.place(just_after(s.t), s.q, s.v);
  dynamics_.solve(s.modes);
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
