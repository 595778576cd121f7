// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/run_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

namespace stickslip {

namespace {

using Notes = std::vector<std::string>;

/// The coordinate that a law acts on alone; -1 if there are several.
Index only_coordinate(const Direction& direction) { return direction.size() == 1 ? direction[0].first : -1; }

}  // namespace

Notes scheme_notes(const System& system, const SimulationOptions& options) {
  Notes notes;
  describe(options.scheme).add_notes(system, options, notes);
  return notes;
}

/// One direction of a law, along one coordinate.
struct OneDirection {
  const FrictionElement* law;
  std::size_t index;
  /// Velocity of the coordinate at which the law does not slip; NaN: it varies.
  double surface() const {
    if (law->surface_velocity.empty()) return 0;
    const StateFunction& w = law->surface_velocity[index];
    return w.is_constant() ? w({}) / law->directions[index][0].second : std::numeric_limits<double>::quiet_NaN();
  }
};

std::string shared_coordinate_note(const OneDirection& a, const OneDirection& b, const std::string& coordinate) {
  if (a.surface() == b.surface())
    return fmt::format("friction '{}' and '{}' both act on {}: their limits add up", a.law->name, b.law->name,
                       coordinate);
  return fmt::format(
      "friction '{}' and '{}' both act on {}, and their surfaces move: at velocities between those of the two surfaces "
      "they oppose each other, elsewhere their limits add up",
      a.law->name, b.law->name, coordinate);
}

Notes model_notes(const System& system) {
  constexpr double kRoundOff = 1e-12;  // of matrix entries that are computed, relative to the largest
  Notes notes;
  if (const LinearPart* linear = system.linear(); linear && linear->K.asymmetry() > kRoundOff)
    notes.push_back(
        "the stiffness matrix is not symmetric: it brings work in or takes it out (circulatory forces). If that is not "
        "meant, compare stiffness[i][j] with stiffness[j][i]");
  std::map<Index, OneDirection> taken;
  for (const FrictionElement& element : system.laws().friction())
    for (std::size_t k = 0; k < element.directions.size(); ++k) {
      const Index coordinate = only_coordinate(element.directions[k]);
      if (coordinate < 0) continue;
      const OneDirection one{&element, k};
      const auto [other, is_new] = taken.try_emplace(coordinate, one);
      if (!is_new)
        notes.push_back(shared_coordinate_note(other->second, one,
                                               system.info().coordinates[static_cast<std::size_t>(coordinate)]));
    }
  constexpr std::size_t kMost = 5;
  if (notes.size() > kMost) {
    const std::size_t left_out = notes.size() - kMost;
    notes.resize(kMost);
    notes.push_back(fmt::format("and {} more of that kind", left_out));
  }
  return notes;
}

Notes run_notes(const System& system, const SimulationOptions& options, const BreakpointSearch& breakpoints) {
  Notes notes = scheme_notes(system, options);
  for (std::string& note : model_notes(system)) notes.push_back(std::move(note));
  const double span = options.end_time - options.start_time;
  if (!chooses_own_steps(options) && options.step > span)
    notes.push_back(
        fmt::format("run.step = {:g} s is longer than the run, which is one step of {:g} s", options.step, span));
  if (breakpoints.complete_until < options.end_time) {
    const auto all = std::upper_bound(breakpoints.times.begin(), breakpoints.times.end(), breakpoints.complete_until);
    notes.push_back(fmt::format(
        "jumps that depend on t alone: all {} up to t = {:.9g} s were found, and {} later ones, where more may "
        "be missing; steps may go across those. Write the expression so that it jumps less often, or make "
        "run.step small against the time between jumps",
        all - breakpoints.times.begin(), breakpoints.complete_until, breakpoints.times.end() - all));
  }
  return notes;
}

}  // namespace stickslip
