// SPDX-License-Identifier: Apache-2.0
// Block Gauss-Seidel with exact local solutions (one_law.hpp), accelerated in one of two ways.
//
//   anderson    x_{k+1} = P_C( accelerated step from g(x_k) ),      g: one sweep over the laws
//   conjugate   x_{k+1} = g(x_k) + β p_{k-1},   p_k = β p_{k-1} + f_k,   f_k = g(x_k) - x_k,   β = |f_k|²/|f_{k-1}|²,
//               with p = 0 where β > 1 (Silcowitz, Niebe, Erleben, Vis. Comput. 26, 2010)
//
// Anderson's is faster on problems of some hundred contacts, where the modes settle early. On large hyperstatic heaps
// it stands still while the conjugate directions, whose memory is one vector and which restart at no cost, go on.
//
// Safeguard of Anderson's: the memory is dropped, and the plain sweep taken, whenever |g(x) - x| rises above the
// smallest value since the memory was last empty. (A looser safeguard is faster here and there, and stagnates for ever
// on sphere pyramids.)
//
// The error is that of the sweep's image g(x). It costs as much as a sweep, so it is evaluated when |g(x) - x|,
// calibrated against the last evaluation, says that the goal may have been reached, and every tenth sweep.
#pragma once

#include "stickslip/solvers/anderson.hpp"
#include "stickslip/solvers/contact_system.hpp"

namespace stickslip {

enum class Acceleration { none, anderson, conjugate };

struct SweepLimits {
  int sweeps = 200;
  /// End early once more than this many further sweeps are predicted from the rate of the last ones; 0: never.
  int predicted = 0;
  Acceleration acceleration = Acceleration::anderson;
  bool backward = false;
  int window = 20;  ///< sweeps over which the rate is measured
};

template <int N>
class AcceleratedSweeps {
 public:
  /// r: start, and the best point found (padded). Returns its error; iterations counts sweeps.
  double solve(const ContactSystem<N>& system, const ContactGoal& goal, const SweepLimits& limits, double* r,
               double* slip, int& iterations);

 private:
  Anderson anderson_;
  /// Writes the next point into x_; returns |g - x|².
  double conjugate_step(bool first, ThreadPool* threads);

  double last_square_ = 0;
  std::vector<double> squares_;  // of each piece
  std::vector<double> x_, g_, u_, best_, weights_, p_;
};

}  // namespace stickslip
