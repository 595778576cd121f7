// SPDX-License-Identifier: Apache-2.0
// What the scheme `compliant` takes, guarantees and says of itself.
#include <fmt/format.h>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/compliant/quasistatic.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

namespace {

void require_system(const System& system) {
  const LawSet& laws = system.laws();
  if (laws.contacts().empty())
    throw InputError(
        "scheme 'compliant' gives contacts a local compliance, but the model has no [[contact]]; use scheme = "
        "\"event\" "
        "or \"moreau\"");
  refuse_reaction_limits("compliant", system);
}

std::unique_ptr<Scheme> make(const System& system, const SimulationOptions& options, std::vector<double> breakpoints,
                             StopRequest stop, const Variations* variations) {
  const double span = options.end_time - options.start_time;
  const double step = options.steps > 0 ? span / static_cast<double>(options.steps) : options.step;
  if (options.compliant.fixed_step() && !(step > 0))
    throw InputError(fmt::format("run.compliant.integrator = \"{}\" takes fixed steps; give run.step or run.steps",
                                 to_string(options.compliant.integrator)));
  if (options.compliant.quasistatic)
    return std::make_unique<QuasistaticScheme>(system, options.compliant, options.tolerance, options.span(),
                                               std::move(breakpoints), stop, variations, options.whole_start);
  return std::make_unique<CompliantScheme>(system, options.compliant, options.tolerance, step, options.span(),
                                           std::move(breakpoints), stop, variations, options.whole_start);
}

AuditLimits limits(const System&, const SimulationOptions& options) {
  constexpr double kEnergyRoundOff = 1e-9;
  // Fixed steps promise no accuracy, but what makes or loses a tenth of the energy is no motion of the model.
  constexpr double kUnstable = 0.1;
  AuditLimits limits;
  constexpr double kNearRoundOff = 1e-10;  // from there on down it may be rounding that is seen
  const char* finer = options.tolerance > kNearRoundOff
                          ? "lower run.tolerance"
                          : "raise run.tolerance: this may be round-off of stiff contacts";
  limits.finer = limits.closer = options.compliant.fixed_step() ? "reduce run.step" : finer;
  limits.energy = true;
  limits.energy_limit =
      options.compliant.fixed_step() ? kUnstable : integration_limit(options.tolerance, kEnergyRoundOff);
  return limits;
}

void add_notes(const System& system, const SimulationOptions& options, std::vector<std::string>& notes) {
  bool damped = false, held = false;
  for (const ContactElement& contact : system.laws().contacts()) {
    damped |= contact.compliance ? contact.compliance->normal_damping > 0
                                 : !system.laws().compliance() && contact.restitution < 1;
    held |= contact.mu_static && *contact.mu_static > contact.mu;
  }
  for (const FrictionElement& element : system.laws().friction()) held |= element.static_limit.has_value();
  if (held)
    notes.push_back(
        "a static coefficient above the dynamic one makes friction drop where it gives way: unique and differentiable "
        "motion "
        "is proved without it");
  if (damped)
    notes.push_back(
        "normal damping makes contact forces jump where surfaces meet with speed: unique and differentiable motion is "
        "proved "
        "without it");
  if (options.compliant.integrator == CompliantIntegrator::rk4)
    notes.push_back("rk4 has order 4 between switches; a switch inside a step costs O(step^2)");
}

/// Tangential deformations; those of bodies come and go with their points.
std::vector<std::string> internal(const System& system) {
  std::vector<std::string> names;
  if (!system.laws().contact_source().points_stay()) return names;
  for (const FrictionElement& element : system.laws().friction())
    for (int c = 1; c <= element.size(); ++c) names.push_back(fmt::format("{}.d{}", element.name, c));
  if (system.laws().contact_source().points_stay())
    for (const ContactElement& contact : system.laws().contacts())
      for (int c = 1; c <= contact.tangents; ++c) names.push_back(fmt::format("{}.d{}", contact.name, c));
  return names;
}

bool facets(const System& system) { return CompliantContacts(system).has_facets(); }

bool fixed_steps(const SimulationOptions& options) {
  return options.compliant.fixed_step() && !options.compliant.quasistatic;
}

}  // namespace

SchemeDescription compliant_description() {
  return {SchemeKind::compliant,
          "compliant",
          "Pang (paper 3), with the projection in the metric of the inverse damping",
          "matrices, equations, bodies; contacts with local compliance: any cone, coupled stiffness and damping; "
          "friction as the "
          "same tangential law with its limit, with springs in series as they are; constraints",
          "unique, continuously differentiable motion with finite forces; within O(1/stiffness) of the rigid motion; "
          "energy "
          "balance to the tolerance",
          true,
          false,
          false,
          Derivatives::state_and_reactions,
          require_system,
          make,
          limits,
          add_notes,
          internal,
          facets,
          fixed_steps};
}

}  // namespace stickslip
