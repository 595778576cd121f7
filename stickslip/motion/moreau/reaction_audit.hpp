// SPDX-License-Identifier: Apache-2.0
// Where friction follows the reactions of constraints: the momenta that projections gave beside those of the reactions
// that laws have seen,
//
//   max |M Δv| / (Δt |F|),    F = Aᵀ Λ/Δt,  |x|² = Σ_j x_j²/M_jj,    |F| the largest so far
//
// O(h²) in a motion that the steps resolve. A step whose reactions act over a part of it only leaves the rest to the
// projection, and its laws have had a wrong limit.
#pragma once

#include "stickslip/common/vector.hpp"
#include "stickslip/motion/audit.hpp"

namespace stickslip {

class ReactionAudit final : public AuditPart {
 public:
  /// Aᵀ Λ of the reactions of a step of length dt, and M Δv of the projection after it. [N s, N m s]
  void add(const Vector& of_reactions, const Vector& of_projection, const Vector& inverse_inertia, double dt);
  void account(const AuditLedger& /*run*/) override {}  ///< add() has
  void exchange(Memory& memory) override;
  void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;

 private:
  double largest_force_ = 0, projected_ = 0;
};

}  // namespace stickslip
