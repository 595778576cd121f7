// SPDX-License-Identifier: Apache-2.0
// Every run is audited: how well each step satisfied its law and its equation, and where the energy went.
//
//   inclusion     natural map of (*), largest over the steps, relative to the momentum of the step
//   set           distance of a reaction from its set, relative to the largest reaction
//   momentum      |A v - g - W p|, weighed by A_ii^(-1/2), over the largest |g_i| + Σ |W_ik p_k| of the run so far
//   stuck_motion  path travelled by laws while stuck, summed over the steps [m, rad]; to round-off of the velocities
//   energy        unexplained energy over the largest energy or work of the run, or what the impulses of a step could do
//
// A scheme adds items of its own (Scheme::add_audit), with the numbers that it keeps for them: contact_audit.hpp and
// constraint_audit.hpp are shared by those that have contacts and constraints.
//
// A scheme guarantees some of these up to a limit (AuditItem::limit). A run that breaks a guarantee has failed; the
// rest is reported and never hidden.
#pragma once

#include <string>
#include <vector>

#include "stickslip/motion/step.hpp"

namespace stickslip {

struct AuditItem {
  std::string name;
  double value = 0;
  double limit = 0;  ///< of the guarantee; meaningless if not guaranteed
  bool guaranteed = false;
  bool ok = true;  ///< value <= limit, or not guaranteed
  std::string unit;
  std::string meaning;
  std::string remedy = {};  ///< what to do where it is not ok
};

AuditItem guaranteed(std::string name, double value, double limit, std::string unit, std::string meaning,
                     std::string remedy);
AuditItem reported(std::string name, double value, std::string unit, std::string meaning);

/// Running maxima and sums of what all schemes have, fed with every step that counts.
struct AuditLedger {
  double inclusion = 0, membership = 0, equation = 0, stuck_motion = 0;
  double stuck_terms = 0;        ///< sum [m or rad]
  double longest = 0;            ///< step [s]
  double energy_scale = 0;       ///< largest of T + |U|, |work_in|, losses
  double largest_gap = 0;        ///< largest |unexplained| so far
  EnergyLedger energy;           ///< after the last step
  double final_penetration = 0;  ///< of a search at the end [m]
  long steps = 0, problems = 0;  ///< parts of a cut step count each
  void add(const StepRecord& record);
};

/// What a scheme guarantees for a system of what all schemes have.
struct AuditLimits {
  bool energy = false;      ///< the scheme closes the energy balance
  double energy_limit = 0;  ///< of the scheme itself; 0: round-off of the steps
  double momentum = 1e-10;
  bool stuck_motion = false;      ///< the scheme sticks exactly
  double stuck_motion_limit = 0;  ///< of the path that laws could have made; of 1 m where that is not kept up
  double inclusion = 1e-10;
  double set = 1e-12;
  std::string finer = "reduce run.step";  ///< what makes the motion more accurate
  std::string closer = finer;             ///< what makes laws hold more closely
  /// Each step closes to round-off and to the tolerance of its iteration; these add up over the steps.
  double energy_bound(long steps) const;
};

/// Items of all schemes, with those of the scheme itself before the sums of energy.
std::vector<AuditItem> audit_report(const AuditLedger& ledger, const AuditLimits& limits,
                                    std::vector<AuditItem> of_the_scheme = {});
bool passed(const std::vector<AuditItem>& audit);
/// What failed, by how much, and what helps.
std::string audit_message(const std::vector<AuditItem>& audit);

}  // namespace stickslip
