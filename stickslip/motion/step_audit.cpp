// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/step_audit.hpp"

#include "stickslip/motion/fixed_step.hpp"
#include "stickslip/motion/memory.hpp"

namespace stickslip {

namespace {
constexpr double kMomentum = 1e-10;  // of the terms: solutions of ill-conditioned steps lose five digits of round-off
}  // namespace

void MomentumAudit::account(const AuditLedger& /*run*/) { raise(largest_, step); }

void MomentumAudit::exchange(Memory& memory) { memory.exchange(largest_); }

void MomentumAudit::add_items(const AuditLedger& /*run*/, const AuditLimits& /*limits*/,
                              std::vector<AuditItem>& items) const {
  items.push_back(
      guaranteed("momentum", largest_, kMomentum, "",
                 "balance of momentum of each step, largest residual over the momentum at hand",
                 "masses, stiffnesses or limits are too far apart for 16 digits: bring them closer; or forces "
                 "jump at times that were not all found (a note says so)"));
}

void StickAudit::account(const AuditLedger& /*run*/) {
  sum_.motion += step.motion;
  sum_.terms += step.terms;
}

void StickAudit::exchange(Memory& memory) { memory.exchange(sum_); }

void StickAudit::add_items(const AuditLedger& /*run*/, const AuditLimits& limits, std::vector<AuditItem>& items) const {
  const char* meaning = "path travelled by laws while they stick";
  items.push_back(limits.stuck_motion ? guaranteed("stuck_motion", sum_.motion, limits.stuck_motion_limit * sum_.terms,
                                                   "m", meaning, limits.closer)
                                      : reported("stuck_motion", sum_.motion, "m", meaning));
}

}  // namespace stickslip
