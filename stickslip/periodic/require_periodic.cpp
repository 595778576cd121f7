// SPDX-License-Identifier: Apache-2.0
// Whether the period that was asked for is one of the excitation.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/periodic/solve_periodic.hpp"

namespace stickslip {

namespace {

std::vector<const StateFunction*> time_functions(const System& system) {
  std::vector<const StateFunction*> functions;
  system.forces().append_time_functions(functions);
  system.laws().append_time_functions(functions);
  std::erase_if(functions, [](const StateFunction* f) { return !f->depends_on_time(); });
  return functions;
}

}  // namespace

void require_periodic(const System& system, const PeriodicOptions& options, const State& state) {
  options.validate();
  const std::vector<const StateFunction*> functions = time_functions(system);
  if (options.autonomous) {
    if (!functions.empty())
      throw InputError(
          "periodic.autonomous = true, but something of the model depends on t; leave it out and give the "
          "period of the excitation");
    return;
  }
  if (functions.empty())
    throw InputError(
        "nothing of the model depends on t, so there is no excitation whose period could be given; set "
        "periodic.autonomous = true to look for a motion of its own");
  Variables variables(system.info().nq(), system.info().nv(), system.laws().reaction_count());
  variables.set_state(state.q, state.v);
  const double T = options.motion_period();
  for (const StateFunction* f : functions) {
    double size = 0, miss = 0;
    for (int k = 0; k < 16; ++k) {
      const double t = state.t + T * std::fmod(0.5 + 0.6180339887498949 * k, 1.0);
      variables.set_time(t);
      const double now = (*f)(variables.span());
      variables.set_time(t + T);
      const double later = (*f)(variables.span());
      size = std::max({size, std::abs(now), std::abs(later)});
      miss = std::max(miss, std::abs(later - now));
    }
    if (miss > 1e-6 * size)
      throw InputError(fmt::format(
          "periodic.period = {:.12g} s does not fit the excitation: {} is not the same a period later (it differs by "
          "{:.3g} of its size); give the excitation's period, or periods = the number of them",
          options.period, f->text(), miss / size));
  }
}

}  // namespace stickslip
