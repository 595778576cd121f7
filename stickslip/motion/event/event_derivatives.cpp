// SPDX-License-Identifier: Apache-2.0
// Where the scheme `event` hands its motion to the derivatives (event_tangent.hpp).
#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/event.hpp"
#include "stickslip/motion/event/event_tangent.hpp"

namespace stickslip {

void EventScheme::start_tangent(StepRecord& record) {
  const State& s = record.state;
  record.sensitivity = variations_->initial().topRows(2 * system_.info().nv());
  tangent_->load(s, record.sensitivity);
  if (pending_) return;  // an impact: the first step takes it
  const double t = just_after(s.t);
  place(t, s);
  if (s.t <= span_.start) tangent_->note_one_sided(dynamics_, s, t, at_rest_);
  tangent_->project(dynamics_, s, t);
  tangent_->store(s, record.sensitivity);
  dynamics_.solve(s.modes);
}

/// An impact at the very start is the end of a flight.
void EventScheme::leave_start(const State& s) {
  State flying = s;
  std::vector<Monitor> touches;
  for (std::size_t k = 0; k < impact_.size(); ++k)
    if (impact_[k]) {
      flying.modes[k] = Mode::open;
      touches.push_back({static_cast<int>(k), Trigger::touch});
    }
  const double t = just_after(s.t);
  place(t, s);
  tangent_->leave(dynamics_, flying, t, touches, -1);
}

/// The dynamics are on the side of the segment.
void EventScheme::leave_segment(const State& s) {
  const double near = kSameInstant * time_size(s.t), snap = std::max(near, snap_ * time_size(s.t));
  const auto at = std::lower_bound(breakpoints_.begin(), breakpoints_.end(), s.t - near);
  const bool jumps = at != breakpoints_.end() && *at <= s.t + snap;
  const double side = breakpoint_at(s.t) ? just_before(s.t) : s.t;
  tangent_->leave(dynamics_, s, side, triggers_, jumps ? static_cast<int>(at - breakpoints_.begin()) : -1);
}

/// Forces are smooth within, on the side of the segment.
TimeSpan EventScheme::smooth_window() const {
  TimeSpan window{-HUGE_VAL, HUGE_VAL};
  if (breakpoint_at(flow_->t0())) window.start = just_after(flow_->t0());
  const double past = flow_->t0() + kSameInstant * time_size(flow_->t0());
  const auto next = std::upper_bound(breakpoints_.begin(), breakpoints_.end(), past);
  if (next != breakpoints_.end()) window.end = just_before(*next);
  return window;
}

void EventScheme::add_notes(std::vector<std::string>& notes) const {
  if (tangent_) notes.insert(notes.end(), tangent_->notes().begin(), tangent_->notes().end());
}

}  // namespace stickslip
