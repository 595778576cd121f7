// SPDX-License-Identifier: Apache-2.0
// Regular polygons about the origin: piecewise linear planar friction, and the sections of the piecewise linear cones.
//
// Conventions. A polygon of radius c has an even number n >= 4 of facets, is INSCRIBED in the disk of radius c (its
// vertices are admissible Coulomb forces; the inscribed polygon never exceeds the disk's limit, and falls short of it
// by the factor cos(π/n) at worst), and has its first vertex on the +t1 axis: vertices c (cos 2πk/n, sin 2πk/n),
// facet normals at the angles (2k+1) π/n. The polygon circumscribed about the disk of radius c has radius c/cos(π/n).
// The box |r_1| <= c, |r_2| <= c is the square with normals on the axes.
//
// An even n gives the symmetry C = -C of a friction law without preferred sign; it holds here to the last bit.
#pragma once

#include <span>

#include "stickslip/laws/metric.hpp"

namespace stickslip {

/// { r : n_k·r <= apothem, k = 0 .. facets-1 }, facet k being apothem·n_k + t τ_k, |t| <= half_edge.
struct Polygon {
  int facets;
  double apothem;
  double half_edge;
  int first_normal;  ///< angle of n_0 in units of π/facets: 1 for a vertex on the +t1 axis, 0 for a normal on it
};

Polygon inscribed_polygon(double c, int facets);
Polygon box_polygon(double c);

/// One facet: unit outward normal n; its tangent τ = (-n2, n1) runs counter-clockwise.
struct Facet {
  double n1;
  double n2;
};

/// Facet k, counted counter-clockwise, any integer k (modulo facets).
Facet facet(const Polygon& polygon, int k);

/// The facet whose sector (seen from the origin) contains z. The rays that bound a sector pass through vertices and
/// are mirror lines of the polygon, so the projection of z, and the point that maximises z·r, lie in the same sector:
/// this one facet replaces the enumeration of all, exactly.
Facet facet_towards(const Polygon& polygon, double z1, double z2);

void project_on_polygon(const Polygon& polygon, std::span<const double, 2> z, std::span<double, 2> p);

/// Row-major. Inside and on the boundary I; projected on a facet, its ends included, τ τᵀ; on a vertex 0. Zero for
/// radius 0.
void polygon_jacobian(const Polygon& polygon, std::span<const double, 2> z, std::span<double, 4> jacobian);

/// sup of u·r over the polygon.
double polygon_support(const Polygon& polygon, double u1, double u2);

/// p = argmin over the polygon of ½ (p - z)ᵀ G (p - z), by walking the facets that z sees.
///
/// Along the chain of facets with n_k·z > apothem the objective is unimodal: if two points of the chain are within a
/// level ellipse, so is their triangle with z, and the chain between them lies in that triangle. So the minimum is at
/// the first place, in counter-clockwise order, where the slope -τᵀG(z - p) stops being negative. Comparing slopes
/// keeps the accuracy ε·cond(G)·|z| that G allows; comparing objective values would only give its square root.
void project_on_polygon_in_metric(const Polygon& polygon, const Metric& g, std::span<const double, 2> z,
                                  std::span<double, 2> p);

}  // namespace stickslip
