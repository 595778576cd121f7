// SPDX-License-Identifier: Apache-2.0
// Rows, extremes and stick fractions of one period: record_orbit() of event_orbit.hpp.
#include <cmath>

#include "stickslip/periodic/event_orbit.hpp"
#include "stickslip/periodic/period_map.hpp"

namespace stickslip {

namespace {

/// The extreme of coordinate i between two rows, where its velocity changes sign: regula falsi on the motion itself.
double extreme(PeriodMap& map, const State& from, double t_a, double v_a, double t_b, double v_b, Index i, double q_b) {
  constexpr int kMost = 60;            // halvings of an interval down to its last bit
  constexpr double kSameTime = 4e-16;  // of the times: two neighbouring numbers
  constexpr double kTurned = 1e-12;    // of the change of velocity between the rows: q no longer changes by a digit
  StepRecord record;
  double q = q_b;
  double low = t_a, high = t_b, f_low = v_a, f_high = v_b;
  for (int k = 0; k < kMost && high - low > kSameTime * (std::abs(high) + t_b - t_a); ++k) {
    double t = low - f_low * (high - low) / (f_high - f_low);
    if (!(t > low && t < high)) t = 0.5 * (low + high);
    if (!map.flow(from, t, {}, {}, record)) return q;
    const double v = record.state.v[i];
    q = record.state.q[i];
    if (v == 0 || std::abs(v) < kTurned * std::abs(v_a - v_b)) return q;
    if ((v > 0) == (f_low > 0)) {
      low = t, f_low = v, f_high *= 0.5;  // Illinois
    } else {
      high = t, f_high = v, f_low *= 0.5;
    }
  }
  return q;
}

}  // namespace

bool record_orbit(PeriodMap& map, const State& start, double period, int rows, Orbit& orbit) {
  orbit = {};
  orbit.t0 = start.t;
  orbit.period = period;
  std::vector<double> times;
  for (int k = 1; k < rows; ++k) times.push_back(start.t + period * k / rows);
  ModeDynamics dynamics(map.system());
  const std::size_t laws = dynamics.laws().size();
  Vector stick = Vector::Zero(static_cast<Index>(laws));
  std::vector<State> states;
  Vector work, last_limit = Vector::Zero(static_cast<Index>(laws));
  const auto watch = [&](const StepRecord& record) {
    const State& s = record.state;
    if (!orbit.t.empty()) {
      const double dt = s.t - orbit.t.back();
      // Events end a part, so the modes at its beginning hold through it.
      for (std::size_t k = 0; k < laws; ++k)
        if (orbit.modes.back()[k] == Mode::stick) stick[static_cast<Index>(k)] += dt;
      const double length = record.duration > 0 ? record.duration : 1;
      orbit.r.push_back(record.reaction_impulse / length);
    }
    orbit.events.insert(orbit.events.end(), record.events.begin(), record.events.end());
    work = record.law_work;
    dynamics.place(s.t, s.q, s.v);
    Vector limit(static_cast<Index>(laws));
    for (std::size_t k = 0; k < laws; ++k) {  // the border of the set, at either end of the part
      limit[static_cast<Index>(k)] = dynamics.static_limit(k);
      if (!orbit.limit.empty())
        limit[static_cast<Index>(k)] = std::max(limit[static_cast<Index>(k)], last_limit[static_cast<Index>(k)]);
      last_limit[static_cast<Index>(k)] = dynamics.static_limit(k);
    }
    orbit.t.push_back(s.t);
    orbit.q.push_back(s.q);
    orbit.v.push_back(s.v);
    orbit.u.push_back(dynamics.u());
    for (std::size_t k = 0; k < laws; ++k) {
      const ModeDynamics::Law& law = dynamics.laws()[k];
      if (!law.springs()) continue;
      // Velocity of the slider, not of its spring.
      const auto d = s.z.segment(law.spring, law.size);
      auto u = orbit.u.back().segment(law.first, law.size);
      const double length = d.norm(), along = length > 0 ? d.dot(u) / length : 0.0;
      u.setZero();
      if (s.modes[k] != Mode::stick && length > 0) u = along / length * d;
      if (!orbit.r.empty()) orbit.r.back().segment(law.first, law.size) = -law.stiffness * d;
    }
    orbit.limit.push_back(limit);
    orbit.gap.push_back(dynamics.gaps());
    orbit.modes.push_back(s.modes);
    states.push_back(s);
  };
  StepRecord record;
  State first = start;
  first.modes.clear();
  if (!map.flow(first, start.t + period, times, watch, record)) return false;
  if (!orbit.r.empty()) orbit.r.insert(orbit.r.begin(), orbit.r.back());  // of the part that ends where rows begin
  for (const ModeDynamics::Law& law : dynamics.laws())
    if (law.springs() && !orbit.r.empty())
      orbit.r[0].segment(law.first, law.size) = -law.stiffness * states[0].z.segment(law.spring, law.size);
  read_rows(orbit);
  orbit.stick_fraction = stick / period;
  orbit.friction_work = work;
  for (std::size_t k = 1; k < states.size(); ++k)
    for (Index i = 0; i < states[k].v.size() && states[k].q.size() == states[k].v.size(); ++i) {
      const double a = states[k - 1].v[i], b = states[k].v[i];
      if (!(a * b < 0)) continue;
      const double q = extreme(map, states[k - 1], states[k - 1].t, a, states[k].t, b, i, states[k].q[i]);
      orbit.minimum[i] = std::min(orbit.minimum[i], q);
      orbit.maximum[i] = std::max(orbit.maximum[i], q);
    }
  return true;
}

}  // namespace stickslip
