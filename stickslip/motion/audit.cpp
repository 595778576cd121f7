// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
// Rows are projected to a few units in the last place of their terms; a long row adds up as many errors as it has
// terms.
constexpr double kPositionRoundOff = 1e2, kVelocityRoundOff = 1e3;  // times machine epsilon
constexpr double kInside = 0.01;        // of the smallest shape: deeper at the end of a run is inside
constexpr double kStepsOfApproach = 2;  // the way of that many steps is what the time stepping can leave

}  // namespace

void AuditLedger::add(const StepRecord& record) {
  raise(inclusion, record.inclusion);
  raise(membership, record.membership);
  raise(equation, record.equation);
  stuck_motion += record.stuck_motion;
  raise(penetration, record.penetration);
  contact_gain += record.contact_gain;
  stuck_terms += record.stuck_terms;
  raise(approach, record.approach);
  raise(longest, record.duration);
  raise(contact_velocity, record.contact_velocity);
  constraint_position = record.constraint_position;
  constraint_position_terms = record.constraint_position_terms;
  constraint_velocity = record.constraint_velocity;
  constraint_velocity_terms = record.constraint_velocity_terms;
  fast_damping = std::min(fast_damping, record.fast_damping);
  admissible_modes = std::max(admissible_modes, record.admissible_modes);
  loaded_points += record.loaded_points;
  iterations += record.iterations;
  near_misses += record.near_misses;
  most_iterations = std::max(most_iterations, record.iterations);
  if (steps > 0) most_warm_iterations = std::max(most_warm_iterations, record.iterations);
  const EnergyLedger& e = record.energy;
  double scale = std::max({energy_scale, record.energy_terms, e.kinetic + std::abs(e.potential)});
  for (const double work : {e.work_in, e.friction_loss, e.damper_loss, e.impact_loss})
    scale = std::max(scale, std::abs(work));
  energy_scale = scale;
  // A gain within round-off of the energy at hand is none.
  if (record.contact_gain > 1e-12 * energy_scale) ++gaining_steps;
  raise(largest_gap, std::abs(e.unexplained()));
  ++steps;
  problems += record.problems;
}

std::vector<AuditItem> audit_report(const AuditLedger& ledger, const EnergyLedger& energy, const AuditLimits& limits) {
  auto guaranteed = [](std::string name, double value, double limit, std::string unit, std::string meaning,
                       std::string remedy) {
    return AuditItem{std::move(name),  value, limit, true, value <= limit, std::move(unit), std::move(meaning),
                     std::move(remedy)};
  };
  auto reported = [](std::string name, double value, std::string unit, std::string meaning) {
    return AuditItem{std::move(name), value, 0, false, true, std::move(unit), std::move(meaning)};
  };
  const std::string finer = limits.own_steps ? "lower run.tolerance" : "reduce run.step";
  const std::string closer = limits.own_steps  ? "lower run.tolerance"
                             : limits.contacts ? "lower run.moreau.contact_tolerance, or reduce run.step"
                                               : "lower run.moreau.solver_tolerance";
  std::vector<AuditItem> items;
  items.push_back(guaranteed("inclusion", ledger.inclusion, limits.inclusion, "",
                             "friction and contact laws at the end of each step, largest relative residual", closer));
  items.push_back(guaranteed("set", ledger.membership, limits.set, "",
                             "reaction outside its limit, over the largest reaction", closer));
  items.push_back(guaranteed("momentum", ledger.equation, limits.momentum, "",
                             "balance of momentum of each step, largest residual over the momentum at hand",
                             "masses, stiffnesses or limits are too far apart for 16 digits: bring them closer"));
  const char* stuck = "path travelled by laws while they stick";
  const double stuck_limit = limits.stuck_motion_limit * ledger.stuck_terms;
  items.push_back(limits.stuck_motion ? guaranteed("stuck_motion", ledger.stuck_motion, stuck_limit, "m", stuck, closer)
                                      : reported("stuck_motion", ledger.stuck_motion, "m", stuck));
  const double relative = ledger.energy_scale > 0 ? ledger.largest_gap / ledger.energy_scale : ledger.largest_gap;
  const char* gap = "largest unexplained energy over the largest energy or work";
  // Each step closes to round-off and to the tolerance of its iteration; these add up over the steps.
  const double limit = std::max(limits.energy_limit, 1e-10 + 1e-13 * static_cast<double>(ledger.steps));
  items.push_back(limits.energy ? guaranteed("energy", relative, limit, "", gap, finer)
                                : reported("energy", relative, "", gap));
  if (limits.constraints) {
    const char* remedy =
        "the constraints are nearly dependent or far from the origin: move them closer, or leave one out";
    items.push_back(guaranteed("constraint_position", ledger.constraint_position,
                               kPositionRoundOff * kEpsilon * ledger.constraint_position_terms, "m, rad",
                               "violation of a holonomic constraint, of the one that is worst beside its terms",
                               remedy));
    items.push_back(guaranteed("constraint_velocity", ledger.constraint_velocity,
                               kVelocityRoundOff * kEpsilon * ledger.constraint_velocity_terms, "m/s, rad/s",
                               "violation of a constraint by the velocities, of the one that is worst beside its terms",
                               remedy));
  }
  if (limits.viscoelastic) {
    items.push_back(reported("constraint_position", ledger.constraint_position, "m, rad",
                             "largest violation of a holonomic constraint; of the size of epsilon"));
    items.push_back(reported("constraint_velocity", ledger.constraint_velocity, "m/s, rad/s",
                             "largest violation of a constraint by the velocities; of the size of epsilon after the "
                             "initial layer"));
    if (std::isfinite(ledger.fast_damping))
      items.push_back(
          reported("fast_damping", ledger.fast_damping, "",
                   "smallest b = (d^2/c) eigenvalue of A M^-1 A' along the motion; the source asks for b >= "
                   "2, which is sufficient and not necessary: the fast motion decays for every b > 0"));
    items.push_back(
        reported("evaluations", static_cast<double>(ledger.iterations), "", "evaluations of the right-hand side"));
  }
  if (ledger.admissible_modes > 0)
    items.push_back(reported("admissible_modes", ledger.admissible_modes, "",
                             "largest number of admissible modes at one event; the policy chose among them"));
  if (limits.contacts) {
    items.push_back(reported("penetration", ledger.penetration, "m", "largest penetration, before it is corrected"));
    const double way = kStepsOfApproach * ledger.longest * ledger.approach + kInside * limits.length;
    const char* inside = "largest penetration at the end, by a search of its own";
    items.push_back(limits.own_steps
                        ? reported("penetration_end", ledger.final_penetration, "m", inside)
                        : guaranteed("penetration_end", ledger.final_penetration, way, "m", inside, "reduce run.step"));
    if (limits.contact_velocity > 0)
      items.push_back(guaranteed("contact_velocity", ledger.contact_velocity, limits.contact_velocity, "",
                                 "velocity against the law that a step left at a contact, over the velocities there",
                                 "lower run.moreau.contact_tolerance; masses that rest on each other may be too far "
                                 "apart"));
    const double gain = ledger.energy_scale > 0 ? ledger.contact_gain / ledger.energy_scale : ledger.contact_gain;
    const char* made = "energy made by contacts over the largest energy or work";
    items.push_back(limits.no_gain ? guaranteed("contact_gain", gain, limit, "", made, closer)
                                   : reported("contact_gain", gain, "", made));
    items.push_back(reported("steps_with_contact_gain", static_cast<double>(ledger.gaining_steps), "",
                             "steps in which impacts made energy"));
    items.push_back(reported("energy_impact_gain", ledger.contact_gain, "J",
                             "made by impacts: Newton's law with friction can, impact = \"energetic\" cannot"));
    items.push_back(reported("energy_correction", energy.correction, "J", "work of moving out of penetrations"));
    items.push_back(reported("above_tolerance", static_cast<double>(ledger.near_misses), "",
                             "inclusions that ended above the solver's tolerance, within the limit of `inclusion`"));
    items.push_back(
        reported("most_iterations", ledger.most_iterations, "", "iterations of the contact solver in one step"));
    items.push_back(reported("most_iterations_warm", ledger.most_warm_iterations, "",
                             "the same without the first step, which starts from nothing"));
  }
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
          "audit: {} is no number ({}): products of the numbers of this run are too large, or too small, to be written as "
          "numbers; choose other units",
          item.name, item.meaning);
    } else {
      message += fmt::format("audit: {} = {:.3g} is above the limit {:.3g} that the scheme guarantees ({}); {}", item.name,
                             item.value, item.limit, item.meaning, item.remedy);
    }
  }
  return message;
}

}  // namespace stickslip
