// SPDX-License-Identifier: Apache-2.0
// The paper's damper algorithm taken at its word, as a comparison; no scheme of the program decides like this.
//
//   M y'' + K y + F = 0,   F_i = f_i sgn(v_i) while hinge i slips,   y_i frozen while it is stuck
//
//   1  a step of length h with all modes held
//   2  a stuck hinge compares the force that holds it, f_c, with f at the end of every step, and slips from there on if
//      |f_c| > f
//   3  a hinge whose velocity changed sign: the step is taken again up to the change; there that hinge alone is locked
//      and stays so if |f_c| <= f. The next step begins there
//   4  at the start, velocity 0 is no change of sign: `tested` = false leaves such a hinge without force during the
//      first step (SIGN(0) = 0)
//
// Two things are better than in the paper, so that nothing but the rule is measured: the flow within a step is exact
// (modal closed form) and the change of sign is found by a bracketed root. Where two velocities change sign in a step
// the first counts.
#pragma once

#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip::paper2 {

struct Hinges {
  DenseMatrix M, K;  ///< [kg], [N/m], symmetric
  Vector limit;      ///< f [N]
};

struct HingeState {
  double t = 0;
  Vector y, v;
  std::vector<int> mode;  ///< 0 stuck, ±1 slipping, 2 without friction
};

/// After a time dt in the modes of `state`; exact.
HingeState flow(const Hinges& hinges, const HingeState& state, double dt);
/// The forces M a + K y + F, which a stuck hinge must take up, and the accelerations.
struct HingeForces {
  Vector held, acceleration;  ///< held: 0 for hinges that slip
};
HingeForces forces(const Hinges& hinges, const HingeState& state);

enum class StartTest { made, left_out };
HingeState hinge_by_hinge(const Hinges& hinges, const Vector& y, double h, double end_time, StartTest start);

/// Step halving of the paper until the velocities before and after a change of sign differ by less than eps.
struct Halving {
  bool ended = false;
  int evaluations = 0;
  double t = 0, velocity = 0;
};
Halving halve_to_zero(const Hinges& hinges, const HingeState& from, int hinge, double h, double eps,
                      int most_evaluations);

}  // namespace stickslip::paper2
