// SPDX-License-Identifier: Apache-2.0
// The motion on the other side of grazing: with one blow more, of an impulse that is given, at a value s of the
// parameter that is not.
//
//   F(x, s) = 0                closure (event_path.hpp), through the blow
//   p(x, s)²/p_0² - 1 = 0      p: the smallest impulse of the period
//
// In s the motion changes with the root of the distance from grazing, or turns back there; with p it changes smoothly,
// so that both are found alike. p_0 is what the motion that does not touch would be struck with a little beyond.
#pragma once

#include <optional>

#include "stickslip/periodic/event_path.hpp"

namespace stickslip {

struct TouchingOrbit {
  Vector x;
  double s = 0;
};

/// `path` is at the last motion before grazing, at `value`; beyond: where it would be struck. None: no such motion was
/// found.
std::optional<TouchingOrbit> solve_touching_orbit(EventPath& path, double value, double beyond, StopRequest stop);

}  // namespace stickslip
