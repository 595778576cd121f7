// SPDX-License-Identifier: Apache-2.0
// Switches of compliant contacts along a run: the index sets of the source as they change, and what finding them cost.
#pragma once

#include <cmath>
#include <optional>
#include <vector>

#include "stickslip/motion/audit.hpp"
#include "stickslip/motion/compliant/compliant_contacts.hpp"

namespace stickslip {

class SwitchAudit final : public AuditPart {
 public:
  /// finitely_many: polygonal cones alone, for which the source promises finitely many switches in a finite time.
  explicit SwitchAudit(bool finitely_many) : finitely_many_(finitely_many) {}

  long evaluations = 0;                 ///< of the motion, of the steps that count
  std::optional<double> velocity_jump;  ///< largest at a switch; none: velocities are continuous [m/s or rad/s]
  long switches() const { return run_.switches; }
  /// Time between two instants with switches; infinite where there are not two. [s]
  double shortest() const { return run_.shortest; }

  /// So many points switch at t.
  void add(double t, long points);

  void account(const AuditLedger& /*run*/) override {}  ///< add() has
  void exchange(Memory& memory) override;
  void add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const override;

 private:
  struct Run {
    long switches = 0;
    double last = -HUGE_VAL, shortest = HUGE_VAL;
  } run_;
  bool finitely_many_;
};

/// Contacts of polygonal cones, or with one tangent, alone.
bool only_polygons(const std::vector<ContactElement>& contacts);

/// Points that do something else than before.
long changes(const std::vector<ContactPieces>& before, const std::vector<ContactPieces>& after);

/// Takes what the contacts do into the state of the record; every change is an event at t.
void note_modes(const CompliantContacts& contacts, double t, StepRecord& record);

}  // namespace stickslip
