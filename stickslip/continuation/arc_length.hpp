// SPDX-License-Identifier: Apache-2.0
// Predictor, corrector and step control of pseudo arc length, whoever does the linear algebra: path_following.cpp with
// one bordered matrix, the contact solver with its own factors (solvers/contact_path.cpp).
//
//   predict(h)      z = z_0 + h t                                       z_0: last point of the curve, t: its tangent
//   correct         Newton on F(z) = 0 in the plane across t, by steps of the curve's own
//   h               times `slower` after many corrections, `faster` after few, `failed` after none that led there
//
// A Curve has
//   std::optional<double> distance()    of the current z from the curve, over what is allowed; nothing: F has no value
//   there bool newton_step()                  in the plane; false: there is none
#pragma once

#include <cmath>
#include <optional>

namespace stickslip {

struct CorrectorRules {
  int most = 10;            ///< steps
  int at_least = 0;         ///< steps, wherever it begins
  double contraction = 10;  ///< of the distance from step to step, at least
  int free_steps = 2;       ///< that may do worse
};

/// Steps it took; -1: it does not come to the curve.
template <class Curve>
int correct_onto_curve(Curve& curve, const CorrectorRules& rules) {
  double last = HUGE_VAL;
  for (int k = 0; k <= rules.most; ++k) {
    const std::optional<double> distance = curve.distance();
    if (!distance) return -1;
    if (k >= rules.at_least && *distance <= 1) return k;
    if (k > rules.free_steps && !(*distance < rules.contraction * last)) return -1;
    last = *distance;
    if (!curve.newton_step()) return -1;
  }
  return -1;
}

struct StepRules {
  double faster = 1.5, slower = 0.7, failed = 0.5;
  int easy = 4;  ///< up to so many corrections the next step is longer
  int hard = 6;  ///< from more than so many on it is shorter
  /// The next length after a step of `length` that took so many corrections; -1: it failed.
  double next(double length, int corrections) const {
    return length * (corrections < 0 ? failed : corrections <= easy ? faster : corrections > hard ? slower : 1.0);
  }
};

}  // namespace stickslip
