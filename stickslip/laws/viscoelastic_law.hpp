// SPDX-License-Identifier: Apache-2.0
// A stiff spring-damper whose force cannot leave the interval or the disk of Coulomb friction: stick, slide and roll in
// one law.
//
//   s = ζ + D u,      Λ = proj_C(s),      ζ' = (K/D) (Λ - ζ)          C = { |Λ| <= c }
//
//   u   velocity of the row, Wᵀ v - w (1 or 2 components)              [m/s]
//   ζ   elastic force K z of the deformation z, the state of the law   [N]
//   Λ   force of the law; the system feels -W Λ                        [N]
//   K   stiffness, D damping, c limit (infinite: a constraint)         [N/m, N s/m, N]
//
// Inside the disk Λ = s, hence ζ' = K u: z follows u (paper 4, eq. 5). On the rim Λ - D z' = K z still holds, with z
// now slower than u: the rest u - z' = (s - Λ)/D is slip, along Λ (paper 3, the tangential law, with a damping that is
// the same in all directions). Λ is continuous in (ζ, u), and differentiable except on |s| = c.
//
//   power taken out   Λ·u = ζ·z'  (stored)  + (Λ - ζ)·z' = D |z'|²  (damper)  + Λ·(u - z') >= 0  (friction)
#pragma once

#include <array>
#include <limits>

namespace stickslip {

struct ViscoelasticLaw {
  double K = 1;  ///< > 0
  double D = 0;  ///< >= 0; > 0 where there is a limit
  int size = 1;  ///< 1 or 2 components
};

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct ViscoelasticForce {
  std::array<double, 2> force{};  ///< Λ
  std::array<double, 2> rate{};   ///< ζ'
  bool slips = false;             ///< on the rim
};

/// zeta and u point to `size` numbers.
ViscoelasticForce viscoelastic_force(const ViscoelasticLaw& law, double limit, const double* zeta, const double* u);

/// ∂Λ/∂s (row-major, size × size used) and ∂Λ/∂c. Then ∂Λ/∂ζ = P, ∂Λ/∂u = D P, ∂ζ'/∂ζ = (K/D)(P - 1), ∂ζ'/∂u = K P,
/// ∂ζ'/∂c = (K/D) ∂Λ/∂c.
struct ViscoelasticSlopes {
  std::array<double, 4> by_s{1, 0, 0, 1};
  std::array<double, 2> by_limit{};
  bool slips = false;
};
ViscoelasticSlopes viscoelastic_slopes(const ViscoelasticLaw& law, double limit, const double* zeta, const double* u);

}  // namespace stickslip
