// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/contact_audit.hpp"

#include <algorithm>

#include "stickslip/motion/fixed_step.hpp"

namespace stickslip {

namespace {
constexpr double kInside = 0.01;        // of the smallest shape: deeper at the end of a run is inside
constexpr double kStepsOfApproach = 2;  // the way of that many steps is what the time stepping can leave
constexpr double kNoGain = 1e-12;       // of the energy at hand: a gain within round-off is none
}  // namespace

void ContactAudit::account(const AuditLedger& run) {
  raise(run_.penetration, step.penetration);
  raise(run_.steps, step.steps);
  raise(run_.approach, step.approach);
  raise(run_.velocity, step.velocity);
  run_.gain += step.gain;
  if (step.gain > kNoGain * run.energy_scale) ++run_.gaining_steps;
  run_.near_misses += step.near_misses;
  run_.most_iterations = std::max(run_.most_iterations, step.iterations);
  if (run.steps > 1) run_.most_warm_iterations = std::max(run_.most_warm_iterations, step.iterations);
}

void ContactAudit::add_items(const AuditLedger& run, const AuditLimits& limits, std::vector<AuditItem>& items) const {
  const char* largest = "largest penetration, before it is corrected";
  items.push_back(
      guarantees.depth > 0
          ? guaranteed(
                "penetration", run_.penetration, guarantees.depth, "m", largest,
                "a contact carries more than it was made for, or is met too fast: give it a compliance, or lower "
                "run.compliant.epsilon")
          : reported("penetration", run_.penetration, "m", largest));
  if (guarantees.steps > 0)
    items.push_back(guaranteed(
        "penetration_steps", run_.steps, guarantees.steps, "",
        "largest penetration beyond touching, over the way of a step at the fastest approach there", limits.finer));
  const double way = kStepsOfApproach * run.longest * run_.approach + kInside * guarantees.length;
  const char* inside = "largest penetration at the end, by a search of its own";
  items.push_back(guarantees.ends_outside
                      ? guaranteed("penetration_end", run.final_penetration, way, "m", inside, limits.finer)
                      : reported("penetration_end", run.final_penetration, "m", inside));
  if (guarantees.velocity > 0)
    items.push_back(
        guaranteed("contact_velocity", run_.velocity, guarantees.velocity, "",
                   "velocity against the law that a step left at a contact, over the velocities there",
                   "lower run.moreau.contact_tolerance; masses that rest on each other may be too far apart"));
  const double gain = run.energy_at_hand > 0 ? run_.gain / run.energy_at_hand : run_.gain;
  // Round-off is that of the impulses, which may be large where nothing moves.
  const double room = run.energy_at_hand > 0 ? run.energy_scale / run.energy_at_hand : 1.0;
  const char* made = "energy made by contacts over the largest energy or work";
  items.push_back(guarantees.no_gain
                      ? guaranteed("contact_gain", gain, guarantees.gain + room * limits.energy_bound(run.steps), "",
                                   made, limits.closer)
                      : reported("contact_gain", gain, "", made));
  items.push_back(reported("steps_with_contact_gain", static_cast<double>(run_.gaining_steps), "",
                           "steps in which impacts made energy"));
  items.push_back(reported(
      "energy_impact_gain", run_.gain, "J",
      "made by impacts: Newton's law with friction or several restitutions can, impact = \"energetic\" cannot"));
  items.push_back(reported("energy_correction", run.energy.correction, "J", "work of moving out of penetrations"));
  items.push_back(reported("above_tolerance", static_cast<double>(run_.near_misses), "",
                           "inclusions that ended above the solver's tolerance, within the limit of `inclusion`"));
  items.push_back(
      reported("most_iterations", run_.most_iterations, "", "iterations of the contact solver in one step"));
  items.push_back(reported("most_iterations_warm", run_.most_warm_iterations, "",
                           "the same without the first step, which starts from nothing"));
}

}  // namespace stickslip
