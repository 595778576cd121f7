// SPDX-License-Identifier: Apache-2.0
// Laws at rest on the border of their set: which of their two modes follows.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/event.hpp"

namespace stickslip {

/// The unloaded side of a guide moves as the loaded one does.
void EventScheme::move_other_side(std::size_t law, State& s) {
  const int found = dynamics_.other_side(law, s.modes);
  if (found < 0) return;
  const auto other = static_cast<std::size_t>(found);
  const ModeDynamics::Law &own = dynamics_.laws()[law], &its = dynamics_.laws()[other];
  if (!dynamics_.unloaded(other) || its.tangents != 1 || own.tangents != 1 || s.modes[other] == Mode::closed) return;
  const bool same_way = dynamics_.D()(own.tangent(), its.tangent()) >= 0;
  Mode mode = s.modes[law];
  if (!same_way && mode == Mode::slip_plus)
    mode = Mode::slip_minus;
  else if (!same_way && mode == Mode::slip_minus)
    mode = Mode::slip_plus;
  s.modes[other] = mode;
  starts_[other] = {};
  starts_[other].u = starts_[law].u;
  starts_[other].tied = starts_[law].tied;
}

void EventScheme::turn_tie(Tie& tie, bool gives, State& s) {
  const auto k = static_cast<std::size_t>(tie.law);
  const Mode mode = gives ? tie.give : tie.rest;
  tie.gives = gives;
  s.modes[k] = mode;
  starts_[k] = {};
  starts_[k].tied = true;
  if (tie.other >= 0) {  // one side of a guide takes the load from the other
    const auto other = static_cast<std::size_t>(tie.other);
    dynamics_.set_unloaded(k, gives);
    dynamics_.set_unloaded(other, !gives);
    starts_[other].tied = true;
    starts_[k].lift = starts_[other].lift = 1;
    for (const std::size_t side : {k, other})  // a slip that begins with the change
      starts_[side].u = at_rest_[side] && (s.modes[side] == Mode::slip_plus || s.modes[side] == Mode::slip_minus);
    return;
  }
  if (tie.kind == tied_to_lift && mode != Mode::open) starts_[k].lift = 1;
  if (!gives) {
    starts_[k].border = 1;
    // A law that was at rest and slips without a load keeps its acceleration, and only its load is in question.
    if (mode == Mode::slip_plus || mode == Mode::slip_minus) starts_[k].u = at_rest_[k] ? 1 : 0;
  } else if (mode == Mode::open) {
    starts_[k].gap = 3;
  } else if (mode == Mode::slip_plus || mode == Mode::slip_minus) {
    starts_[k].u = 2;
  }
  if (mode != Mode::open) move_other_side(k, s);
}

bool EventScheme::tie_holds(const Tie& tie, const std::vector<Mode>& modes, const Vector& du) {
  const auto k = static_cast<std::size_t>(tie.law);
  const ModeDynamics::Law& law = dynamics_.laws()[k];
  auto pushes = [&](std::size_t l) {
    return !dynamics_.laws()[l].contact || dynamics_.redundant() ||
           dynamics_.reaction()[dynamics_.laws()[l].first] >= 0;
  };
  if (tie.other >= 0) return pushes(tie.gives ? static_cast<std::size_t>(tie.other) : k);
  const Index t = law.tangent();
  // Below round-off of its terms an acceleration has no direction: the law rests.
  constexpr double kRoundOff = 1e-14;
  double tiny = 0;
  for (int c = 0; c < law.tangents; ++c)
    tiny =
        std::max(tiny, kRoundOff * dynamics_.Wt().row(t + c).cwiseAbs().dot(dynamics_.free_acceleration().cwiseAbs()));
  switch (modes[k]) {
    case Mode::open:
      return du[law.first] > 0;
    case Mode::slip_plus:
      return (starts_[k].u == 0 || du[t] > tiny) && pushes(k);
    case Mode::slip_minus:
      return (starts_[k].u == 0 || du[t] < -tiny) && pushes(k);
    case Mode::slip: {
      // Along the direction in which the stuck law was about to give way, which a velocity of 0 does not show.
      double d[2];
      dynamics_.slip_direction(k, Mode::slip, d);
      return d[0] * du[t] + d[1] * du[t + 1] > tiny;
    }
    case Mode::closed:
      return pushes(k);
    case Mode::stick:
      if (dynamics_.redundant()) return dynamics_.admissible();
      return pushes(k) && monitor_value(dynamics_, {tie.law, Trigger::release, 1, 0}) >= 0 &&
             (law.tangents == 2 || monitor_value(dynamics_, {tie.law, Trigger::release, -1, 0}) >= 0);
  }
  return true;
}

/// Places the dynamics where the motion in these modes is a moment later.
bool EventScheme::move_a_moment_on(const State& s) {
  place(just_after(s.t), s);
  if (!dynamics_.solve(s.modes)) return false;
  const double span = span_.length();
  constexpr double kMoment = 1e-6;    // of the last segment: long beside round-off of t, short beside the motion
  constexpr double kShortest = 1e-4;  // of the run: what a segment counts as at least
  const double moment = kMoment * std::clamp(last_length_, kShortest * span, span);
  const Vector a = dynamics_.acceleration(), v = s.v + moment * a, way = moment * (s.v + 0.5 * moment * a);
  Vector q = s.q;
  system_.kinematics().displace(way, q);
  dynamics_.place(just_after(s.t) + moment, q, v);
  return true;
}

/// Moved on by a moment in these modes, do the tied laws keep their conditions?
bool EventScheme::holds_a_moment_later(const State& s) {
  right_.assign(ties_.size(), 0);
  if (!move_a_moment_on(s) || !dynamics_.solve(s.modes)) return false;
  const Vector du = dynamics_.Wt() * dynamics_.acceleration() + dynamics_.bias();
  for (std::size_t j = 0; j < ties_.size(); ++j) right_[j] = tie_holds(ties_[j], s.modes, du);
  return std::all_of(right_.begin(), right_.end(), [](char c) { return c != 0; });
}

/// Where the reaction of a tied law vanishes it points nowhere, and the law may slip either way or lift: (V) a moment
/// later, with all tied laws still at rest, says which.
void EventScheme::ask_how_ties_give(const State& s) {
  if (!move_a_moment_on(s)) return;
  dynamics_.decision_problem(s.modes, at_rest_, roles_, problem_, chosen_, sliding_);
  const Decision later = decide_modes(problem_, decision_options_);
  if (later.status != Status::success) return;
  for (Tie& tie : ties_) {
    const auto at = std::find(chosen_.begin(), chosen_.end(), tie.law);
    if (tie.other >= 0 || at == chosen_.end() || sliding_[static_cast<std::size_t>(tie.law)]) continue;
    const auto j = static_cast<std::size_t>(at - chosen_.begin());
    const Mode mode = later.modes[j];
    if (mode == tie.rest || mode == Mode::stick || mode == Mode::closed) continue;
    tie.give = mode;
    const ModeDynamics::Law& law = dynamics_.laws()[static_cast<std::size_t>(tie.law)];
    if (mode != Mode::slip || law.tangents != 2) continue;
    Index i = law.contact ? 1 : 0;
    for (std::size_t l = 0; l < j; ++l) i += problem_.laws[l].set.size;
    const double a = std::hypot(later.acceleration[i], later.acceleration[i + 1]);
    if (a > 0)
      dynamics_.set_direction(static_cast<std::size_t>(tie.law), later.acceleration[i] / a,
                              later.acceleration[i + 1] / a);
  }
}

/// u' = 0 and the reaction on the border: both resting and giving way satisfy (V). The mode that is still right a
/// moment later is taken; laws that give way are tried first, all combinations for a few laws, else the wrong ones are
/// turned. begin_segment() has the last word.
void EventScheme::settle_ties(State& s) {
  constexpr std::size_t kAllCombinations = 6;
  const std::size_t count = ties_.size();
  ask_how_ties_give(s);
  if (count <= kAllCombinations) {
    for (unsigned held = 0; held < (1u << count); ++held) {
      for (std::size_t j = 0; j < count; ++j) turn_tie(ties_[j], !(held >> j & 1u), s);
      if (holds_a_moment_later(s)) break;  // the last one is: all rest
    }
  } else {
    for (Tie& tie : ties_) turn_tie(tie, true, s);
    for (std::size_t round = 0; round < count && !holds_a_moment_later(s); ++round)
      for (std::size_t j = 0; j < count; ++j)
        if (!right_[j]) turn_tie(ties_[j], !ties_[j].gives, s);
  }
  place(just_after(s.t), s);
  dynamics_.solve(s.modes);
}

/// Laws that one freedom moves stop at one instant, which round-off tells apart: one that has no velocity left where
/// those are held that have stopped has stopped too. Without constraints, and no more laws than velocities, each has a
/// freedom of its own.
void EventScheme::stop_together(State& s) {
  constexpr double kNothing = 1e-6;  // of what it had
  if (system_.laws().constraints().empty() && dynamics_.components() <= system_.info().nv()) return;
  auto speed = [&](std::size_t k) { return dynamics_.u()[dynamics_.laws()[k].first]; };
  std::vector<std::size_t> slipping;
  bool stopped = false;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const ModeDynamics::Law& law = dynamics_.laws()[k];
    stopped |= roles_[k] == LawRole::stopped && at_rest_[k];
    if (law.contact || law.springs() || law.size != 1 || at_rest_[k] || s.modes[k] == Mode::open) continue;
    slipping.push_back(k);
  }
  if (!stopped || slipping.empty()) return;
  std::vector<double> had;
  for (const std::size_t k : slipping) had.push_back(std::abs(speed(k)));
  State held = s;
  project(s.modes, held, s.t);
  place(s.t, held);
  for (std::size_t j = 0; j < slipping.size(); ++j) {
    const std::size_t k = slipping[j];
    if (!(std::abs(speed(k)) <= kNothing * had[j]) || !dynamics_.laws()[k].holds(Mode::stick)) continue;
    s.modes[k] = Mode::stick;
    at_rest_[k] = told_[k] = 1;
    roles_[k] = LawRole::stopped;
  }
  place(s.t, s);
}

}  // namespace stickslip
