// SPDX-License-Identifier: Apache-2.0
// Velocity weakening γ of dry friction: while slipping at the relative velocity v the friction force falls from its
// Coulomb limit c towards (1 - β) c. With λ ∈ Sgn(v) the force on the body is (paper 1, section 1)
//
//     -c (λ - γ(v)),      γ odd, non-decreasing, Lipschitz,  γ(0) = 0,  γ(v) → ±β as v → ±∞,  0 <= β < 1.
//
//   shape         γ(v)                          γ'(v)
//   none          0                             0
//   algebraic     β v/√(v² + ε²)                β ε²/(v² + ε²)^(3/2)
//   arctan        (2β/π) atan(v/ε)              (2β/π) ε/(v² + ε²)
//   tanh          β tanh(v/ε)                   (β/ε)/cosh²(v/ε)
//   clamp         β clamp(v/ε, -1, 1)           β/ε for |v| <= ε (the inner slope at the kink), else 0
//   exponential   β sgn(v) (1 - exp(-|v|/ε))    (β/ε) exp(-|v|/ε)
//
// β has no unit; ε and v are in m/s (or rad/s). β < 1 keeps friction dissipative: v (λ - γ(v)) >= (1 - β) |v|.
// Paper 1 prints β > 0 and leaves γ to its first part; β = 0 is accepted here as "no weakening", and the algebraic
// shape is an assumption of ours for its example.
#pragma once

#include <array>
#include <string_view>

namespace stickslip {

enum class WeakeningShape { none, algebraic, arctan, tanh, clamp, exponential };

/// Names in the order of the enumerators.
inline constexpr std::array<std::string_view, 6> weakening_shape_names{"none", "algebraic", "arctan",
                                                                       "tanh", "clamp",     "exponential"};

struct Weakening {
  WeakeningShape shape = WeakeningShape::none;
  double beta = 0.0;     ///< β, limit of γ, in [0, 1)
  double epsilon = 1.0;  ///< ε, velocity scale, > 0
};

std::string_view to_string(WeakeningShape shape);

/// Throws InputError, listing the names, for an unknown one.
WeakeningShape weakening_shape_from(std::string_view name);

/// Throws InputError naming value and relation unless 0 <= β < 1 and 0 < ε < ∞. Shape `none` reads neither.
void validate(const Weakening& weakening);

/// γ(v)
double weakening(const Weakening& weakening, double v);

/// γ'(v), in s/m (or s/rad)
double weakening_slope(const Weakening& weakening, double v);

}  // namespace stickslip
