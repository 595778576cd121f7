// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/state_transition.hpp"

#include "stickslip/motion/sensitivity.hpp"

namespace stickslip {

StateTransition state_transition(const System& system, const State& state, const SimulationOptions& options,
                                 double t_end) {
  SimulationOptions run = options;
  run.start_time = state.t;
  run.end_time = t_end;
  run.output_step = 0;
  run.output_times = {t_end};
  run.sensitivities.clear();
  const Variations variations = Variations::of_state(system, state);
  StateTransition result{simulate(system, state, run, {}, &variations), {}};
  result.matrix = result.run.final_sensitivity;
  return result;
}

}  // namespace stickslip
