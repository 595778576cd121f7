// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

AuditItem guaranteed(std::string name, double value, double limit, std::string unit, std::string meaning,
                     std::string remedy) {
  return {std::move(name), value, limit, true, value <= limit, std::move(unit), std::move(meaning), std::move(remedy)};
}

AuditItem reported(std::string name, double value, std::string unit, std::string meaning) {
  return {std::move(name), value, 0, false, true, std::move(unit), std::move(meaning)};
}

void AuditLedger::add(const StepRecord& record) {
  raise(inclusion, record.inclusion);
  raise(membership, record.membership);
  raise(longest, record.duration);
  energy = record.energy;
  raise(energy_at_hand, energy.kinetic + std::abs(energy.potential));
  for (const double work : {energy.work_in, energy.friction_loss, energy.damper_loss, energy.impact_loss})
    raise(energy_at_hand, std::abs(work));
  energy_scale = std::max({energy_scale, record.energy_terms, energy_at_hand});
  raise(largest_gap, std::abs(energy.unexplained()));
  ++steps;
  problems += record.problems;
}

double AuditLimits::energy_bound(long steps) const {
  constexpr double kOnce = 1e-10, kPerStep = 1e-13;  // of the largest energy: the iteration's tolerance, round-off
  return std::max(energy_limit, kOnce + kPerStep * static_cast<double>(steps));
}

std::vector<AuditItem> audit_report(const AuditLedger& ledger, const AuditLimits& limits,
                                    std::span<AuditPart* const> parts) {
  const EnergyLedger& energy = ledger.energy;
  std::vector<AuditItem> items;
  items.push_back(guaranteed("inclusion", ledger.inclusion, limits.inclusion, "",
                             "friction and contact laws at the end of each step, largest relative residual",
                             limits.closer));
  items.push_back(guaranteed("set", ledger.membership, limits.set, "",
                             "reaction outside its limit, over the largest reaction", limits.closer));
  for (const AuditPart* part : parts) part->add_items(ledger, limits, items);
  const double relative = ledger.energy_scale > 0 ? ledger.largest_gap / ledger.energy_scale : ledger.largest_gap;
  const char* gap = "largest unexplained energy over the largest energy or work";
  items.push_back(limits.energy
                      ? guaranteed("energy", relative, limits.energy_bound(ledger.steps), "", gap, limits.finer)
                      : reported("energy", relative, "", gap));
  items.push_back(reported("energy_stored", energy.kinetic + energy.potential - energy.initial, "J",
                           "change of kinetic and potential energy"));
  items.push_back(reported("energy_work_in", energy.work_in, "J", "work of applied forces and moving surfaces"));
  items.push_back(reported("energy_friction_loss", energy.friction_loss, "J", "dissipated by friction"));
  items.push_back(reported("energy_damper_loss", energy.damper_loss, "J", "dissipated by dampers"));
  items.push_back(reported("energy_impact_loss", energy.impact_loss, "J",
                           "dissipated by impacts, with their friction where it comes out negative by itself"));
  items.push_back(
      reported("energy_unexplained", energy.unexplained(), "J", "made (+) or lost (-) by the discretisation"));
  return items;
}

bool passed(const std::vector<AuditItem>& audit) {
  return std::all_of(audit.begin(), audit.end(), [](const AuditItem& item) { return item.ok; });
}

std::string audit_message(const std::vector<AuditItem>& audit) {
  std::string message;
  for (const AuditItem& item : audit) {
    if (item.ok) continue;
    if (!message.empty()) message += "; ";
    if (!std::isfinite(item.value)) {
      message += fmt::format(
          "audit: {} is no number ({}): products of the numbers of this run are too large, or too small, to be written "
          "as "
          "numbers; choose other units",
          item.name, item.meaning);
    } else {
      message += fmt::format("audit: {} = {:.3g} is above the limit {:.3g} that the scheme guarantees ({}); {}",
                             item.name, item.value, item.limit, item.meaning, item.remedy);
    }
  }
  return message;
}

}  // namespace stickslip
