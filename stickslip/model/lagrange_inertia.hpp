// SPDX-License-Identifier: Apache-2.0
// Inertia of a system from its kinetic energy T(q, v) = ½ vᵀ M(q) v, with q' = v (Lagrange):
//
//   d/dt ∂T/∂v - ∂T/∂q = M v' - c,     M = ∂²T/∂v²,     c(q, v) = ∂T/∂q - (∂²T/∂v∂q) v
//
// T must be quadratic in v; this is checked at random points. Then ∂T/∂v is linear in v, and the third derivatives that
// the slopes of c need follow from second ones, exactly:
//   ∂³T/∂v_i∂v_k∂q   = ∂²T/∂v_i∂q at v = e_k
//   ∂³T/∂v_i∂q∂q     = [∂²T/∂q∂q (v + σ e_i) - ∂²T/∂q∂q (v - σ e_i)] / 2σ,    σ = |v|_∞, or 1 at rest
// Derivatives are those of StateFunction, in its layout (t, q, v, i).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stickslip/model/matrix_layout.hpp"
#include "stickslip/model/state_function.hpp"

namespace stickslip {

class LagrangeInertia {
 public:
  /// T of the coordinates and velocities alone. Throws InputError if it is not quadratic in the velocities.
  LagrangeInertia(StateFunction kinetic_energy, const std::vector<std::string>& coordinates);

  double energy(std::span<const double> x) const { return T_(x); }
  /// M depends on q, so that c is not 0.
  bool varies() const { return varies_; }
  /// M_ij; the velocities in x must be 0.
  double mass(std::span<const double> x, Index i, Index j) const {
    return T_.second_derivative(x, velocity_slot(i), velocity_slot(j));
  }
  /// h += c. `second`: scratch, as long as x.
  void add_force(std::span<const double> x, std::vector<SecondDual>& second, Vector& h) const;
  /// Adds ∂c/∂q and ∂c/∂v; both matrices hold all n × n entries.
  void add_slopes(std::span<const double> x, std::vector<SecondDual>& second, const MatrixLayout& layout_q,
                  double* by_q, const MatrixLayout& layout_v, double* by_v) const;

 private:
  Index velocity_slot(Index k) const { return 1 + n_ + k; }
  void seed(std::span<const double> x, std::vector<SecondDual>& second) const;
  double along(std::vector<SecondDual>& second, Index slot) const;
  void require_quadratic(const std::vector<std::string>& coordinates) const;

  StateFunction T_;
  Index n_;
  bool varies_;
};

}  // namespace stickslip
