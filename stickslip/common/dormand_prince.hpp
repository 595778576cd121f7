// SPDX-License-Identifier: Apache-2.0
// Explicit Runge-Kutta method of Dormand and Prince of order 8 with error estimates of order 5 and 3 ("DOP853"), for
// problems that are not stiff.
//
//   k_i = f(t + c_i h, y + h Σ_j<i a_ij k_j),  i = 1..12,      y_1 = y + h Σ b_i k_i
//   err = h |E5|² / sqrt(n (|E5|² + 0.01 |E3|²)),   E5 = Σ e5_i k_i,  E3 = Σ e3_i k_i,  norms in units of w
//
// Order 8; dense output of degree 7 with local error O(h⁸) from f at the end (which the next step reuses) and three
// more evaluations.
//
// Source: Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, 2nd ed. 1993, II.5 (method, estimate),
// II.6 (dense output, eq. 6.13 ff.), II.4 (first step, step control eq. 4.13). Departures: PI control with exponents
// 1/8 - 0.2 β and β = 0.04 by default, since a step size that jumps costs rejected steps; the dense output is kept as
// monomials.
#pragma once

#include <array>
#include <functional>

#include "stickslip/common/ode.hpp"

namespace stickslip {

class DormandPrince final : public OdeIntegrator {
 public:
  explicit DormandPrince(const OdeOptions& options = {}) : OdeIntegrator(options) {}

  bool single_step(OdeFunction f, double t0, const Vector& y0, double h, Vector& y1) override;
  int degree() const override { return 7; }
  int order() const override { return 8; }
  /// h times the fastest rate of f up to which steps are stable: beyond, that and not the error limits them.
  static constexpr double kStable = 6.1;

 private:
  static constexpr int kStages = 12, kDenseStages = 16;

  void resize(Index n) override;
  void forget() override;
  Trial attempt(OdeFunction f, double h) override;
  int estimate_order() const override { return 8; }

  bool stages(OdeFunction f, double t0, const Vector& y0, double h, int first, int end);
  void combine(const Vector& y0, double h, int row, Vector& y) const;
  double error(double h) const;
  bool make_dense(OdeFunction f, double h);
  Trial reject(double h_next);

  std::array<Vector, kDenseStages> k_;
  Vector stage_y_;
  double last_error_ = 1e-4;  // of the last accepted step
  bool rejected_before_ = false;
};

}  // namespace stickslip
