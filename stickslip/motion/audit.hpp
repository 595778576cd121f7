// SPDX-License-Identifier: Apache-2.0
// Every run is audited: how well each step satisfied its law and its equation, and where the energy went.
//
//   inclusion     natural map of (*), largest over the steps, relative to the momentum of the step
//   set           distance of a reaction from its set, relative to the largest reaction
//   energy        unexplained energy over the largest energy or work of the run, or what the impulses of a step could
//   do
//
// A scheme has further parts (AuditPart) for what it alone measures; an item that a scheme does not measure is not
// there. step_audit.hpp, contact_audit.hpp and constraint_audit.hpp are shared by those that solve for momentum, hold
// laws at rest, have contacts and constraints.
//
// A scheme guarantees some of these up to a limit (AuditItem::limit). A run that breaks a guarantee has failed; the
// rest is reported and never hidden.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "stickslip/motion/step.hpp"

namespace stickslip {

class Memory;

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
  double inclusion = 0, membership = 0;
  double longest = 0;            ///< step [s]
  double energy_at_hand = 0;     ///< largest of T + |U|, |work_in|, losses [J]
  double energy_scale = 0;       ///< the same, or what the impulses of one step would make one by one [J]
  double largest_gap = 0;        ///< largest |unexplained| so far
  EnergyLedger energy;           ///< after the last step
  double final_penetration = 0;  ///< of a search at the end [m]
  long steps = 0, problems = 0;  ///< parts of a cut step count each
  void add(const StepRecord& record);
};

/// What a scheme guarantees for a system.
struct AuditLimits {
  bool energy = false;            ///< the scheme closes the energy balance
  double energy_limit = 0;        ///< of the scheme itself; 0: round-off of the steps
  bool stuck_motion = false;      ///< the scheme sticks exactly
  double stuck_motion_limit = 0;  ///< of the path that laws could have made
  double inclusion = 1e-10;
  double set = 1e-12;
  std::string finer = "reduce run.step";  ///< what makes the motion more accurate
  std::string closer = finer;             ///< what makes laws hold more closely
  /// Each step closes to round-off and to the tolerance of its iteration; these add up over the steps.
  double energy_bound(long steps) const;
};

/// What some schemes measure and others do not: filled in the steps of a run, summed up step by step.
class AuditPart {
 public:
  virtual ~AuditPart() = default;
  /// The last step counts; `run` holds it already.
  virtual void account(const AuditLedger& run) = 0;
  /// The sums, written or read.
  virtual void exchange(Memory& memory) = 0;
  virtual void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const = 0;
};

/// Items of all schemes, and those of the parts of this one.
std::vector<AuditItem> audit_report(const AuditLedger& ledger, const AuditLimits& limits,
                                    std::span<AuditPart* const> parts = {});
bool passed(const std::vector<AuditItem>& audit);
/// What failed, by how much, and what helps.
std::string audit_message(const std::vector<AuditItem>& audit);

}  // namespace stickslip
