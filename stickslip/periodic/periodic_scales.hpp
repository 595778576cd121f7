// SPDX-License-Identifier: Apache-2.0
// What is large in a periodic problem: sizes by which unknowns and equations become numbers without unit, and the
// scaling ρ of the projections.
//
//   f_i    largest force on coordinate i at the reference over the period, and what the laws put on it       [N]
//   x_i    f_i / (k_i + ω² m_i)                                                                              [m]
//   r_a    limit of the law at the reference; where it is 0, and for contacts, f of what it acts on          [N]
//   ρ      `rho` √(k m) of the law, m = 1/(wᵀM⁻¹w), k = wᵀKw/(wᵀw)² (m ω² where there is no spring)          [N s/m]
//   ρ_N    `rho` k                                                                                           [N/m]
// M and K by their diagonals.
#pragma once

#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/periodic/periodic_options.hpp"

namespace stickslip {

struct PeriodicScales {
  Vector x, f;                     ///< per coordinate
  Vector r;                        ///< per component of the laws: friction, then contacts
  std::vector<double> rho, rho_n;  ///< per law
};

PeriodicScales periodic_scales(const System& system, const PeriodicOptions& options, double t0,
                               const Vector& q_reference);

}  // namespace stickslip
