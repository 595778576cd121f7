// SPDX-License-Identifier: Apache-2.0
// What the scheme `splitting` takes, guarantees and says of itself.
#include <fmt/format.h>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/simulate.hpp"
#include "stickslip/motion/splitting/splitting.hpp"

namespace stickslip {

namespace {

void require_system(const System& system) {
  refuse_reaction_limits("splitting", system);
  if (!system.laws().constraints().empty())
    throw InputError("scheme 'splitting' takes no constraints; use scheme = \"moreau\" or \"event\"");
  if (!system.linear())
    throw InputError("scheme 'splitting' takes systems given by [matrices] only; use scheme = \"moreau\"");
  if (!system.laws().contacts().empty())
    throw InputError("scheme 'splitting' takes no contacts; use scheme = \"moreau\"");
  if (system.forces().applied_depends_on_state())
    throw InputError(
        "scheme 'splitting' takes forces that depend on time alone (its friction step holds the position fixed); use "
        "scheme = \"moreau\"");
}

std::unique_ptr<Scheme> make(const System& system, const SimulationOptions& options, std::vector<double> breakpoints,
                             StopRequest, const Variations*) {
  return std::make_unique<SplittingScheme>(system, options.splitting, std::move(breakpoints), options.span());
}

AuditLimits limits(const System& system, const SimulationOptions&) {
  AuditLimits limits;
  limits.closer = "lower run.splitting.tolerance";
  limits.energy = system.linear()->K.asymmetry() == 0;
  return limits;
}

void add_notes(const System&, const SimulationOptions& options, std::vector<std::string>& notes) {
  if (options.splitting.variant != SplittingVariant::symmetrised)
    notes.push_back("order 1: friction and elasticity are stepped one after the other");
}

}  // namespace

SchemeDescription splitting_description() {
  return {
      SchemeKind::splitting,
      "splitting",
      "Glowinski, Shiau, Kuo, Nasser 2004 (paper 1)",
      "matrices with symmetric mass; friction (one component or planar, weakening, viscous, static limit, moving "
      "surface, springs in series)",
      "order 1; friction law exact at V^{n+1/2}; energy balance to round-off (symmetric stiffness); creep in stick is "
      "reported, not bounded",
      false,
      true,
      false,
      Derivatives::none,
      require_system,
      make,
      limits,
      add_notes,
      ElasticFriction::names};
}

}  // namespace stickslip
