// SPDX-License-Identifier: Apache-2.0
// What the scheme `event` takes, guarantees and says of itself.
#include <fmt/format.h>

#include <algorithm>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/elastic_friction.hpp"
#include "stickslip/motion/event/event.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

namespace {

/// The decision at an event and the search for the next one take full matrices between all laws: thousands of
/// millions of operations each from here on, and hours for a second of motion.
constexpr std::size_t kMostLaws = 1000;

void require_few_laws(const System& system) {
  const std::size_t laws =
      system.laws().friction().size() + system.laws().contacts().size() + system.laws().constraints().size();
  if (laws <= kMostLaws) return;
  throw InputError(
      fmt::format("scheme 'event' takes at most {} friction laws, contacts and constraints (the model has {}): it "
                  "weighs all of them "
                  "against each other at every event; use scheme = \"moreau\", or \"splitting\" for friction alone",
                  kMostLaws, laws));
}

/// Empty, or which spring in series is not taken. Its slider follows the limit, which would have to be that of the
/// reactions of the same instant while it sticks.
std::string spring_refusal(const System& system) {
  const Index reactions = 1 + system.info().nq() + system.info().nv();
  for (const FrictionElement& law : system.laws().friction())
    if (law.elastic() && law.limit.depends_on_reactions(reactions))
      return fmt::format(
          "scheme 'event' takes no spring in series under a limit that depends on a reaction, as that of friction "
          "'{}' does; use scheme = \"moreau\"",
          law.name);
  return "";
}

void require_system(const System& system) {
  refuse_other_polygons("event", system);
  require_few_laws(system);
  if (const std::string reason = spring_refusal(system); !reason.empty()) throw InputError(reason);
  if (!system.laws().contact_source().points_stay())
    throw InputError(
        "scheme 'event' takes no contacts between shapes (points of contact between shapes appear and vanish); use "
        "scheme = "
        "\"moreau\"");
  for (const FrictionElement& element : system.laws().friction())
    if (element.size() == 2 && element.planar_set != SetKind::disk)
      throw InputError(
          fmt::format("scheme 'event' takes planar friction with the disk only, not friction '{}' with "
                      "a {}; use cone = \"disk\" or scheme = \"moreau\"",
                      element.name, to_string(element.planar_set)));
  for (const ContactElement& contact : system.laws().contacts())
    if (contact.tangents == 2 && contact.cone != SetKind::friction_cone)
      throw InputError(
          fmt::format("scheme 'event' takes the quadratic friction cone only, not contact '{}' with a "
                      "{}; use cone = \"disk\" or scheme = \"moreau\"",
                      contact.name, to_string(contact.cone)));
}

std::unique_ptr<Scheme> make(const System& system, const SimulationOptions& options, std::vector<double> breakpoints,
                             StopRequest stop, const Variations* variations) {
  return std::make_unique<EventScheme>(system, options.event, options.tolerance, options.span(), std::move(breakpoints),
                                       stop, variations);
}

AuditLimits limits(const System&, const SimulationOptions& options) {
  constexpr double kEnergyRoundOff = 1e-10;
  AuditLimits limits;
  limits.finer = limits.closer = "lower run.tolerance";
  limits.inclusion = std::max(limits.inclusion, options.tolerance);
  limits.set = std::max(limits.set, options.tolerance);
  limits.energy = true;
  limits.energy_limit = integration_limit(options.tolerance, kEnergyRoundOff);
  limits.stuck_motion = true;
  limits.stuck_motion_limit = 1e-9;
  return limits;
}

void add_notes(const System&, const SimulationOptions&, std::vector<std::string>&) {}

}  // namespace

SchemeDescription event_description() {
  return {
      SchemeKind::event,
      "event",
      "VanderVoort, Singh 1987 (paper 2), the mode decided for all laws at once; constraints by singular values",
      "matrices, equations, bodies with hinges; friction (one component or planar, weakening, viscous, static limit, "
      "moving surface, springs in series); "
      "contact with friction and impact given by expressions; holonomic and nonholonomic constraints, redundant ones "
      "too",
      "round-off (linear systems with forces of time) or the tolerance, through all events; exact sticking; energy "
      "balance to the same",
      true,
      false,
      true,
      Derivatives::state,
      require_system,
      make,
      limits,
      add_notes,
      ElasticFriction::names};
}

}  // namespace stickslip
