// SPDX-License-Identifier: Apache-2.0
// Laws at rest on the border of their set: which of their two modes follows.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/event.hpp"

namespace stickslip {

void EventScheme::turn_tie(const Tie& tie, Mode mode, State& s) {
  const auto k = static_cast<std::size_t>(tie.law);
  s.modes[k] = mode;
  starts_[k] = {};
  starts_[k].tied = true;
  if (mode == tie.rest) starts_[k].border = 1;
  if (mode != tie.rest && mode == Mode::open) starts_[k].gap = 3;
  if (mode != tie.rest && (mode == Mode::slip_plus || mode == Mode::slip_minus)) starts_[k].u = 2;
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

}  // namespace stickslip
