// SPDX-License-Identifier: Apache-2.0
// What the equations of a periodic motion leave open without leaving the motion open.
//
//   held       a law that sticks through the whole period: |r| < c holds at neighbouring positions as well, so that the
//   place it is
//              held at is a matter of history. The equations are judged with that place given.
//   shift      q + const, v and r as they are: nothing refers to where the motion takes place
//   reactions  r alone: laws that share a freedom and stick together
//
// Any other direction that is open changes the motion: the orbit is degenerate, others are as good.
#pragma once

#include <vector>

#include "stickslip/periodic/orbit.hpp"
#include "stickslip/periodic/periodic_equations.hpp"

namespace stickslip {

/// Laws, by number, that stick at every row.
std::vector<std::size_t> held_laws(const Orbit& orbit);

struct Indeterminacy {
  double condition = 0;  ///< number of the equations without the directions below; HUGE_VAL: the motion itself is open
  Index shifts = 0, reactions = 0;
};

/// Of the last Jacobian of the equations, which has `condition`, at their solution X. Places of held laws are given in
/// it (PeriodicEquations::linearize).
Indeterminacy judge_open_directions(PeriodicEquations& equations, const Vector& X, double condition);

}  // namespace stickslip
