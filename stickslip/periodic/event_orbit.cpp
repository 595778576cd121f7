// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/event_orbit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/error.hpp"
#include "stickslip/periodic/indeterminacy.hpp"
#include "stickslip/periodic/orbit_scales.hpp"
#include "stickslip/periodic/period_map.hpp"

namespace stickslip {

namespace {

class Closure {
 public:
  Closure(PeriodMap& map, const PeriodicOptions& problem, const Vector& velocity_scale)
      : map_(&map), problem_(&problem), n_(velocity_scale.size()) {}

  State start;
  double T = 0;
  std::vector<std::size_t> held;  ///< laws whose places are given
  double spread = 0;              ///< largest way from the start within the period, over the scales
  Vector R;
  DenseMatrix J, Z, monodromy;

  Index unknowns() const { return Z.cols() + (problem_->autonomous ? 1 : 0); }

  /// Moves the start onto what its modes hold, and finds the directions.
  bool place() {
    StepRecord record;
    State first = start;
    first.modes.clear();
    if (!map_->flow(
            first, first.t + 1e-3 * T, {},
            [&](const StepRecord& r) {
              if (r.state.t == start.t) record = r;
            },
            end_))
      return false;
    start.modes = record.state.modes;
    start.z = record.state.z;
    Z = map_->directions(start, held);
    return true;
  }

  /// R at the start; `slopes`: J as well.
  bool evaluate(bool slopes) {
    const bool by_T = slopes && problem_->autonomous;
    const double delta = 1e-6 * T;
    State early, late;
    State first = start;
    first.modes.clear();
    std::vector<double> times{start.t + 0.25 * T, start.t + 0.5 * T, start.t + 0.75 * T};
    if (by_T) times.insert(times.end(), {start.t + T - delta, start.t + T});
    spread = 0;
    const auto watch = [&](const StepRecord& r) {
      spread = std::max(spread, map_->difference(r.state, start).lpNorm<Eigen::Infinity>());
      if (by_T && r.state.t == times[3]) early = r.state;
      if (by_T && r.state.t == times[4]) end_ = r;
    };
    StepRecord record;
    if (!map_->flow(first, start.t + T + (by_T ? delta : 0.0), times, watch, record)) return false;
    if (by_T) late = record.state;
    if (!by_T) end_ = record;
    const Vector difference = map_->difference(end_.state, start);
    const Index m = Z.cols(), conditions = problem_->autonomous ? 1 + (problem_->condition ? 1 : 0) : 0;
    R.resize(m + conditions);
    R.head(m) = Z.transpose() * difference;
    if (slopes) {
      DenseMatrix D;
      if (!map_->derivative(start, T, Z, D)) return false;
      monodromy = Z.transpose() * D;
      J.setZero(m + conditions, unknowns());
      J.topLeftCorner(m, m) = monodromy - DenseMatrix::Identity(m, m);
      if (by_T && early.q.size() && late.q.size())
        J.col(m).head(m) = Z.transpose() * map_->difference(late, early) * (T / (late.t - early.t));
    }
    if (problem_->autonomous) add_conditions(slopes);
    return R.allFinite() && (!slopes || J.allFinite());
  }

  void move(const Vector& step) {
    map_->displace(Z * step.head(Z.cols()), start);
    if (problem_->autonomous) T *= std::exp(std::clamp(step[Z.cols()], -0.5, 0.5));
  }
  void set_reference(const Vector& rate) { reference_ = start, rate_ = rate; }

 private:
  double condition_value(const StateFunction& f, const State& state, double period) const {
    Variables variables(state.q.size(), state.v.size());
    variables.set(period, state.q, state.v);
    return f(variables.span());
  }
  void add_row(const StateFunction& f, Index row, bool slopes) {
    // Over what it changes by along the scales, so that it weighs as much as the closure.
    const double delta = 1e-6;
    Vector slope(unknowns());
    for (Index k = 0; k < Z.cols(); ++k) {
      State plus = start, minus = start;
      map_->displace(delta * Z.col(k), plus);
      map_->displace(-delta * Z.col(k), minus);
      slope[k] = (condition_value(f, plus, T) - condition_value(f, minus, T)) / (2 * delta);
    }
    slope[Z.cols()] =
        (condition_value(f, start, T * (1 + delta)) - condition_value(f, start, T * (1 - delta))) / (2 * delta);
    const double size = slope.norm() > 0 ? slope.norm() : 1;
    R[row] = condition_value(f, start, T) / size;
    if (slopes) J.row(row) = slope.transpose() / size;
  }
  void add_conditions(bool slopes) {
    const Index m = Z.cols();
    if (problem_->phase) {
      add_row(*problem_->phase, m, slopes);
    } else {
      R[m] = rate_.size() ? rate_.dot(map_->difference(start, reference_)) : 0.0;
      if (slopes && rate_.size()) J.row(m).head(m) = (Z.transpose() * rate_).transpose();
    }
    if (problem_->condition) add_row(*problem_->condition, m + 1, slopes);
  }

  PeriodMap* map_;
  const PeriodicOptions* problem_;
  Index n_;
  StepRecord end_;
  State reference_;
  Vector rate_;
};

/// Where a phase expression is given, the row of the guess at which it changes its sign, else -1.
int phase_row(const PeriodicOptions& problem, const Orbit& guess, std::size_t rows) {
  if (!problem.autonomous || !problem.phase) return -1;
  Variables variables(guess.q[0].size(), guess.v[0].size());
  Vector values(static_cast<Index>(rows));
  for (std::size_t j = 0; j < rows; ++j) {
    variables.set(guess.period, guess.q[j], guess.v[j]);
    values[static_cast<Index>(j)] = (*problem.phase)(variables.span());
  }
  const double range = rows > 0 ? values.maxCoeff() - values.minCoeff() : 0;
  double best = HUGE_VAL;
  int found = -1;
  for (Index j = 1; j < values.size(); ++j) {
    // A velocity that jumps over zero in an impact is no zero.
    if ((values[j] > 0) == (values[j - 1] > 0) || std::abs(values[j] - values[j - 1]) > 0.3 * range) continue;
    const auto row = static_cast<std::size_t>(j);
    variables.set(guess.period, guess.q[row], guess.v[row]);
    // Of several zeros that at which the condition is nearest.
    const double off = problem.condition ? std::abs((*problem.condition)(variables.span())) : 0;
    if (off < best) best = off, found = static_cast<int>(j);
  }
  return found;
}

void read_multipliers(const Closure& closure, Index n, EventOrbitSolution& solution) {
  solution.multipliers = Eigen::VectorXcd::Zero(std::max(2 * n, closure.monodromy.rows()));
  if (closure.monodromy.size() == 0) return;
  const Eigen::VectorXcd values = closure.monodromy.eigenvalues();
  solution.multipliers.head(values.size()) = values;
  std::stable_sort(solution.multipliers.begin(), solution.multipliers.end(),
                   [](const auto& a, const auto& b) { return std::abs(a) > std::abs(b); });
}

/// The motion from a start moved along `direction` is the same motion, moved by as much.
bool is_shift(PeriodMap& map, const State& start, double T, const Vector& direction) {
  constexpr double kSame = 1e-8;  // of the scales, as closures are accepted
  const std::vector<double> times{start.t + 0.25 * T, start.t + 0.5 * T, start.t + 0.75 * T};
  const auto follow = [&](State first, std::vector<State>& list) {
    first.modes.clear();
    StepRecord record;
    const auto keep = [&](const StepRecord& r) {
      if (std::find(times.begin(), times.end(), r.state.t) != times.end()) list.push_back(r.state);
    };
    const bool followed = map.flow(first, start.t + T, times, keep, record);
    list.push_back(record.state);
    return followed;
  };
  State moved = start;
  map.displace(direction, moved);
  std::vector<State> own, other;
  if (!follow(start, own) || !follow(moved, other)) return false;
  for (std::size_t k = 0; k < own.size() && own.size() == other.size(); ++k)
    if (!((map.difference(other[k], own[k]) - direction).lpNorm<Eigen::Infinity>() <= kSame)) return false;
  return own.size() == other.size();
}

/// The closure alone leaves one direction open in an autonomous system (along the motion); another one, but for places
/// that laws are held at and shifts, is a family.
void read_rank(PeriodMap& map, const Closure& closure, bool autonomous, const std::vector<std::size_t>& held,
               EventOrbitSolution& solution) {
  constexpr double kOpen = 1e-7;
  const Index m = closure.Z.cols();
  if (m == 0) return;
  const DenseMatrix given = closure.Z.transpose() * map.directions(closure.start, held);
  const Index left = given.cols(), more = closure.J.cols() - m;
  solution.held = m - left;
  DenseMatrix J(closure.J.rows() - m + left, left + more);
  J.topLeftCorner(left, left) = given.transpose() * closure.J.topLeftCorner(m, m) * given;
  J.topRightCorner(left, more) = given.transpose() * closure.J.topRightCorner(m, more);
  J.bottomLeftCorner(J.rows() - left, left) = closure.J.bottomLeftCorner(J.rows() - left, m) * given;
  J.bottomRightCorner(J.rows() - left, more) = closure.J.bottomRightCorner(J.rows() - left, more);
  if (J.size() == 0) return;
  const Eigen::JacobiSVD<DenseMatrix> svd(J, Eigen::ComputeFullV);
  const Vector& s = svd.singularValues();
  Index last = s.size() - 1;
  while (!autonomous && last >= 0 && !(s[last] > kOpen * std::max(1.0, s[0])) &&
         is_shift(map, closure.start, closure.T, closure.Z * given * svd.matrixV().col(last))) {
    ++solution.shifts;
    --last;
  }
  solution.condition = last < 0 ? 0 : s[last] > 0 ? s[0] / s[last] : HUGE_VAL;
  const Vector open = J.topRows(left).jacobiSvd().singularValues();
  const Index rank = (open.array() > kOpen * std::max(1.0, open.size() ? open[0] : 1.0)).count();
  solution.family = J.cols() - rank - solution.shifts > (autonomous ? 1 : 0);
}

/// Onto the gaps and rows that these modes hold; a message where there is no such state.
std::string project_onto_modes(const System& system, std::vector<Mode> modes, State& state) {
  try {
    ModeDynamics dynamics(system);
    dynamics.place(state.t, state.q, state.v);
    dynamics.project(modes, state.t, state.q, state.v);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

/// A slider that slips where the period begins has its spring at the limit; where it does not slip at the end, the
/// spring may have another length though positions and velocities close.
bool springs_come_back(PeriodMap& map, State start, double period) {
  constexpr double kSameLength = 1e-6;  // of the longest spring; closed motions differ by their tolerance
  Vector before;
  const auto watch = [&](const StepRecord& at) {
    if (before.size() == 0) before = at.state.z;
  };
  StepRecord record;
  start.modes.clear();
  if (!map.flow(start, start.t + period, {}, watch, record)) return true;  // said elsewhere
  const Vector& after = record.state.z;
  return (after - before).lpNorm<Eigen::Infinity>() <=
         kSameLength * std::max(before.lpNorm<Eigen::Infinity>(), after.lpNorm<Eigen::Infinity>());
}

/// Friction with a spring in series whose slider does not move in the guess: where it stands is not for the closure to
/// say.
std::vector<std::size_t> held_sliders(const System& system, const Orbit& guess) {
  const auto& friction = system.laws().friction();
  std::vector<std::size_t> held = held_laws(guess);
  std::erase_if(held, [&](std::size_t k) { return k >= friction.size() || !friction[k].elastic(); });
  return held;
}

/// Newton's iteration with a line search onto the closure.
struct Newton {
  const PeriodMap& map;
  const PeriodicOptions& problem;
  const EventOrbitOptions& options;
  Closure& closure;
  double full;  ///< spread of the start
  bool collapses = false;

  double residual() const { return closure.R.lpNorm<Eigen::Infinity>(); }

  /// Until it closes to round-off, or no step is better. False, with the reason: it cannot be followed, or was stopped.
  bool close(int& iterations, std::string& why) {
    const double aim = map.exact() ? 2e-14 : 1e-11;
    for (; iterations < options.max_iterations && residual() > aim; ++iterations) {
      if (!step()) return true;
      if (raised(options.flow.stop)) return why = "stopped on request", false;
      if (!closure.evaluate(true))
        return why = fmt::format("the motion cannot be followed over a period: {}", map.message()), false;
    }
    return true;
  }

 private:
  bool step() {
    constexpr double kCollapse = 0.05;  // of the motion's size: below, it has become an equilibrium
    // In a family the equations are singular on orbits alone: away from them directions that change the residual by
    // less than it is itself are left out at first, so that the nearest member is found.
    const bool may_be_family = problem.autonomous && !problem.condition;
    const double floor = problem.autonomous ? 1e-7 : 1e-9;
    const Closure before = closure;
    const double norm = closure.R.norm();
    for (const double threshold : {std::clamp(may_be_family ? norm : 0.0, floor, 0.1), floor}) {
      Eigen::CompleteOrthogonalDecomposition<DenseMatrix> qr(before.J.rows(), before.J.cols());
      qr.setThreshold(threshold);
      qr.compute(before.J);
      const Vector step = qr.solve(-before.R);
      if (!step.allFinite()) break;
      for (double length = std::min(1.0, 0.5 / step.lpNorm<Eigen::Infinity>()); length > 1e-3; length *= 0.5) {
        closure = before;
        closure.move(length * step);
        const bool better = closure.place() && closure.evaluate(false) && closure.R.norm() < (1 - 1e-3 * length) * norm;
        collapses = better && problem.autonomous && closure.spread < kCollapse * full;
        if ((better && !collapses) || raised(options.flow.stop)) return true;
      }
      if (!may_be_family) break;
    }
    closure = before;
    return false;
  }
};

/// p > 1: the motion is back at its start after T/p; 1: it is not. Of several the largest.
int repetitions(PeriodMap& map, const Closure& closure) {
  constexpr int kMost = 60;
  constexpr double kBack = 1e-6,
                   kMoves = 1e-3;  // of the scales; what closes is closed anew with the period that it has then
  if (!(closure.spread > kMoves)) return 1;  // rest has every period
  State first = closure.start;
  first.modes.clear();
  std::vector<double> times;
  for (int p = kMost; p > 1; --p) times.push_back(closure.start.t + closure.T / p);
  int found = 1;
  const auto watch = [&](const StepRecord& at) {
    const auto place = std::find(times.begin(), times.end(), at.state.t);
    if (found > 1 || place == times.end()) return;
    if (map.difference(at.state, closure.start).lpNorm<Eigen::Infinity>() <= kBack)
      found = kMost - static_cast<int>(place - times.begin());
  };
  StepRecord record;
  return map.flow(first, times.back(), times, watch, record) ? found : 1;
}

/// To the smallest period, where the conditions hold with it as well.
void reduce_period(PeriodMap& map, Newton& newton, EventOrbitSolution& solution) {
  Closure& closure = newton.closure;
  const double whole_period = closure.T;
  int times = 1;
  for (int p = repetitions(map, closure); p > 1; p = repetitions(map, closure)) {
    constexpr double kNear = 1e-3;   // a condition on the period is another one then
    constexpr double kWhole = 0.99;  // of the motion's size: a part of it that hardly moves is none
    const Closure before = closure;
    std::string why;
    closure.T /= p;
    if (!closure.place() || !closure.evaluate(true) || newton.residual() > kNear ||
        !newton.close(solution.iterations, why) || newton.residual() > newton.options.accept ||
        closure.spread < kWhole * before.spread) {
      closure = before;
      break;
    }
    times *= p;
  }
  if (times > 1)
    solution.notes.push_back(
        fmt::format("the period is 1/{} of the one that was found first, {:.9g} s: the motion repeats itself within it",
                    times, whole_period));
}

}  // namespace

EventOrbitSolution solve_event_orbit(const System& system, const PeriodicOptions& problem, const Orbit& guess,
                                     const EventOrbitOptions& options) {
  EventOrbitSolution solution;
  solution.period = guess.period;
  if (guess.t.empty()) {
    solution.message = "there is no motion to start from";
    return solution;
  }
  Vector q_scale, v_scale;
  orbit_scales(system, guess, q_scale, v_scale);
  const std::size_t rows = distinct_rows(guess);
  const int at_phase = phase_row(problem, guess, rows);
  const std::size_t row = at_phase >= 0 ? static_cast<std::size_t>(at_phase) : quiet_row(system, guess);
  PeriodMap map(system, guess.t[row], q_scale, v_scale, options.flow);
  Closure closure(map, problem, v_scale);
  closure.T = guess.period;
  closure.start = state_at(system, guess, row);
  closure.start.modes.clear();
  solution.message = project_onto_modes(system, guess.modes[row], closure.start);
  if (!solution.message.empty()) return solution;
  const auto failed = [&](const std::string& why) {
    solution.status = raised(options.flow.stop) ? Status::interrupted : Status::not_converged;
    solution.message = why;
    solution.start = closure.start;
    solution.period = closure.T;
    return solution;
  };
  closure.held = held_sliders(system, guess);
  if (!closure.place() || !closure.evaluate(true))
    return failed(fmt::format("the motion cannot be followed over a period: {}", map.message()));
  if (problem.autonomous && !problem.phase) {
    closure.set_reference(closure.Z * closure.J.col(closure.Z.cols()).head(closure.Z.cols()).normalized());
    closure.evaluate(true);
  }
  Newton newton{map, problem, options, closure, closure.spread};
  for (std::string why;;) {
    if (!newton.close(solution.iterations, why)) return failed(why);
    if (closure.held.empty()) break;
    // With all lengths of springs among the unknowns once more: a slider that slips after all has another one at the
    // end.
    closure.held.clear();
    if (!closure.place() || !closure.evaluate(true))
      return failed(fmt::format("the motion cannot be followed over a period: {}", map.message()));
    if (newton.residual() <= options.accept) break;
  }
  if (problem.autonomous && newton.residual() <= options.accept) reduce_period(map, newton, solution);
  const double size = newton.residual();
  solution.start = closure.start;
  solution.period = closure.T;
  solution.residual = size;
  read_multipliers(closure, v_scale.size(), solution);
  if (newton.collapses && !(size <= options.accept))
    return failed("the motion shrinks to an equilibrium; start farther from it, or give a condition");
  if (!(size <= options.accept))
    return failed(
        fmt::format("the motion does not close: {:.2g} of its size is left after {} iterations; begin nearer "
                    "to the orbit",
                    size, solution.iterations));
  if (!springs_come_back(map, closure.start, closure.T))
    return failed(
        "a spring of elastic friction ends the period at another length than it began with; begin nearer to the orbit, "
        "as by "
        "periodic.method = \"fourier\", or start = \"run\" with more start_periods");
  // The rows begin at the time that the guess begins at.
  State first = closure.start;
  StepRecord record;
  if (!problem.autonomous && first.t != guess.t0) {
    first.modes.clear();
    if (!map.flow(first, guess.t0 + closure.T, {}, {}, record)) return failed(map.message());
    first = record.state;
    first.t = guess.t0;
  }
  if (problem.autonomous) first.t = guess.t0;
  if (!record_orbit(map, first, closure.T, options.rows, solution.orbit)) return failed(map.message());
  read_rank(map, closure, problem.autonomous, held_laws(solution.orbit), solution);
  solution.status = Status::success;
  return solution;
}

}  // namespace stickslip
