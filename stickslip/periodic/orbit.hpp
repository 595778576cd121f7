// SPDX-License-Identifier: Apache-2.0
// A periodic motion as rows over one period, and what is read off it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stickslip/motion/step.hpp"

namespace stickslip {

struct Orbit {
  double t0 = 0, period = 0;  ///< [s]
  std::vector<double> t;      ///< ascending, from t0; of an event orbit t0 and t0 + period are both rows
  std::vector<Vector> q, v;
  std::vector<Vector> r, u;              ///< reactions (set-valued part) and relative velocities, per component
  std::vector<Vector> limit, gap;        ///< per law
  std::vector<std::vector<Mode>> modes;  ///< per law
  std::vector<Event> events;             ///< of an event orbit
  Vector minimum, maximum;               ///< of every coordinate
  Vector stick_fraction;                 ///< of every law, 0..1
  Vector friction_work;                  ///< done on the system over the period, per law [J]
};

/// Minimum and maximum over the rows, stick fractions from the modes of the rows: what a weighted residual knows.
void read_rows(Orbit& orbit);

}  // namespace stickslip
