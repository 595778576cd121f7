// SPDX-License-Identifier: Apache-2.0
// Periodic motions to round-off: the state at one instant, and the period where it is unknown, solved so that the event
// scheme's motion comes back to it.
//
//   y(t0 + T; y0) = y0                   closure, along the directions Z that y0 may move in (period_map.hpp)
//   autonomous:  phase(T, y0) = 0, or y' · (y0 - guess) = 0;   condition(T, y0) = 0 where one is given
//
// Newton with a line search; the shortest step where the equations have no full rank. Durations of phases are unknowns
// implicitly: every motion passes its events at its own times, and the sequence of phases is decided by the motion, so
// a phase that was misread in the start (a short stick) is corrected by itself.
//
// The instant t0 is taken where as few laws as possible stick or are closed, and those that slip do so fast.
//
// Laws that stick through the whole period are held where they are: rank and condition are those of the equations with
// their places given (indeterminacy.hpp).
//
// An autonomous motion that closes after T does so after every multiple of it as well: where the motion comes back to
// its start after T/p already, that is its period.
//
// A family: where the closure leaves two directions open, orbits form a family, and a condition is asked for.
#pragma once

#include <string>
#include <vector>

#include "stickslip/common/status.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/motion/step.hpp"
#include "stickslip/periodic/orbit.hpp"
#include "stickslip/periodic/period_map_options.hpp"
#include "stickslip/periodic/periodic_options.hpp"

namespace stickslip {

class PeriodMap;

struct EventOrbitOptions {
  int max_iterations = 40;
  double accept = 1e-9;  ///< closure, relative to the scales, that counts as solved
  int rows = 400;        ///< of the orbit
  PeriodMapOptions flow = {};
};

struct EventOrbitSolution {
  Status status = Status::not_converged;
  std::string message;
  State start;  ///< solved, at the chosen instant
  double period = 0;
  double residual = 0;  ///< closure, relative to the scales
  int iterations = 0;
  double condition = 0;          ///< of the equations that were solved
  bool family = false;           ///< the closure leaves a direction open beside the phase and the two below
  Index held = 0, shifts = 0;    ///< directions of indeterminacy.hpp
  Eigen::VectorXcd multipliers;  ///< of all 2 nv numbers; 0 along what is held at the start
  Orbit orbit;                   ///< from options.t0
  std::vector<std::string> notes;
};

/// `guess`: an orbit near the one that is looked for; t0: where the rows of the result begin.
EventOrbitSolution solve_event_orbit(const System& system, const PeriodicOptions& problem, const Orbit& guess,
                                     const EventOrbitOptions& options);

/// One period of a motion as an orbit, with extremes and stick fractions to the accuracy of the flow.
bool record_orbit(PeriodMap& map, const State& start, double period, int rows, Orbit& orbit);

}  // namespace stickslip
