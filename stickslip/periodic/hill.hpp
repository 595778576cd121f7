// SPDX-License-Identifier: Apache-2.0
// Floquet multipliers of a weighted residual by Hill's method: perturbations δ(t) e^{λt} with δ in the basis.
//
//   d/dt → ω ∂_θ + λ      (A0 + λ A1 + λ² A2) δ = 0,   δ = (displacements, reactions),   multipliers e^{λT}
//
// Solved as a generalised eigenvalue problem by QZ. Of the copies λ + ikω that Hill's determinant has, those with
// |Im λ| <= ω/2 count; of these the 2 nv with the largest real part. Laws that stick hold what they act on: their λ are
// at -∞, multipliers 0. The law holds in the mean of the basis only, so with switching the error is that of the
// residual, O(1/H); the monodromy of the polished orbit is exact.
#pragma once

#include "stickslip/periodic/weighted_residual.hpp"

namespace stickslip {

/// Empty where coordinates were eliminated, or the problem is larger than `largest` unknowns (QZ costs their cube).
Eigen::VectorXcd hill_multipliers(WeightedResidual& problem, const Vector& X, Index largest = 260);

}  // namespace stickslip
