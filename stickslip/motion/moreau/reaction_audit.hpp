// SPDX-License-Identifier: Apache-2.0
// Where friction follows the reactions of constraints: the momenta that projections gave beside those of the reactions
// that laws have seen,
//
//   max |Aᵀ Λ'| / (Δt |F|),    M Δv = Aᵀ Λ',   F = Aᵀ Λ/Δt,   |x|² = Σ_j x_j²/M_jj,    |F| the largest so far
//
// Λ, Λ' of the constraints that some limit follows; |F| at least 1e-4 of all the reactions of a step, so that where the
// followed one vanishes its round-off near singular positions is not weighed against itself.
//
// O(h²) in a motion that the steps resolve. A step whose reactions act over a part of it only leaves the rest to the
// projection, and its laws have had a wrong limit.
#pragma once

#include "stickslip/common/vector.hpp"
#include "stickslip/motion/audit.hpp"

namespace stickslip {

class ReactionAudit final : public AuditPart {
 public:
  /// Of a step of length dt: Aᵀ Λ of all its reactions, of those that are followed, and Aᵀ Λ' of these in the
  /// projection M Δv = Aᵀ Λ' after it. [N s, N m s]
  void add(const Vector& of_all, const Vector& of_followed, const Vector& of_projection, const Vector& inverse_inertia,
           double dt);
  void account(const AuditLedger& /*run*/) override {}  ///< add() has
  void exchange(Memory& memory) override;
  void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;

 private:
  double largest_force_ = 0, projected_ = 0;
};

}  // namespace stickslip
