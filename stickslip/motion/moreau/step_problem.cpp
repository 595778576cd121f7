// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/moreau/step_problem.hpp"

#include <fmt/format.h>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/moreau/moreau.hpp"

namespace stickslip {

StepProblem MoreauScheme::step_problem(double start, double end, const StepOutcome& outcome) const {
  StepProblem step{start, end, outcome, problem_, static_cast<std::size_t>(laws_.laws()), solution_};
  if (constrained_.any()) {
    step.G = &constrained_.rows();
    step.a = &constrained_.asked();
    step.constraint_impulse = &constrained_.impulse();
  }
  return step;
}

Simulation simulate_step_problems(const System& system, const State& initial, const SimulationOptions& options,
                                  const SimulationHooks& hooks, const StepProblemObserver& observer) {
  if (options.scheme != SchemeKind::moreau)
    throw InputError(
        fmt::format("run.scheme = \"{}\": its steps solve no contact problem of their own; those of 'moreau' do: "
                    "--set run.scheme=moreau",
                    to_string(options.scheme)));
  if (system.laws().contacts().empty())
    throw InputError("the model has no contacts: add [[contact]], or take a model with some");
  Stepping run(system, initial, options, hooks);
  run.observe([&](const Scheme& scheme, double start, double end, const StepOutcome& outcome) {
    observer(static_cast<const MoreauScheme&>(scheme).step_problem(start, end, outcome));
  });
  while (run.step()) {
  }
  return run.finish();
}

}  // namespace stickslip
