// SPDX-License-Identifier: Apache-2.0
// What the scheme `viscoelastic` takes, guarantees and says of itself.
#include <fmt/format.h>

#include <algorithm>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/motion/viscoelastic/viscoelastic.hpp"

namespace stickslip {

namespace {

bool is_above(const StateFunction& a, const StateFunction& b) {
  return !a.is_constant() || !b.is_constant() || a({}) > b({});
}

/// The key of a friction law that is more than Coulomb's with one limit and a disk; nullptr: it is no more.
const char* beyond_a_limit(const FrictionElement& element) {
  if (element.static_limit && is_above(*element.static_limit, element.limit)) return "static_limit";
  if (element.viscous != 0) return "viscous";
  if (element.weakening.shape != WeakeningShape::none) return "weakening";
  return element.size() == 2 && element.planar_set != SetKind::disk ? "cone" : nullptr;
}

void require_system(const System& system) {
  refuse_reaction_limits("viscoelastic", system);
  if (!system.laws().contacts().empty())
    throw InputError(
        fmt::format("scheme 'viscoelastic' takes no contacts, but there is contact '{}'; use scheme = "
                    "\"event\" or \"moreau\"",
                    system.laws().contacts().front().name));
  if (system.laws().constraints().empty() && system.laws().friction().empty())
    throw InputError(
        "scheme 'viscoelastic' replaces constraints and friction by spring-dampers, but the model has neither; use "
        "scheme = \"event\"");
  for (const FrictionElement& element : system.laws().friction())
    if (const char* key = beyond_a_limit(element))
      throw InputError(fmt::format(
          "scheme 'viscoelastic' takes Coulomb friction with a limit alone (an interval or a disk), not the "
          "`{}` of friction '{}'; use scheme = \"event\"{}",
          key, element.name, " or \"moreau\""));
}

std::unique_ptr<Scheme> make(const System& system, const SimulationOptions& options, std::vector<double> breakpoints,
                             StopRequest stop, const Variations*) {
  return std::make_unique<ViscoelasticScheme>(system, options.viscoelastic, options.tolerance, options.span(),
                                              std::move(breakpoints), stop);
}

AuditLimits limits(const System&, const SimulationOptions& options) {
  constexpr double kEnergyRoundOff = 1e-9;
  AuditLimits limits;
  limits.finer = limits.closer = "lower run.tolerance";
  limits.energy = true;
  limits.energy_limit = integration_limit(options.tolerance, kEnergyRoundOff);
  return limits;
}

void add_notes(const System& system, const SimulationOptions&, std::vector<std::string>& notes) {
  const auto& laws = system.laws().friction();
  if (std::any_of(laws.begin(), laws.end(), [](const FrictionElement& law) { return !law.elastic(); }))
    notes.push_back(
        "friction is a spring-damper with a limit: after a reversal or a slip from rest the motion differs from the "
        "exact one by the order of sqrt(epsilon), not epsilon");
}

/// One deformation per row that becomes a spring.
std::vector<std::string> internal(const System& system) {
  std::vector<std::string> names;
  for (const ConstraintElement& constraint : system.laws().constraints()) names.push_back(constraint.name + ".z");
  for (const FrictionElement& element : system.laws().friction())
    for (int c = 1; c <= element.size(); ++c) names.push_back(fmt::format("{}.d{}", element.name, c));
  return names;
}

}  // namespace

SchemeDescription viscoelastic_description() {
  return {
      SchemeKind::viscoelastic,
      "viscoelastic",
      "Fidlin, Deppler, Braun (paper 4), with a prepared start; limits as in paper 3's tangential law",
      "matrices, equations; independent holonomic and nonholonomic constraints, with or without a force limit; "
      "friction "
      "(one component or planar) as the same spring-damper with its limit, springs in series as they are",
      "the exact motion up to O(epsilon), Lambda too after the initial layer; up to O(sqrt(epsilon)) from the first "
      "reversal of a slip or slip from rest by a sudden force on; energy balance to the tolerance; cost that hardly "
      "grows "
      "as epsilon -> 0",
      true,
      false,
      false,
      Derivatives::none,
      require_system,
      make,
      limits,
      add_notes,
      internal};
}

}  // namespace stickslip
