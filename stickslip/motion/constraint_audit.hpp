// SPDX-License-Identifier: Apache-2.0
// How far a state is from its bilateral constraints, beside the round-off of the terms of each row:
//
//   |g_i|            against  s_i = |a_i| |q| + |rate_i t| + |a_i| |h| τ²
//   |A_i v - rate_i| against  s_i = |a_i| |v| + |rate_i| + Σ_j |∂(A_i v - rate_i)/∂q_j q_j| + |a_i| |h| τ
//   |a_i|² = Σ_j A_ij²/M_jj,   |q|² = Σ_j M_jj q_j²,   likewise |v|,   |h|² = Σ_j h_j²/M_jj the forces, τ = max(step, |t|):
//   what they could do to a row that rests at 0. This last term grows with the time of the run, so that the limit is far
//   above round-off in long runs.
//
// |a_i| |q| bounds every term A_ij q_j and has the unit of the row, whatever the units of the coordinates are. A rod
// x² + y² - l² has s = 2 l²; a frame whose origin is far away has a large s, as its coordinates have fewer digits to
// spare. s_i is the largest so far: terms that vanish for a moment do not make round-off a violation.
#pragma once

#include "stickslip/model/system.hpp"
#include "stickslip/motion/step.hpp"

namespace stickslip {

/// Memory of record_constraint_residuals(), for one run.
struct ConstraintAudit {
  explicit ConstraintAudit(const System& system) : workspace(system.info()) {}
  SystemWorkspace workspace;
  ConstraintRows rows;
  DenseMatrix by_q;
  Vector position_terms, velocity_terms, inertia, force;
};

/// Sets constraint_position and constraint_velocity of the record, at its state, to the residual of the row that is
/// worst relative to its terms, and the terms beside them.
void record_constraint_residuals(const System& system, ConstraintAudit& audit, StepRecord& record);

}  // namespace stickslip
