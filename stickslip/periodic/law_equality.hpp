// SPDX-License-Identifier: Apache-2.0
// Laws as equalities E = 0 at one instant, with exact generalised derivatives. E has the unit of a force.
//
//   friction, -u ∈ N_C(r), C of limit c (interval, disk, polygon, box)
//     projection   E = r - P_C(r - ρ u)                                           [ρ: N s/m]
//     min          E = min(ρ |u|, c - |r|)                                        paper 5, (4); one component
//     max          E = ρ |u| - max(ρ |u| - (c - |r|), 0)                          paper 5, (5); one component
//   contact, 0 <= g ⊥ r_N >= 0, friction of limit μ r_N
//     projection   E_N = r_N - max(r_N - ρ_N g, 0)                                paper 5, (2)  [ρ_N: N/m]
//                  E_T = r_T - P_C(r_T - ρ u_T), C of limit μ max(r_N, 0)
//
// `min` and `max` hold |r| and |u| alone: they are solved as well by friction that drives the motion. They are here for
// comparison with the paper; `projection` is equivalent to the law, its direction included.
//
// smoothing ε > 0 rounds the corners off, in units of c (or of `force`, the size of the normal force), for a start:
//   interval, disk   P(z) = c s(|z|/c) z/|z|,   s(y) = ½ (√((y + 1)² + ε²) - √((y - 1)² + ε²))
//   max(z, 0)        ½ (z + √(z² + ε² force²))
// Polygons and boxes are smoothed as the disk and component by component. ε = 0 is the law.
#pragma once

#include <array>
#include <string_view>

#include "stickslip/laws/set.hpp"

namespace stickslip {

enum class LawForm { projection, min, max };
std::string_view to_string(LawForm form);
/// Throws InputError naming the nearest known word.
LawForm law_form_from(std::string_view name);

/// E and its derivatives; row-major, up to three components.
struct LawEquality {
  std::array<double, 3> value{};
  std::array<double, 9> by_r{}, by_u{};
  std::array<double, 3> by_c{};    ///< friction: by the limit
  std::array<double, 3> by_gap{};  ///< contact
};

/// r, u: set.size components, set.limit = c.
LawEquality friction_equality(LawForm form, const Set& set, const double* r, const double* u, double rho,
                              double smoothing);

/// r = (r_N, r_T...), u likewise (u_N is not used). `set` is the cone; gap [m]; `force` > 0 [N].
LawEquality contact_equality(LawForm form, const Set& set, const double* r, const double* u, double gap, double rho_n,
                             double rho, double smoothing, double force);

}  // namespace stickslip
