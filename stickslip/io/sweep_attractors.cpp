// SPDX-License-Identifier: Apache-2.0
#include "stickslip/io/sweep_attractors.hpp"

#include <algorithm>
#include <cmath>

namespace stickslip {

namespace {

std::vector<std::size_t> columns_of(const SweepTable& table, std::string_view front) {
  std::vector<std::size_t> columns;
  for (std::size_t k = 0; k < table.outputs.size(); ++k)
    if (table.outputs[k].starts_with(front)) columns.push_back(k);
  return columns;
}

}  // namespace

Attractors find_attractors(const SweepTable& table, double resolution) {
  Attractors found;
  std::vector<std::size_t> columns = columns_of(table, "final.position.");
  for (const std::size_t column : columns_of(table, "final.velocity.")) columns.push_back(column);
  // Both stand in the order of positions, velocities, reactions.
  const std::vector<std::size_t> least = columns_of(table, "minimum."), greatest = columns_of(table, "maximum.");
  std::vector<double> allowed;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    found.names.push_back(table.outputs[columns[k]]);
    allowed.push_back(resolution *
                      (statistics_of(table, greatest.at(k)).maximum - statistics_of(table, least.at(k)).minimum));
  }
  found.of_run.assign(static_cast<std::size_t>(table.plan.size()), -1);
  for (long run = 0; run < table.plan.size(); ++run) {
    std::vector<double> state;
    for (const std::size_t column : columns) state.push_back(table.output(run, column));
    if (std::any_of(state.begin(), state.end(), [](double x) { return !std::isfinite(x); })) continue;
    const auto same = [&](const std::vector<double>& other) {
      for (std::size_t k = 0; k < state.size(); ++k)
        if (std::abs(state[k] - other[k]) > allowed[k]) return false;
      return true;
    };
    auto place = std::find_if(found.states.begin(), found.states.end(), same);
    if (place == found.states.end()) {
      found.counts.push_back(0);
      place = found.states.insert(found.states.end(), state);
    }
    const auto number = place - found.states.begin();
    found.of_run[static_cast<std::size_t>(run)] = number;
    ++found.counts[static_cast<std::size_t>(number)];
  }
  return found;
}

}  // namespace stickslip
