// SPDX-License-Identifier: Apache-2.0
// What the scheme `moreau` takes, guarantees and says of itself.
#include <fmt/format.h>

#include <algorithm>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/moreau/moreau.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

namespace {

void require_system(const System& system) {
  refuse_other_polygons("moreau", system);
  for (const FrictionElement& element : system.laws().friction())
    if (element.elastic() && system.free_motion())
      throw InputError(
          fmt::format("scheme 'moreau' takes elastic friction (stiffness) in [matrices] and [equations] only, not "
                      "friction '{}' between "
                      "free bodies; leave its stiffness out",
                      element.name));
}

std::unique_ptr<Scheme> make(const System& system, const SimulationOptions& options, std::vector<double> breakpoints,
                             StopRequest stop, const Variations*) {
  MoreauOptions moreau = options.moreau;
  moreau.solver.stop = stop;
  return std::make_unique<MoreauScheme>(system, moreau, std::move(breakpoints), options.span());
}

/// Each law has a coordinate to itself, and the surface rests: what sticks does so to the last bit.
bool sticks_exactly(const System& system) {
  bool exact = system.linear() && system.laws().contacts().empty() && system.laws().constraints().empty();
  std::vector<char> taken(system.info().nv(), 0);
  for (const FrictionElement& element : system.laws().friction()) {
    for (const StateFunction& w : element.surface_velocity) exact &= w.is_constant();
    for (const Direction& direction : element.directions) {
      exact &= direction.size() == 1 && direction[0].second == 1.0 && !taken[direction[0].first];
      for (const auto& entry : direction) taken[entry.first] = 1;
    }
  }
  return exact;
}

AuditLimits limits(const System& system, const SimulationOptions& options) {
  AuditLimits limits;
  const bool contacts = !system.laws().contacts().empty(), constraints = !system.laws().constraints().empty();
  limits.inclusion = std::max(
      limits.inclusion, contacts ? kNearMiss * options.moreau.contact_tolerance : 10 * options.moreau.solver.tolerance);
  limits.energy = options.moreau.theta == 0.5;
  // Elsewhere the midpoint rule leaves O(h²): a run that loses or makes more than this is not resolved, or unstable.
  constexpr double kResolved = 0.1;
  if (!system.has_quadratic_energy() || constraints) limits.energy_limit = kResolved;
  limits.closer =
      contacts ? "lower run.moreau.contact_tolerance, or reduce run.step" : "lower run.moreau.solver_tolerance";
  limits.stuck_motion = true;
  constexpr double kStuckRoundOff = 1e-9;  // of the path that laws could have made
  limits.stuck_motion_limit = sticks_exactly(system) ? 0.0 : kStuckRoundOff;
  return limits;
}

bool some_friction_is_planar(const System& system) {
  for (const FrictionElement& element : system.laws().friction())
    if (element.size() == 2) return true;
  return false;
}

/// Impacts of gaps that are functions (stops of hinges) are located where they rebound.
bool some_closing_is_not_located(const System& system, const MoreauOptions& options) {
  const auto& contacts = system.laws().contacts();
  if (contacts.empty()) return false;
  return !options.locate_reversals || !system.laws().contact_source().points_stay() ||
         std::any_of(contacts.begin(), contacts.end(), [](const ContactElement& c) { return c.restitution == 0; });
}

void add_notes(const System& system, const SimulationOptions& run, std::vector<std::string>& notes) {
  const MoreauOptions& options = run.moreau;
  if (options.theta != 0.5) notes.push_back(fmt::format("order 1: run.moreau.theta = {:g} is not 1/2", options.theta));
  if (!system.laws().friction().empty() && !options.locate_reversals)
    notes.push_back("order 1 through reversals and break-aways: run.moreau.locate_reversals is off");
  if (some_friction_is_planar(system))
    notes.push_back("order 1 where planar slip turns or stops: only reversals along one direction are located");
  if (options.relaxation == ContactRelaxation::convex && !system.laws().contacts().empty())
    notes.push_back(
        "run.moreau.relaxation = \"convex\" is not Coulomb's law: what slides lifts off with mu times its speed");
  if (some_closing_is_not_located(system, options))
    notes.push_back(
        "order 1 through impacts of shapes and where contacts close without restitution: these are not located");
}

}  // namespace

SchemeDescription moreau_description() {
  return {
      SchemeKind::moreau,
      "moreau",
      "velocity-level theta step with elasticity, contact, impact and friction in one inclusion",
      "matrices, equations, free bodies; friction (one component or planar, weakening, viscous, static limit, moving "
      "surface, limits that depend on reactions, spring in series); contact with friction and impact in 2D and 3D; "
      "holonomic and "
      "nonholonomic constraints, redundant ones too",
      "order 2 with theta = 1/2 and located reversals and break-aways (1 where planar slip turns, through impacts and "
      "where contacts open or close); exact sticking; constraints to round-off at the end of each step; energy balance "
      "to round-off (quadratic energies)",
      false,
      false,
      true,
      Derivatives::none,
      require_system,
      make,
      limits,
      add_notes,
      ElasticFriction::names};
}

}  // namespace stickslip
