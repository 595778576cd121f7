// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/event/mode_inclusion.hpp"

#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/few_boxes.hpp"
#include "stickslip/solvers/solve.hpp"

namespace stickslip {

namespace {

constexpr double kInside = 1 - 1e-12;     // of a limit: round-off of a reaction that boxes solve exactly
constexpr double kInsideCone = 1 - 1e-9;  // and of one that an iteration solves
constexpr double kConeTolerance = 1e-14;  // asked of cones, and
constexpr double kConeAccepted = 1e-11;   // accepted: round-off may keep them from their very last digits
constexpr double kConeRoundOff = 1e-10;   // of the terms, of what such a solution leaves
constexpr double kNear = 1e-9;            // of a limit or the largest force: on the border
constexpr double kLongest = 10;           // [s]

/// `limit` is the one it was solved with. A law whose reaction lies inside its set rests, whatever round-off made of
/// its acceleration.
Mode mode_of_solution(const DecisionLaw& law, double limit, const double* r, const double* a, const double* tiny_a,
                      double tiny_r) {
  const Set& set = law.set;
  switch (set.kind) {
    case SetKind::interval:
      if (std::abs(r[0]) < kInside * limit) return Mode::stick;
      return a[0] > tiny_a[0] ? Mode::slip_plus : a[0] < -tiny_a[0] ? Mode::slip_minus : Mode::stick;
    case SetKind::half_line:
      return r[0] <= tiny_r && a[0] > tiny_a[0] ? Mode::open : Mode::closed;
    case SetKind::disk:
    case SetKind::polygon:
    case SetKind::box:
      if (std::hypot(r[0], r[1]) < kInside * limit) return Mode::stick;
      return std::abs(a[0]) > tiny_a[0] || std::abs(a[1]) > tiny_a[1] ? Mode::slip : Mode::stick;
    default:
      break;
  }
  if (r[0] <= tiny_r && a[0] > tiny_a[0]) return Mode::open;
  if (set.limit == 0 && law.static_limit == 0) return Mode::closed;
  if (std::hypot(r[1], set.size == 3 ? r[2] : 0.0) < kInsideCone * limit * r[0]) return Mode::stick;
  if (set.size == 2) return a[1] > tiny_a[1] ? Mode::slip_plus : a[1] < -tiny_a[1] ? Mode::slip_minus : Mode::stick;
  return std::abs(a[1]) > tiny_a[1] || std::abs(a[2]) > tiny_a[2] ? Mode::slip : Mode::stick;
}

/// Limits that the laws are solved with; false: there are several per law, and the modes are not counted.
bool first_limits(const DecisionProblem& problem, std::vector<Set>& sets) {
  bool single = true;
  for (const DecisionLaw& law : problem.laws) {
    Set set = law.set;
    if (law.role != LawRole::released) set.limit = law.static_limit;
    single &= !(set.limit > law.set.limit) && !is_cone(set.kind);
    sets.push_back(set);
  }
  return single;
}

/// The modes of a solution. True: some law that slips gave way above its dynamic limit, which it has now.
bool read_modes(const DecisionProblem& problem, double round_off, DualProblem& dual, Decision& decision) {
  Vector tiny = problem.b.cwiseAbs() + problem.D.cwiseAbs() * decision.r.cwiseAbs();
  tiny *= round_off;
  const double tiny_r = round_off * (decision.r.size() > 0 ? decision.r.lpNorm<Eigen::Infinity>() : 0);
  decision.modes.clear();
  bool changed = false;
  Index i = 0;
  for (std::size_t l = 0; l < problem.laws.size(); ++l) {
    const DecisionLaw& law = problem.laws[l];
    const Mode mode =
        mode_of_solution(law, dual.sets[l].limit, &decision.r[i], &decision.acceleration[i], &tiny[i], tiny_r);
    const bool slips = mode == Mode::slip || mode == Mode::slip_plus || mode == Mode::slip_minus;
    if (slips && dual.sets[l].limit > law.set.limit) {
      dual.sets[l].limit = law.set.limit;
      changed = true;
    }
    decision.modes.push_back(mode);
    i += law.set.size;
  }
  return changed;
}

Decision solve_inclusion(const DecisionProblem& problem, const DecisionOptions& options) {
  Decision decision;
  DualProblem dual{problem.D, problem.b, {}};
  decision.admissible = first_limits(problem, dual.sets);
  const bool boxes = all_boxes(dual.sets);
  SolveOptions solve_options;
  solve_options.tolerance = boxes ? options.tolerance : kConeTolerance;
  solve_options.max_seconds = kLongest;
  solve_options.stop = options.stop;
  for (std::size_t round = 0; round <= problem.laws.size(); ++round) {
    InclusionSolution solution;
    if (boxes && problem.monotone && solve_few_boxes(dual, solution.r)) {
      solution.status = Status::success;
    } else {
      solution = solve(dual, solve_options);
    }
    if (solution.status != Status::success && !(solution.residuals.inclusion < kConeAccepted)) {
      decision.status = solution.status;
      decision.message = solution.message;
      return decision;
    }
    decision.r = solution.r;
    decision.acceleration = problem.b + problem.D * solution.r;
    if (!read_modes(problem, boxes ? options.tolerance : kConeRoundOff, dual, decision)) break;
  }
  return decision;
}

/// |r| against the border of the set of a law that rests.
void find_ties(const DecisionProblem& problem, Decision& decision) {
  decision.tied.assign(problem.laws.size(), not_tied);
  Index i = 0;
  for (std::size_t l = 0; l < problem.laws.size(); i += problem.laws[l].set.size, ++l) {
    const DecisionLaw& law = problem.laws[l];
    const double c = law.static_limit, r = decision.r[i];
    const bool tangents = law.set.size > 1;
    switch (decision.modes[l]) {
      case Mode::closed:
        if (r <= kNear * decision.r.lpNorm<Eigen::Infinity>()) decision.tied[l] = tied_to_lift;
        break;
      case Mode::stick:
        if (!is_cone(law.set.kind)) {
          const double size = tangents ? std::hypot(r, decision.r[i + 1]) : std::abs(r);
          if (size >= c * (1 - kNear)) decision.tied[l] = tied_to_slip;
        } else {
          const double size =
              law.set.size == 2 ? std::abs(decision.r[i + 1]) : std::hypot(decision.r[i + 1], decision.r[i + 2]);
          if (size >= c * r * (1 - kNear)) decision.tied[l] = tied_to_slip;
          if (r <= kNear * decision.r.lpNorm<Eigen::Infinity>()) decision.tied[l] = tied_to_lift;
        }
        break;
      default:
        break;
    }
  }
}

/// The problem without the laws that slip whatever is decided: their forces are known, and no limit follows anything.
struct Reduced {
  DecisionProblem problem;
  std::vector<Index> rows;        // components of the whole problem
  std::vector<std::size_t> laws;  // and laws
};

Reduced reduce(const DecisionProblem& whole) {
  Reduced part;
  Index i = 0;
  for (std::size_t l = 0; l < whole.laws.size(); i += whole.laws[l].set.size, ++l) {
    if (whole.laws[l].slips) continue;
    part.laws.push_back(l);
    part.problem.laws.push_back(whole.laws[l]);
    part.problem.laws.back().follows = part.problem.laws.back().other_side = -1;
    for (int c = 0; c < whole.laws[l].set.size; ++c) part.rows.push_back(i + c);
  }
  part.problem.monotone = whole.monotone;
  part.problem.D = whole.D(part.rows, part.rows);
  return part;
}

/// Limits at the reactions r; the largest relative change of one.
double follow(const DecisionProblem& problem, const Vector& r, Vector& limit, Vector& static_limit) {
  const Vector R = problem.R0 + problem.R1 * r;
  double change = 0;
  for (std::size_t l = 0; l < problem.laws.size(); ++l) {
    if (problem.laws[l].follows < 0) continue;
    const auto law = static_cast<std::size_t>(problem.laws[l].follows);
    const auto k = static_cast<Index>(l);
    const double c = problem.limits->limit(law, R), c_s = problem.limits->static_limit(law, R);
    for (const auto& [now, before] : {std::pair(c, limit[k]), std::pair(c_s, static_limit[k])})
      if (now != before) change = std::max(change, std::abs(now - before) / std::max(now, before));
    limit[k] = c;
    static_limit[k] = c_s;
  }
  return change;
}

Decision solve_in_turns(const DecisionProblem& problem, const DecisionOptions& options) {
  constexpr int kMostTurns = 1000;
  constexpr double kSettled = 1e-13;  // of a limit
  const auto laws = static_cast<Index>(problem.laws.size());
  Reduced part = reduce(problem);
  Decision decision, inner;
  Vector r = Vector::Zero(problem.b.size()), limit = Vector::Zero(laws), static_limit = limit;
  follow(problem, r, limit, static_limit);
  for (int turn = 0; turn < kMostTurns; ++turn) {
    r.setZero();
    Index i = 0;
    for (std::size_t l = 0; l < problem.laws.size(); i += problem.laws[l].set.size, ++l)
      for (int c = 0; problem.laws[l].slips && c < problem.laws[l].set.size; ++c)
        r[i + c] = limit[static_cast<Index>(l)] * problem.laws[l].force[static_cast<std::size_t>(c)];
    const Vector b = problem.b + problem.D * r;
    part.problem.b = b(part.rows);
    for (std::size_t j = 0; j < part.laws.size(); ++j) {
      const std::size_t l = part.laws[j];
      if (problem.laws[l].follows < 0) continue;
      part.problem.laws[j].set.limit = limit[static_cast<Index>(l)];
      part.problem.laws[j].static_limit = static_limit[static_cast<Index>(l)];
    }
    inner = solve_inclusion(part.problem, options);
    if (inner.status != Status::success) return inner;
    r(part.rows) = inner.r;
    if (follow(problem, r, limit, static_limit) <= kSettled) {
      find_ties(part.problem, inner);
      decision.r = r;
      decision.acceleration = problem.b + problem.D * r;
      for (const DecisionLaw& law : problem.laws) decision.modes.push_back(law.slip_mode);
      decision.tied.assign(problem.laws.size(), not_tied);
      for (std::size_t j = 0; j < part.laws.size(); ++j) {
        decision.modes[part.laws[j]] = inner.modes[j];
        decision.tied[part.laws[j]] = inner.tied[j];
      }
      for (std::size_t l = 0; l < problem.laws.size(); ++l) {
        const bool follows = problem.laws[l].follows >= 0;
        decision.limit.push_back(follows ? limit[static_cast<Index>(l)] : problem.laws[l].set.limit);
        decision.static_limit.push_back(follows ? static_limit[static_cast<Index>(l)] : problem.laws[l].static_limit);
      }
      return decision;
    }
  }
  decision.status = Status::not_converged;
  decision.message = "limits that follow reactions do not settle: friction raises its own limit as fast";
  return decision;
}

}  // namespace

Decision solve_mode_inclusion(const DecisionProblem& problem, const DecisionOptions& options) {
  if (problem.limits) return solve_in_turns(problem, options);
  Decision decision = solve_inclusion(problem, options);
  if (decision.status == Status::success) find_ties(problem, decision);
  return decision;
}

}  // namespace stickslip
