// SPDX-License-Identifier: Apache-2.0
#include "stickslip/boundary/shooting_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "stickslip/boundary/dead_unknown.hpp"
#include "stickslip/boundary/shooting_map.hpp"
#include "stickslip/common/error.hpp"

namespace stickslip {

namespace {

/// Part of a condition, and of its terms, by which an unknown of its size changes it.
constexpr double kMuch = 0.1;

void require_times(const ShootingProblem& problem) {
  const double start = problem.model.options().start_time;
  if (!(problem.end_time > start) || !std::isfinite(problem.end_time))
    throw InputError(
        fmt::format("end_time = {} must be a finite time after the start ({} s)", problem.end_time, start));
  if (problem.segments < 1) throw InputError(fmt::format("segments = {} must be >= 1", problem.segments));
  if (problem.segments > 1 && !problem.nodes.empty())
    throw InputError("segments and nodes both cut the time; give one of them");
  double before = start;
  for (const double t : problem.nodes) {
    if (!(t > before) || !(t < problem.end_time))
      throw InputError(fmt::format("the times of the segments must ascend between {} and {} s; {} does not", start,
                                   problem.end_time, t));
    before = t;
  }
  const bool cut = problem.segments > 1 || !problem.nodes.empty();
  if (cut && problem.model.options().scheme == SchemeKind::compliant &&
      !problem.model.system().laws().contact_source().points_stay())
    throw InputError(
        "segments: under scheme 'compliant' the deformations of contacts between bodies come and go with their points "
        "and cannot be states at a cut; shoot in one segment, or use scheme = \"event\" or \"moreau\"");
  const bool open_end = std::any_of(problem.unknowns.begin(), problem.unknowns.end(),
                                    [](const Unknown& unknown) { return unknown.is_end_time(); });
  for (const Condition& condition : problem.conditions) {
    if (condition.at != ConditionTime::time) continue;
    if (condition.time < start || condition.time > problem.end_time)
      throw InputError(fmt::format("condition '{}': its time {} s must lie in the motion, [{}, {}] s", condition.text(),
                                   condition.time, start, problem.end_time));
    if (cut && open_end)
      throw InputError(fmt::format(
          "condition '{}': with an unknown end time the segments move; give it at the start or the end, or shoot "
          "without segments",
          condition.text()));
  }
}

}  // namespace

void require_valid(const ShootingProblem& problem, bool closest) {
  require_valid(problem.unknowns);
  require_times(problem);
  const ColumnLayout layout(problem.model.system(), problem.model.parameters(), problem.unknowns);
  for (const Condition& condition : problem.conditions) {
    if (!(condition.scale > 0) || !std::isfinite(condition.scale))
      throw InputError(fmt::format("condition '{}': scale = {} must be > 0", condition.text(), condition.scale));
    const bool first = condition.at == ConditionTime::start ||
                       (condition.at == ConditionTime::time && condition.time == problem.model.options().start_time);
    if (first && condition.uses_reactions(layout))
      throw InputError(fmt::format(
          "condition '{}' {}: reactions are means over a step that ends there, and at the start none does; give a "
          "later time",
          condition.text(), condition.when()));
  }
  const std::size_t n = problem.unknowns.size(), m = problem.conditions.size();
  if (m == 0) throw InputError("there are no conditions; give what must be 0");
  if (m < n && !closest)
    throw InputError(fmt::format(
        "{} unknown{} and {} condition{}: there are fewer conditions than unknowns; add {}, give {} of the unknowns "
        "as numbers, or take the solution nearest to the start with closest = true",
        n, n == 1 ? "" : "s", m, m == 1 ? "" : "s", n - m == 1 ? "a condition" : fmt::format("{} conditions", n - m),
        n - m));
}

ShootingProblem in_one_segment(ShootingProblem problem) {
  problem.segments = 1;
  problem.nodes.clear();
  return problem;
}

ShootingProblem with_sizes(const ShootingProblem& problem, const ShootingOptions& options) {
  ShootingProblem sized = problem;
  const bool open = problem.conditions.size() < problem.unknowns.size();
  if (open || std::all_of(problem.unknowns.begin(), problem.unknowns.end(), std::mem_fn(&Unknown::has_size)))
    return sized;
  const ShootingProblem whole = in_one_segment(problem);
  const ColumnLayout layout(whole.model.system(), whole.model.parameters(), whole.unknowns);
  ShootingMap map(whole, layout, options);
  const Vector start = start_values(whole.unknowns);
  Vector F;
  if (!map.value(start, F)) return sized;  // what fails there, the search says
  const Vector g = map.conditions(), terms = map.condition_terms();
  const Vector own = g.cwiseAbs().cwiseMax(terms);
  for (std::size_t j = 0; j < sized.unknowns.size(); ++j) {
    if (sized.unknowns[j].has_size()) continue;
    const auto changes_much = [&](double value) -> std::optional<bool> {
      Vector x = start;
      x[static_cast<Index>(j)] = value;
      if (raised(options.stop) || !map.value(x, F)) return std::nullopt;
      // What is left of a condition without constants may be round-off: it cannot say that a size is small.
      const Vector& seen = std::abs(value) < 1 ? terms : own;
      const Vector change = (map.conditions() - g).cwiseAbs();
      return (seen.array() > 0 && change.array() >= kMuch * seen.array()).any();
    };
    if (const std::optional<double> size = size_by_effect(sized.unknowns[j], changes_much))
      sized.unknowns[j].scale = *size;
  }
  return sized;
}

}  // namespace stickslip
