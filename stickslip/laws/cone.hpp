// SPDX-License-Identifier: Apache-2.0
// Contact cones, normal component first: z = (z_N, z_T), coefficient μ >= 0.
//
//     Coulomb    K = { r_N >= 0, |r_T| <= μ r_N }                               in 2 or 3 components
//     polygonal  K = { r_N >= 0, r_T ∈ r_N S },  S a polygon of radius μ        in 3 components (box: S a square)
//
// Projection on the Coulomb cone, with t = |z_T|:
//
//     t <= μ z_N, z_N >= 0   z                                   (inside)
//     μ t <= -z_N            0                                   (polar cone)
//     else                   n (1, μ z_T/t),  n = (z_N + μ t)/(1 + μ²)
//
// Projection on a polygonal cone. The planes through the axis and the edges are mirror planes, so only the facet in
// whose sector z_T lies matters. Let a, t be the components of z_T along that facet's normal and tangent, α and β the
// apothem and half edge of S:
//
//     a <= α z_N, z_N >= 0                        z                                                      (inside)
//     |t| <= β n,  n = (z_N + α a)/(1 + α²)       (n, α n, t)                                            (facet)
//     l > 0,  l = (z_N + α a + β|t|)/(1+α²+β²)    l (1, α, ±β), sign of t                                (edge)
//     else                                        0                                                      (apex)
//
// Jacobians are row-major, symmetric; at kinks they come from the piece listed first, at the apex from the inside
// (that is, the limit of largest rank). μ = 0 is the half-line: diag(1 if z_N >= 0 else 0, 0, 0).
#pragma once

#include <span>

#include "stickslip/laws/polygon.hpp"

namespace stickslip {

/// z, p of 2 or 3 components.
void project_on_friction_cone(double mu, std::span<const double> z, std::span<double> p);
void friction_cone_jacobian(double mu, std::span<const double> z, std::span<double> jacobian);

void project_on_polygonal_cone(const Polygon& section, std::span<const double, 3> z, std::span<double, 3> p);
void polygonal_cone_jacobian(const Polygon& section, std::span<const double, 3> z, std::span<double, 9> jacobian);

}  // namespace stickslip
