// SPDX-License-Identifier: Apache-2.0
// The disk |r| <= c in the plane, c >= 0: isotropic planar friction with limit c.
#pragma once

#include <span>

#include "stickslip/laws/metric.hpp"

namespace stickslip {

/// z inside stays; outside, p = c z/|z|.
void project_on_disk(double c, std::span<const double, 2> z, std::span<double, 2> p);

/// Inside and on the rim I; outside (c/|z|)(I - e eᵀ), e = z/|z|. Row-major. Zero for c = 0.
void disk_jacobian(double c, std::span<const double, 2> z, std::span<double, 4> jacobian);

/// p = argmin over |p| <= c of ½ (p - z)ᵀ G (p - z). Returns the multiplier ν >= 0 of the rim, in the unit of G:
///
///     (G + ν I) p = G z,      ν (|p| - c) = 0,      hence  G (p - z) = -ν p
///
/// (paper 3, the tangential law: with G the inverse damping, -ν p is the slip velocity). z inside gives ν = 0; c = 0
/// with z ≠ 0 gives p = 0 and ν = ∞.
///
/// With eigenvalues λ_i of G and components y_i of z along its eigenvectors, |p(ν)| = c is the secular equation
/// Σ (λ_i y_i / (λ_i + ν))² = c². It is solved for 1/|p(ν)| = 1/c, increasing and concave in ν, by Newton inside the
/// bracket max_i λ_i (|y_i|/c - 1)⁺ <= ν <= max_i λ_i (√2 |y_i|/c - 1): at the lower end no single term exceeds c,
/// so |p| <= √2 c, and Newton climbs from there without overshoot; bisection stands by for rounding. p is finally put
/// on the rim.
///
/// Accuracy: p solves the problem for a G perturbed by rounding, so p itself moves by about ε·cond(G)·|z| at worst.
double project_on_disk_in_metric(double c, const Metric& g, std::span<const double, 2> z, std::span<double, 2> p);

}  // namespace stickslip
