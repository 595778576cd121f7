// SPDX-License-Identifier: Apache-2.0
// orbit_of_run() of solve_periodic.hpp.
#include <fmt/format.h>

#include <cmath>

#include "stickslip/periodic/event_orbit.hpp"
#include "stickslip/periodic/orbit_scales.hpp"
#include "stickslip/periodic/period_map.hpp"
#include "stickslip/periodic/solve_periodic.hpp"

namespace stickslip {

namespace {

constexpr int kDefaultPeriods = 20;
constexpr int kRows = 400;

double size_of(const Vector& x) { return x.size() ? x.cwiseAbs().maxCoeff() : 0.0; }

/// Between a row and the next.
struct Crossing {
  std::size_t row;
  double part;
  double time(const Orbit& o) const { return between(o.t[row], o.t[row + 1]); }
  Vector q(const Orbit& o) const { return between(o.q[row], o.q[row + 1]); }
  Vector v(const Orbit& o) const { return between(o.v[row], o.v[row + 1]); }

 private:
  template <class T>
  T between(const T& a, const T& b) const {
    return a + part * (b - a);
  }
};

/// Zeros of the phase, or of the velocity of the coordinate that moves most, from above to below.
std::vector<Crossing> crossings(const PeriodicOptions& options, const Orbit& window) {
  Index widest = 0;
  (window.maximum - window.minimum).maxCoeff(&widest);
  Variables variables(window.q[0].size(), window.v[0].size());
  std::vector<Crossing> found;
  double last = 0;
  for (std::size_t j = 0; j < window.t.size(); ++j) {
    variables.set(options.period, window.q[j], window.v[j]);
    const double value = options.phase ? (*options.phase)(variables.span()) : window.v[j][widest];
    if (j > 0 && last > 0 && value <= 0) found.push_back({j - 1, last / (last - value)});
    last = value;
  }
  return found;
}

/// The part of a window between two crossings at which the state is the same.
bool cut_period(const PeriodicOptions& options, PeriodMap& map, const Orbit& window, Orbit& orbit) {
  const std::vector<Crossing> at = crossings(options, window);
  const Vector range = (window.maximum - window.minimum).cwiseMax(1e-300);
  double speed = 1e-300;
  for (const Vector& v : window.v) speed = std::max(speed, size_of(v));
  const std::size_t last = at.empty() ? 0 : at.size() - 1;
  std::size_t best = last;
  double nearest = HUGE_VAL;
  for (std::size_t k = last; k-- > 0;) {
    const double miss = (at[last].q(window) - at[k].q(window)).cwiseQuotient(range).norm() +
                        (at[last].v(window) - at[k].v(window)).norm() / speed;
    if (miss < 0.7 * nearest) nearest = miss, best = k;
    if (nearest < 0.03) break;  // velocities that jump between two rows are not known better
  }
  if (best == last) return false;
  const State start = state_at(map.system(), window, at[best].row);
  return record_orbit(map, start, at[last].time(window) - at[best].time(window), kRows, orbit);
}

}  // namespace

std::string orbit_of_run(const PeriodicProblem& problem, StopRequest stop, Orbit& orbit) {
  const PeriodicOptions& options = problem.options;
  const Index n = problem.system.info().nv();
  const double T = options.motion_period();
  PeriodMapOptions flow;
  flow.event = problem.event;
  flow.stop = stop;
  flow.tolerance = 1e-9;
  PeriodMap map(problem.system, problem.initial.t, Vector::Ones(n), Vector::Ones(n), flow);
  double periods = options.start_periods;
  if (periods == 0)
    periods = problem.run_length > 0 ? std::max(1.0, std::floor(problem.run_length / T)) : kDefaultPeriods;
  StepRecord record;
  record.state = problem.initial;
  const double begin = problem.initial.t + (periods - 1) * T;
  const auto failed = [&] {
    return fmt::format("the run that is to lead to the orbit ended: {}",
                       map.message().empty() ? "stopped on request" : map.message());
  };
  if (periods > 1 && !map.flow(problem.initial, begin, {}, {}, record)) return failed();
  State start = record.state;
  if (!options.autonomous) {
    if (!record_orbit(map, start, T, kRows, orbit)) return failed();
    // Forced: the same phase of the excitation as at the beginning.
    for (double& t : orbit.t) t += problem.initial.t - begin;
    for (Event& event : orbit.events) event.t += problem.initial.t - begin;
    orbit.t0 = problem.initial.t;
    return "";
  }
  constexpr int kWindow = 6;
  Orbit window;
  if (!record_orbit(map, start, kWindow * T, kWindow * kRows, window)) return failed();
  if (!cut_period(options, map, window, orbit))
    return fmt::format(
        "the motion at the end of a run of {:g} periods does not come back to itself within {} s; start where it "
        "moves, give a better first guess of the period, or a longer run",
        periods, kWindow * T);
  return "";
}

}  // namespace stickslip
