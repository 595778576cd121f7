// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/reaction_audit.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/memory.hpp"

namespace stickslip {

void ReactionAudit::add(const Vector& of_all, const Vector& of_followed, const Vector& of_projection,
                        const Vector& inverse_inertia, double dt) {
  constexpr double kNone = 1e-4;  // of the reactions of a step: a followed one below that is no part of the motion
  const auto size = [&](const Vector& momentum) { return std::sqrt(momentum.cwiseAbs2().dot(inverse_inertia)); };
  const double given = size(of_followed), rest = size(of_projection);
  raise(largest_force_, std::max(given + rest, kNone * size(of_all)) / dt);
  if (largest_force_ > 0) raise(projected_, rest / (largest_force_ * dt));
}

void ReactionAudit::exchange(Memory& memory) {
  memory.exchange(largest_force_);
  memory.exchange(projected_);
}

void ReactionAudit::add_items(const AuditLedger& /*run*/, const AuditLimits& /*limits*/,
                              std::vector<AuditItem>& items) const {
  constexpr double kResolved = 0.05;
  items.push_back(guaranteed("constraint_reaction", projected_, kResolved, "",
                             "share of the reactions of a step that friction which follows them has not seen",
                             "reduce run.step, or use the scheme event"));
}

}  // namespace stickslip
