// SPDX-License-Identifier: Apache-2.0
// How far a run has been from its bilateral constraints, beside the round-off of the terms of each row:
//
//   |g_i|            against  s_i = |a_i| |q| + |rate_i| τ + |a_i| |h| τ²
//   |A_i v - rate_i| against  s_i = |a_i| |v| + |rate_i| + Σ_j |∂(A_i v - rate_i)/∂q_j q_j| + |a_i| |h| τ
//   |a_i|² = Σ_j A_ij²/M_jj,   |q|² = Σ_j M_jj q_j², q_j the reach of positions (position_reach.hpp), likewise |v|,
//   |h|² = Σ_j h_j²/M_jj the forces, τ the longest step
//
// |a_i| |q| bounds every term A_ij q_j and has the unit of the row, whatever the units of the coordinates are. A rod
// x² + y² - l² has s = 2 l²; a frame whose origin is far away has a large s, as its coordinates have fewer digits to
// spare. The time itself is not among the terms: a row is evaluated at the same t on both sides. The last term is what
// forces that the row cancels would do to it within a step: all there is for a row that rests at 0. Of both sides the
// largest of the run is taken, so that terms that vanish for a moment, or have not yet begun, do not make round-off a
// violation. A row with s below 1e-10 of the largest one, which no coordinate moves, is measured against that.
#pragma once

#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/motion/audit.hpp"
#include "stickslip/motion/memory.hpp"
#include "stickslip/motion/position_reach.hpp"

namespace stickslip {

/// For one run.
class ConstraintAudit final : public AuditPart {
 public:
  explicit ConstraintAudit(const System& system);
  /// Takes the state that a step of length dt has reached into account. side: 0, or where rows and rates of time may
  /// jump at the state's time, a short time towards the side the state belongs to; they are then the limits from that
  /// side.
  void add(const State& state, double dt, double side = 0);
  /// constraint_position and constraint_velocity: the largest residual so far of the row that is worst relative to its
  /// terms, against round-off of these.
  void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;
  void exchange(Memory& memory) override;
  void account(const AuditLedger& /*run*/) override {}  ///< add() has

 private:
  void find_rows(const State& state, double side);

  const System& system_;
  SystemWorkspace workspace_;
  PositionReach reach_;
  ConstraintRows rows_, further_;
  DenseMatrix by_q_;
  Vector inertia_, force_;
  Vector position_, velocity_, position_terms_, velocity_terms_;  ///< per row, largest of the run
  double longest_ = 0;                                            ///< step [s]
};

}  // namespace stickslip
