// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/solve_periodic.hpp"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/elastic_friction.hpp"
#include "stickslip/periodic/event_orbit.hpp"
#include "stickslip/periodic/hill.hpp"
#include "stickslip/periodic/indeterminacy.hpp"
#include "stickslip/periodic/judge_solution.hpp"
#include "stickslip/periodic/orbit_path.hpp"
#include "stickslip/periodic/orbit_scales.hpp"
#include "stickslip/periodic/period_map.hpp"
#include "stickslip/periodic/periodic_equations.hpp"
#include "stickslip/periodic/residual_newton.hpp"

namespace stickslip {

namespace {

constexpr Index kMostCoordinates = 1000;
constexpr double kDegenerate = 1e9;  // condition number, as the certificate has it

Vector mean_position(const Orbit& orbit) {
  Vector sum = orbit.q.empty() ? Vector{} : Vector::Zero(orbit.q[0].size());
  for (const Vector& q : orbit.q) sum += q;
  return orbit.q.empty() ? sum : Vector(sum / static_cast<double>(orbit.q.size()));
}

class Solver {
 public:
  Solver(const PeriodicProblem& problem, const PeriodicHooks& hooks)
      : problem_(problem), options_(problem.options), hooks_(hooks) {}

  PeriodicSolution solve() {
    require_periodic(problem_.system, options_, problem_.initial);
    choose_method();
    if (options_.method == PeriodicMethod::event) {
      if (!find_start()) return solution_;
      progress(0.3);
      if (!polish_or_run_on(start_)) return solution_;
    } else {
      if (!solve_weighted()) return solution_;
      progress(0.4);
      const bool own_law = options_.law == LawForm::projection;
      const bool exact = options_.polish && own_law && !options_.cyclic.any();
      const std::string refusal = exact ? polish_refusal() : "";
      if (!refusal.empty()) {
        solution_.notes.push_back(
            fmt::format("not polished: {}; the certificate 'basis' says what twice the basis changes", refusal));
      } else if (exact && (polish_rest() || polish_or_run_on(solution_.orbit))) {
        solution_.polished = true;
      } else if (!raised(hooks_.stop)) {
        unpolished(options_.polish && own_law);
      }
    }
    if (raised(hooks_.stop)) return ended(Status::interrupted, "stopped on request");
    progress(0.7);
    judge_solution({problem_, options_, hooks_, weighted_orbit_, condition_, fell_back_, smallest_}, solution_);
    progress(1);
    return solution_;
  }

 private:
  void progress(double fraction) const {
    if (hooks_.progress) hooks_.progress(fraction);
  }
  PeriodicSolution& ended(Status status, std::string message) {
    solution_.status = status;
    solution_.message = std::move(message);
    return solution_;
  }

  void choose_method() {
    solution_.period = options_.motion_period();
    if (options_.method != PeriodicMethod::event)
      if (const std::string reason = equations_refusal(problem_.system, options_.method); !reason.empty()) {
        if (const std::string other = event_refusal(problem_.system); !other.empty())
          throw InputError(fmt::format("method = \"{}\" does not apply: {}; nor does \"event\": {}",
                                       to_string(options_.method), reason, other));
        solution_.notes.push_back(
            fmt::format("method = \"event\" instead of \"{}\": {}", to_string(options_.method), reason));
        options_.method = PeriodicMethod::event;
      }
    solution_.method = to_string(options_.method);
  }

  bool find_start() {
    if (problem_.start) {
      start_ = *problem_.start;
      fit_period();
      return true;
    }
    const std::string message = orbit_of_run(problem_, hooks_.stop, start_);
    if (message.empty()) return true;
    ended(raised(hooks_.stop) ? Status::interrupted : Status::not_converged, message);
    return false;
  }

  /// A forced motion takes the period of its excitation: the start is stretched over it.
  void fit_period() {
    const double T = options_.motion_period(), ratio = T / start_.period;
    if (options_.autonomous || ratio == 1) return;
    for (double& t : start_.t) t = problem_.initial.t + (t - start_.t0) * ratio;
    for (Vector& v : start_.v) v /= ratio;
    start_.t0 = problem_.initial.t;
    start_.period = T;
  }

  /// A motion that is hardly one may be rest, at a place that a basis does not hit: tried there, where the start
  /// begins, and where the linear response is on average.
  bool polish_rest() {
    constexpr double kHardly = 1e-3;  // of what the forces would move
    const Orbit& orbit = solution_.orbit;
    if (options_.autonomous ||
        !((orbit.maximum - orbit.minimum).maxCoeff() <= kHardly * smallest_ / options_.tolerance))
      return false;
    for (const Vector& place : {orbit.q[0], problem_.initial.q, linear_mean_}) {
      if (place.size() != orbit.q[0].size()) continue;
      PeriodicProblem still = problem_;
      still.options.start_periods = 1;
      still.initial = state_at(problem_.system, orbit, 0);
      still.initial.t = orbit.t0;
      still.initial.q = place;
      still.initial.v.setZero();
      still.initial.modes.clear();
      Orbit rest;
      if (orbit_of_run(still, hooks_.stop, rest).empty() && rest.maximum == rest.minimum && polish(rest)) return true;
    }
    return false;
  }

  /// Where the orbit does not close at once, some periods of the motion itself may lead nearer to it.
  bool polish_or_run_on(const Orbit& guess) {
    if (polish(guess)) return true;
    Orbit nearer = guess;
    int run = 0;  // periods before the one that is polished
    for (const int periods : {3, 20}) {
      if (raised(hooks_.stop) || options_.autonomous || nearer.t.empty()) return false;
      PeriodicProblem on = problem_;
      on.initial = state_at(problem_.system, nearer, 0);
      on.initial.modes.clear();
      on.options.start_periods = periods;
      if (!orbit_of_run(on, hooks_.stop, nearer).empty()) return false;
      run += periods - 1;
      if (polish(nearer)) {
        solution_.notes.push_back(fmt::format("polished after {} periods of the motion", run));
        return true;
      }
    }
    return false;
  }

  /// Of a family the weighted residual would end anywhere, equilibria included: asked of the run's own orbit.
  bool belongs_to_family() {
    EventOrbitOptions options;
    options.flow.event = problem_.event;
    options.flow.stop = hooks_.stop;
    const EventOrbitSolution orbit = solve_event_orbit(problem_.system, options_, start_, options);
    if (orbit.status != Status::success || !orbit.family) return false;
    solution_.orbit = orbit.orbit;
    solution_.period = orbit.period;
    solution_.multipliers = orbit.multipliers;
    solution_.residual = orbit.residual;
    solution_.family = solution_.polished = true;
    ask_for_condition(solution_);
    return true;
  }
  ResidualSolution newton(PeriodicEquations& weighted, const Vector& X, bool homotopy) {
    ResidualSolution found = solve_residual(weighted, X,
                                            {.tolerance = options_.tolerance,
                                             .max_iterations = options_.max_iterations,
                                             .homotopy = homotopy,
                                             .stop = hooks_.stop});
    solution_.iterations += found.iterations;
    return found;
  }

  /// The event scheme has full matrices between all coordinates, and factors them at one go.
  bool too_large() const { return problem_.system.info().nv() > kMostCoordinates; }
  std::string polish_refusal() const {
    if (too_large())
      return fmt::format(
          "the model has {} coordinates, and its motion from event to event is followed up to {}; "
          "[matrices] reduce brings it there",
          problem_.system.info().nv(), kMostCoordinates);
    return has_elastic_friction(problem_.system) ? event_refusal(problem_.system) : "";
  }
  bool event_takes_all() const { return !too_large() && event_refusal(problem_.system).empty(); }

  bool solve_weighted() {
    const auto made = make_equations(problem_.system, options_, problem_.initial.t, problem_.initial.q);
    PeriodicEquations& weighted = *made;
    Vector X = problem_.start_coefficients;
    bool near = X.size() == weighted.unknowns();
    if (!near && (problem_.start || options_.start != PeriodicStart::linear || options_.autonomous)) {
      if (!find_start()) return false;
      if (options_.autonomous && !options_.condition && belongs_to_family()) return false;
      X = weighted.start_from(start_);
      near = true;
    } else if (!near) {
      X = weighted.linear_start();
      linear_mean_ = mean_position(weighted.orbit(X));
    }
    if (options_.autonomous) weighted.set_phase_reference(X);
    ResidualSolution found = newton(weighted, X, !near);
    if (found.status == Status::not_converged && !near && event_takes_all() && find_start()) {
      ResidualSolution nearer = newton(weighted, weighted.start_from(start_), false);
      if (nearer.status == Status::success) {
        found = std::move(nearer);
        solution_.notes.push_back("from a run: from the linear response Newton's iteration does not converge");
      }
      solution_.status = Status::not_converged, solution_.message.clear();
    }
    solution_.residual = found.residual;
    solution_.unknowns = weighted.unknowns();
    solution_.coefficients = found.X;
    solution_.period = weighted.period(found.X);
    condition_ = found.condition;
    if (hooks_.certify && found.status == Status::success && !(condition_ <= kDegenerate)) {
      const Indeterminacy open = judge_open_directions(weighted, found.X, condition_);
      condition_ = open.condition;
      solution_.shifts = open.shifts;
      solution_.reactions_open = open.reactions > 0;
    }
    solution_.orbit = weighted.orbit(found.X);
    smallest_ = options_.tolerance * weighted.displacement_unit();
    if (found.status == Status::success) settle(solution_.orbit);
    // Hill's matrices know no memory: not with springs in series.
    if (hooks_.certify && found.status == Status::success && !has_elastic_friction(problem_.system))
      if (auto* residual = dynamic_cast<WeightedResidual*>(&weighted))
        solution_.hill = hill_multipliers(*residual, found.X);
    constexpr double kCollapse = 0.05;  // of the start's size: an equilibrium, which has every period
    if (options_.autonomous && !start_.t.empty() &&
        solution_.amplitude().maxCoeff() < kCollapse * 0.5 * (start_.maximum - start_.minimum).maxCoeff()) {
      if (options_.polish && options_.law == LawForm::projection)
        return fall_back("the solution shrank to an equilibrium");
      ended(Status::not_converged, "the solution shrank to an equilibrium; give a condition, or method = \"event\"");
      return false;
    }
    if (found.status == Status::success) return true;
    if (found.status == Status::not_converged && options_.polish && options_.law == LawForm::projection &&
        event_takes_all())
      return fall_back(found.message);
    ended(found.status, found.message);
    return false;
  }

  /// A motion below what the equations are solved to is rest.
  void settle(Orbit& orbit) const {
    const double slow = smallest_ * 2 * std::numbers::pi / orbit.period;
    const auto moves = [&](const Vector& v) { return v.lpNorm<Eigen::Infinity>() > slow; };
    if (orbit.q.empty() || std::any_of(orbit.v.begin(), orbit.v.end(), moves)) return;
    for (Vector& q : orbit.q) q = orbit.q[0];
    for (Vector& v : orbit.v) v.setZero();
    orbit.minimum = orbit.maximum = orbit.q[0];
  }

  /// The weighted residual failed: a run may lead to the orbit all the same.
  bool fall_back(const std::string& why) {
    solution_.notes.push_back(fmt::format("method = \"event\" from {} instead of \"{}\": {}",
                                          problem_.start ? "the start that was given" : "a run",
                                          to_string(options_.method), why));
    if (!find_start()) {
      solution_.message = fmt::format("{}; {}", why, solution_.message);
      return false;
    }
    solution_.orbit = start_;
    fell_back_ = true;
    return true;
  }

  bool polish(const Orbit& guess) {
    EventOrbitOptions options;
    options.flow.event = problem_.event;
    options.flow.stop = hooks_.stop;
    EventOrbitSolution orbit = solve_event_orbit(problem_.system, options_, guess, options);
    solution_.iterations += orbit.iterations;
    polish_message_ = orbit.message;
    if (orbit.status != Status::success) {
      if (options_.method == PeriodicMethod::event || fell_back_) {
        solution_.residual = orbit.residual;
        ended(orbit.status, orbit.message);
      }
      return false;
    }
    if (left_start(orbit.orbit)) {
      polish_message_ = "the orbit that closes is another one";
      return false;
    }
    solution_.message.clear();
    weighted_orbit_ = std::move(solution_.orbit);
    solution_.orbit = std::move(orbit.orbit);
    solution_.period = orbit.period;
    solution_.multipliers = orbit.multipliers;
    solution_.family = orbit.family;
    solution_.held = orbit.held;
    solution_.shifts = orbit.shifts;
    solution_.residual = orbit.residual;
    solution_.polished = true;
    solution_.notes.insert(solution_.notes.end(), orbit.notes.begin(), orbit.notes.end());
    if (options_.method == PeriodicMethod::event || fell_back_) {
      solution_.unknowns = 2 * problem_.system.info().nv() + (options_.autonomous ? 1 : 0);
      solution_.method = to_string(PeriodicMethod::event);
    }
    condition_ = orbit.condition;
    name_grazing();
    return true;
  }

  /// A point of a path is this motion, and not where runs from it lead.
  bool left_start(const Orbit& orbit) const {
    if (problem_.start_coefficients.size() == 0 || options_.method == PeriodicMethod::event) return false;
    return orbit_change(solution_.orbit, orbit, smallest_ / options_.tolerance) > basis_limit(options_) &&
           impacts(orbit) == 0;
  }

  /// Phases that hardly last: touched, and no more.
  void name_grazing() {
    constexpr double kShort = 1e-4;  // of the period
    const std::vector<std::string> names = trajectory_names(problem_.system, false).laws;
    const Orbit& orbit = solution_.orbit;
    for (std::size_t law = 0; law < names.size(); ++law) {
      std::vector<std::pair<double, Mode>> phases;  // begin, mode
      for (std::size_t j = 0; j < orbit.modes.size(); ++j)
        if (phases.empty() || phases.back().second != orbit.modes[j][law])
          phases.emplace_back(orbit.t[j], orbit.modes[j][law]);
      for (std::size_t k = 1; k + 1 < phases.size(); ++k) {
        const double length = (phases[k + 1].first - phases[k].first) / orbit.period;
        const bool stops = phases[k].second == Mode::stick;  // in passing, or where it turns back
        if (length > kShort || !(stops || phases[k - 1].second == phases[k + 1].second)) continue;
        solution_.notes.push_back(fmt::format("'{}' grazes at t = {:.6g} s: a phase of {:.2g} of the period",
                                              names[law], phases[k].first, length));
      }
    }
  }

  void unpolished(bool wanted) {
    if (fell_back_ || options_.cyclic.any() || too_large()) return;
    if (wanted) solution_.notes.push_back("the solution could not be polished: " + polish_message_);
    PeriodMapOptions flow;
    flow.event = problem_.event;
    flow.stop = hooks_.stop;
    const Orbit& orbit = solution_.orbit;
    Vector range = 0.5 * (orbit.maximum - orbit.minimum);
    const double largest = std::max(range.maxCoeff(), 1e-300);
    range = range.cwiseMax(1e-3 * largest);
    PeriodMap map(problem_.system, orbit.t0, range, 2 * std::numbers::pi / orbit.period * range, flow);
    const State start = state_at(problem_.system, orbit, 0);
    DenseMatrix D, Z = map.directions(start);
    if (options_.law != LawForm::projection || !map.derivative(start, orbit.period, Z, D)) return;
    solution_.held = Z.cols() - map.directions(start, held_laws(orbit)).cols();
    const Eigen::VectorXcd values = DenseMatrix(Z.transpose() * D).eigenvalues();
    solution_.multipliers = Eigen::VectorXcd::Zero(std::max(2 * problem_.system.info().nv(), values.size()));
    solution_.multipliers.head(values.size()) = values;
    std::stable_sort(solution_.multipliers.begin(), solution_.multipliers.end(),
                     [](const auto& a, const auto& b) { return std::abs(a) > std::abs(b); });
  }

  const PeriodicProblem& problem_;
  PeriodicOptions options_;
  const PeriodicHooks& hooks_;
  PeriodicSolution solution_;
  Orbit start_, weighted_orbit_;
  Vector linear_mean_;  ///< of the linear response, where it was the start
  double condition_ = 0, smallest_ = 0;
  bool fell_back_ = false;
  std::string polish_message_;
};

}  // namespace

std::string_view periodic_status_name(Status status) {
  return status == Status::audit_failed ? "rejected" : to_string(status);
}

std::optional<bool> stability(const Eigen::VectorXcd& multipliers, Index neutral) {
  constexpr double kBorder = 1e-6;  // accuracy of multipliers by differences of the motion
  if (multipliers.size() == 0) return std::nullopt;
  std::vector<std::complex<double>> values(multipliers.begin(), multipliers.end());
  std::sort(values.begin(), values.end(), [](auto a, auto b) { return std::abs(a - 1.0) < std::abs(b - 1.0); });
  double largest = 0;
  for (auto k = static_cast<std::size_t>(neutral); k < values.size(); ++k)
    largest = std::max(largest, std::abs(values[k]));
  if (std::abs(largest - 1) <= kBorder) return std::nullopt;
  return largest < 1;
}

PeriodicSolution solve_periodic(const PeriodicProblem& problem, const PeriodicHooks& hooks) {
  return Solver(problem, hooks).solve();
}

}  // namespace stickslip
