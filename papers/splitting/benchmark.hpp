// SPDX-License-Identifier: Apache-2.0
// The benchmark of paper 1, section 5: exact solution and error measures.
//
//   T = 4, M = [2 1; 1 2], K = [2 -1; -1 2], C = I, γ(v) = β v/√(v²+ε²) with β = 1/3, ε = 0.1, X0 = (0, 0), V0 = (1, 0)
//
// γ is defined in part I of the paper only; this shape is an assumption, immaterial because f contains the same γ.
#pragma once

#include "stickslip/motion/trajectory.hpp"

namespace stickslip::paper1 {

inline constexpr double kEndTime = 4;

struct Exact {
  double x[2], v[2], lambda[2];
};
/// Left limits at the jumps t = 1, 2, 3 (times within 1e-9 of one count as it).
Exact exact(double t);

/// sqrt(τ Σ_n |e^n|²) over both components, rows n = 1..N of a trajectory with every step:
struct Errors {
  double V = 0;              ///< V^{n+1}
  double VF = 0;             ///< V^{n+1/2} (splitting only)
  double X = 0;              ///< X^{n+1}
  double L = 0;              ///< λ^{n+1} against λ(t^{n+1}-)
  double Lm = 0;             ///< λ^{n+1} against λ at mid-step
  double Lfar = 0;           ///< the same for |t - {0, 1, 2, 3, 4}| > 0.05
  double TV[2] = {0, 0};     ///< total variation of the multipliers
  double TVfar[2] = {0, 0};  ///< the same over pairs of steps away from the events as above
};
Errors errors(const Trajectory& trajectory);

/// Of the exact multipliers, over the whole interval.
inline constexpr double kExactVariation[2] = {4.5, 4.0};

}  // namespace stickslip::paper1
