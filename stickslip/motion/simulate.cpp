// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/simulate.hpp"

#include "stickslip/motion/stepping.hpp"

namespace stickslip {

TrajectoryNames trajectory_names(const System& system, const SimulationOptions& options) {
  const SchemeDescription& scheme = describe(options.scheme);
  TrajectoryNames names = trajectory_names(system, scheme.friction_velocity);
  names.unknowns = options.sensitivities;
  names.reaction_sensitivity = scheme.derivatives == Derivatives::state_and_reactions;
  names.facets = scheme.facets && scheme.facets(system);
  return names;
}

Simulation simulate(const System& system, const State& initial, const SimulationOptions& options,
                    const SimulationHooks& hooks, const Variations* variations) {
  Stepping run(system, initial, options, hooks, variations);
  while (run.step()) {
  }
  return run.finish();
}

}  // namespace stickslip
