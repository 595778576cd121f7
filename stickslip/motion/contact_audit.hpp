// SPDX-License-Identifier: Apache-2.0
// What schemes with contacts keep of them, step by step, and the items of the audit that follow.
//
//   penetration       largest at a contact on the way [m]
//   penetration_steps the same beyond what counts as touching, over the way of one step at the fastest approach that
//   its
//                     contact has seen: in any unit, be it an angle or a length
//   penetration_end   the same at the end of the run, by a search of its own; a few steps of the fastest approach are
//                     what time stepping can leave
//   contact_velocity  |min(u_N, p_N/m)| after a step, m the mass at the contact, over the velocities at hand there:
//   sees a
//                     contact that gives way however heavy its neighbours are
//   contact_gain      kinetic energy made by contacts: Newton's impact law with friction can; contacts with e = 0, the
//                     energetic law, and Poisson's with one e or without friction cannot (solvers/impact.hpp)
#pragma once

#include <vector>

#include "stickslip/motion/audit.hpp"
#include "stickslip/motion/memory.hpp"

namespace stickslip {

/// What a scheme says of its contacts.
struct ContactGuarantees {
  double velocity = 0;       ///< limit of contact_velocity; 0: it is not recorded
  double length = 0;         ///< smallest shape, 0: none [m]
  double steps = 0;          ///< limit of penetration_steps; 0: it is not recorded
  double depth = 0;          ///< limit of penetration [m]; 0: it is reported
  bool ends_outside = true;  ///< penetration_end is bounded; false: reported
  bool no_gain = true;       ///< impacts_never_gain(): contacts cannot make energy
  double gain = 0;           ///< of the energy at hand, that steps between two blows may make all the same
};

class ContactAudit final : public AuditPart {
 public:
  ContactGuarantees guarantees;
  /// Of one step; the scheme clears and fills it.
  struct Step {
    double penetration = 0;  ///< largest in the middle of the step, before it is corrected [m]
    double steps = 0;        ///< penetration_steps
    double approach = 0;     ///< fastest at which a contact point closes [m/s]
    double velocity = 0;     ///< left at a contact against its law, over the velocities at hand there
    double gain = 0;         ///< kinetic energy made by contacts, 0 where they take it [J]
    int iterations = 0;      ///< of the solver
    int near_misses = 0;     ///< inclusions accepted above the solver's tolerance, within the audit's limit
  } step;

  void account(const AuditLedger& run) override;
  void exchange(Memory& memory) override { memory.exchange(run_); }
  void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;

 private:
  struct Run {
    double penetration = 0, steps = 0, approach = 0, velocity = 0, gain = 0;  ///< largest; gain: sum
    long gaining_steps = 0, near_misses = 0;
    int most_iterations = 0, most_warm_iterations = 0;  ///< in one step; without the first step
  } run_;
};

}  // namespace stickslip
