// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/compliant/switch_audit.hpp"

#include <algorithm>

#include "stickslip/motion/memory.hpp"

namespace stickslip {

void SwitchAudit::add(double t, long points) {
  if (t > run_.last) {
    if (run_.switches > 0) run_.shortest = std::min(run_.shortest, t - run_.last);
    run_.last = t;
  }
  run_.switches += points;
}

void SwitchAudit::exchange(Memory& memory) {
  memory.exchange(evaluations);
  bool jumps = velocity_jump.has_value();
  double largest = velocity_jump.value_or(0.0);
  memory.exchange(jumps);
  memory.exchange(largest);
  velocity_jump = jumps ? std::optional<double>(largest) : std::nullopt;
  memory.exchange(run_.switches);
  memory.exchange(run_.last);
  memory.exchange(run_.shortest);
}

void SwitchAudit::add_items(const AuditLedger& /*run*/, const AuditLimits& /*limits*/,
                            std::vector<AuditItem>& items) const {
  items.push_back(reported("evaluations", static_cast<double>(evaluations), "", "evaluations of the right-hand side"));
  items.push_back(reported("switches", static_cast<double>(run_.switches), "",
                           "changes of what a contact does: open, stick, slip, the facets its force lies on"));
  if (velocity_jump)
    items.push_back(reported("velocity_jump", *velocity_jump, "m/s, rad/s", "largest jump of a velocity at a switch"));
  if (!std::isfinite(run_.shortest)) return;
  items.push_back(reported(
      "shortest_between_switches", run_.shortest, "s",
      finitely_many_ ? "smallest time between two switches; with polygonal cones the theory promises finitely many "
                       "in any finite time"
                     : "smallest time between two switches of this run; for round cones the theory does not "
                       "promise that there are finitely many, this run merely shows it"));
}

bool only_polygons(const std::vector<ContactElement>& contacts) {
  return std::all_of(contacts.begin(), contacts.end(),
                     [](const ContactElement& law) { return law.tangents < 2 || !law.section().round(); });
}

long changes(const std::vector<ContactPieces>& before, const std::vector<ContactPieces>& after) {
  long count = 0;
  for (std::size_t k = 0; k < after.size(); ++k) count += k >= before.size() || !(before[k] == after[k]);
  return count;
}

void note_modes(const CompliantContacts& contacts, double t, StepRecord& record) {
  State& s = record.state;
  for (std::size_t k = 0; k < s.modes.size(); ++k) {
    const Mode after = contacts.mode(k);
    const ActiveFacets facets = contacts.facets(k), facets_before = k < s.facets.size() ? s.facets[k] : ActiveFacets{};
    std::optional<EventKind> kind = event_between(s.modes[k], after);
    if (!kind && k < s.facets.size() && !(facets == facets_before)) kind = EventKind::facet;
    if (kind) record.events.push_back({t, static_cast<int>(k), *kind, s.modes[k], after, 0, facets_before, facets});
    s.modes[k] = after;
    if (k < s.facets.size()) s.facets[k] = facets;
  }
}

}  // namespace stickslip
