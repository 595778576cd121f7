// SPDX-License-Identifier: Apache-2.0
// What schemes measure in every step that solve a balance of momentum, or hold laws at rest.
//
//   momentum      |A v - g - W p|, weighed by A_ii^(-1/2), over the largest |g_i| + Σ |W_ik p_k| of the run so far
//   stuck_motion  path travelled by laws while stuck, summed over the steps [m, rad]; to round-off of the velocities
#pragma once

#include "stickslip/motion/audit.hpp"

namespace stickslip {

class MomentumAudit final : public AuditPart {
 public:
  double step = 0;  ///< balance of momentum of the step, relative to its terms in this and earlier steps

  void account(const AuditLedger& run) override;
  void exchange(Memory& memory) override;
  void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;

 private:
  double largest_ = 0;
};

class StickAudit final : public AuditPart {
 public:
  struct Step {
    double motion = 0;  ///< largest |u| dt of a law that sticks through the whole step [m or rad]
    double terms = 0;   ///< dt times the velocities that cancel in that u [m or rad]
  } step;

  void account(const AuditLedger& run) override;
  void exchange(Memory& memory) override;
  void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;

 private:
  Step sum_;
};

}  // namespace stickslip
