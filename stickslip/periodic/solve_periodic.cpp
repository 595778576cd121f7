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
#include "stickslip/periodic/orbit_scales.hpp"
#include "stickslip/periodic/periodic_equations.hpp"
#include "stickslip/periodic/residual_newton.hpp"
#include "stickslip/periodic/period_map.hpp"

namespace stickslip {

namespace {

std::vector<const StateFunction*> time_functions(const System& system) {
  std::vector<const StateFunction*> functions;
  system.forces().append_time_functions(functions);
  system.laws().append_time_functions(functions);
  std::erase_if(functions, [](const StateFunction* f) { return !f->depends_on_time(); });
  return functions;
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
      const std::string elastic = exact ? elastic_refusal(solution_.orbit) : "";
      if (!elastic.empty()) {
        solution_.notes.push_back(
            fmt::format("not polished: {}; the certificate 'basis' says what twice the basis changes", elastic));
      } else if (exact && polish_or_run_on(solution_.orbit)) {
        solution_.polished = true;
      } else if (!raised(hooks_.stop)) {
        unpolished(options_.polish && own_law);
      }
    }
    if (raised(hooks_.stop)) return ended(Status::interrupted, "stopped on request");
    progress(0.7);
    judge();
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

  /// Where the orbit does not close at once, some periods of the motion itself may lead nearer to it.
  bool polish_or_run_on(const Orbit& guess) {
    if (polish(guess)) return true;
    Orbit nearer = guess;
    for (const int periods : {3, 20}) {
      if (raised(hooks_.stop) || options_.autonomous || nearer.t.empty()) return false;
      PeriodicProblem on = problem_;
      on.initial = State{nearer.t[0], nearer.q[0], nearer.v[0], {}, {}};
      on.options.start_periods = periods;
      if (!orbit_of_run(on, hooks_.stop, nearer).empty()) return false;
      if (polish(nearer)) {
        solution_.notes.push_back(fmt::format("polished after {} periods of the motion", periods));
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
    ask_for_condition();
    return true;
  }
  void ask_for_condition() {
    ended(Status::refused,
          "the orbit belongs to a family: its neighbours are periodic as well, and nothing selects one; give "
          "condition = \"...\" (what is 0 at t = 0 beside the phase), such as \"x - 0.7\" or \"period - 1.4\"");
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

  /// Springs in series are states of their own: known where all sliders slip, which the orbit is polished from.
  std::string elastic_refusal(const Orbit& orbit) const {
    if (!has_elastic_friction(problem_.system)) return "";
    if (std::string reason = event_refusal(problem_.system); !reason.empty()) return reason;
    for (const std::vector<Mode>& modes : orbit.modes)
      if (sliders_slip(problem_.system, modes)) return "";
    return "friction with a spring in series is polished from an instant at which all sliders slip, and there is none";
  }
  bool event_takes_all() const {
    return event_refusal(problem_.system).empty();
  }

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
    solution_.orbit = weighted.orbit(found.X);
    // Hill's matrices know no memory: not with springs in series.
    if (hooks_.certify && found.status == Status::success && !has_elastic_friction(problem_.system))
      if (auto* residual = dynamic_cast<WeightedResidual*>(&weighted)) solution_.hill = hill_multipliers(*residual, found.X);
    constexpr double kCollapse = 0.05;  // of the start's size: an equilibrium, which has every period
    if (options_.autonomous && !start_.t.empty() &&
        solution_.amplitude().maxCoeff() < kCollapse * 0.5 * (start_.maximum - start_.minimum).maxCoeff()) {
      if (options_.polish && options_.law == LawForm::projection)
        return fall_back("the solution shrank to an equilibrium");
      ended(Status::not_converged, "the solution shrank to an equilibrium; give a condition, or method = \"event\"");
      return false;
    }
    if (found.status == Status::success) return true;
    if (found.status == Status::not_converged && options_.polish && options_.law == LawForm::projection && event_takes_all())
      return fall_back(found.message);
    ended(found.status, found.message);
    return false;
  }

  /// The weighted residual failed: a run may lead to the orbit all the same.
  bool fall_back(const std::string& why) {
    solution_.notes.push_back(
        fmt::format("method = \"event\" from a run instead of \"{}\": {}", to_string(options_.method), why));
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
    weighted_orbit_ = std::move(solution_.orbit);
    solution_.orbit = std::move(orbit.orbit);
    solution_.period = orbit.period;
    solution_.multipliers = orbit.multipliers;
    solution_.family = orbit.family;
    solution_.residual = orbit.residual;
    solution_.polished = true;
    if (options_.method == PeriodicMethod::event || fell_back_) {
      solution_.unknowns = 2 * problem_.system.info().nv() + (options_.autonomous ? 1 : 0);
      solution_.method = to_string(PeriodicMethod::event);
    }
    condition_ = orbit.condition;
    name_grazing();
    return true;
  }

  /// Phases that hardly last, and what they mean.
  void name_grazing() {
    const std::vector<std::string> names = trajectory_names(problem_.system, false).laws;
    const Orbit& orbit = solution_.orbit;
    for (std::size_t k = 0; k < orbit.events.size(); ++k)
      for (std::size_t j = k + 1; j < orbit.events.size(); ++j) {
        const double length = orbit.events[j].t - orbit.events[k].t;
        if (length > 1e-4 * orbit.period) break;
        if (orbit.events[j].law != orbit.events[k].law || length == 0) continue;
        solution_.notes.push_back(fmt::format("'{}' grazes at t = {:.6g} s: a phase of {:.2g} of the period",
                                              names[static_cast<std::size_t>(orbit.events[k].law)], orbit.events[k].t,
                                              length / orbit.period));
        break;
      }
  }

  void unpolished(bool wanted) {
    if (fell_back_ || options_.cyclic.any()) return;
    if (wanted) solution_.notes.push_back("the solution could not be polished: " + polish_message_);
    PeriodMapOptions flow;
    flow.event = problem_.event;
    flow.stop = hooks_.stop;
    const Orbit& orbit = solution_.orbit;
    Vector range = 0.5 * (orbit.maximum - orbit.minimum);
    const double largest = std::max(range.maxCoeff(), 1e-300);
    range = range.cwiseMax(1e-3 * largest);
    PeriodMap map(problem_.system, orbit.t0, range, 2 * std::numbers::pi / orbit.period * range, flow);
    State start{orbit.t[0], orbit.q[0], orbit.v[0], {}, orbit.modes[0]};
    DenseMatrix D, Z = map.directions(start);
    if (options_.law != LawForm::projection || !map.derivative(start, orbit.period, Z, D)) return;
    const Eigen::VectorXcd values = DenseMatrix(Z.transpose() * D).eigenvalues();
    solution_.multipliers = Eigen::VectorXcd::Zero(2 * problem_.system.info().nv());
    solution_.multipliers.head(values.size()) = values;
    std::stable_sort(solution_.multipliers.begin(), solution_.multipliers.end(),
                     [](const auto& a, const auto& b) { return std::abs(a) > std::abs(b); });
  }

  double resolution() const {
    if (solution_.polished) return 0;
    return options_.method == PeriodicMethod::fourier ? options_.harmonics : options_.steps / 4.0;
  }

  void judge() {
    if (!solution_.polished && (options_.method == PeriodicMethod::event || fell_back_)) return;
    solution_.stable = stability(solution_.multipliers, options_.autonomous);
    solution_.status = Status::success;
    if (solution_.family && options_.autonomous && !options_.condition) return ask_for_condition();
    const CertificateLimits limits{resolution()};
    std::vector<Certificate>& list = solution_.certificates;
    if (!hooks_.certify) {
      add_laws(limits, list);
      return;
    }
    add_certificate(list, "residual", solution_.residual, solution_.polished ? 1e-9 : options_.tolerance,
                    solution_.polished ? "distance of the state after one period from its start, over its size"
                                       : "largest weighted residual, over the forces in it");
    // Of a polished orbit about 1/|1 - multiplier|: deviations that take ten million periods to decay or grow are not told
    // from a family. Of weighted residuals the scales of harmonics come on top.
    add_certificate(list, "conditioning", condition_, solution_.polished ? 1e7 : 1e9,
                    "condition number of the equations: above the limit the orbit is degenerate, others are as good");
    add_laws(limits, list);
    compare_with_hill();
    tell_rest();
    add_basis_certificate(list);
    double growth = 0;
    for (const auto& value : solution_.multipliers) growth = std::max(growth, std::abs(value));
    if (!options_.cyclic.any())  // one sector alone does not move like the whole
      add_stepping_certificate(problem_.system, solution_.orbit, solution_.stable.value_or(false) ? 0 : growth, limits,
                             hooks_.stop, list);
    for (const Certificate& certificate : list) {
      if (certificate.ok) continue;
      const bool direction = certificate.name.starts_with("dissipation");
      ended(Status::audit_failed,
            fmt::format("the certificate '{}' failed: {:.3g} is above {:.3g} ({}){}", certificate.name,
                        certificate.value, certificate.limit, certificate.meaning,
                        direction ? "; this is not a Coulomb solution, whatever its residual" : ""));
      return;
    }
  }

  void add_laws(const CertificateLimits& limits, std::vector<Certificate>& list) const {
    add_law_certificates(problem_.system, solution_.orbit, limits, list);
    if (options_.autonomous || driven_by_surfaces())
      std::erase_if(list, [](const Certificate& c) { return c.name == "dissipation_work"; });
  }

  /// Both ways to the multipliers must not contradict each other about stability, but near the border.
  void compare_with_hill() {
    if (solution_.hill.size() == 0 || !solution_.stable || fell_back_) return;
    const auto largest = [&](const Eigen::VectorXcd& values) {
      Index trivial = -1;
      if (options_.autonomous) (values.array() - 1.0).abs().minCoeff(&trivial);
      double size = 0;
      for (Index k = 0; k < values.size(); ++k)
        if (k != trivial) size = std::max(size, std::abs(values[k]));
      return size;
    };
    const double a = largest(solution_.multipliers), b = largest(solution_.hill);
    if (std::abs(a - b) > 0.3 * std::max(1.0, a))
      solution_.notes.push_back(fmt::format(
          "Hill's method on the weighted residual has the largest multiplier {:.4g}, the monodromy {:.4g}", b, a));
    if ((a < 1) != (b < 1) && std::abs(a - 1) > 0.1 && std::abs(b - 1) > 0.1 && !solution_.polished)
      solution_.stable = std::nullopt;
  }

  /// A periodic motion was asked for, and nothing moves.
  void tell_rest() {
    const Orbit& orbit = solution_.orbit;
    if (!solution_.polished || orbit.t.empty()) return;
    for (const Vector& v : orbit.v)
      if (!v.isZero(0)) return;
    solution_.notes.push_back(
        options_.autonomous
            ? "nothing moves: this is an equilibrium, which has every period; start where the motion is larger"
            : "nothing moves: friction holds every coordinate through the whole period, as it does at neighbouring positions; the "
              "excitation stays below its limits");
  }

  bool driven_by_surfaces() const {
    for (const FrictionElement& law : problem_.system.laws().friction())
      if (!law.surface_velocity.empty()) return true;
    return false;
  }

  /// The weighted residual against the polished orbit, or against itself with twice the basis.
  void add_basis_certificate(std::vector<Certificate>& list) {
    if (options_.method == PeriodicMethod::event || fell_back_) return;
    // Harmonics hold no impact: they are a start for the polished orbit, and say nothing about it.
    const auto impact = [](const Event& event) { return event.kind == EventKind::impact; };
    if (solution_.polished && std::any_of(solution_.orbit.events.begin(), solution_.orbit.events.end(), impact)) return;
    const Orbit& reference = solution_.polished ? weighted_orbit_ : solution_.orbit;
    const double basis = options_.method == PeriodicMethod::fourier ? options_.harmonics : options_.steps / 4.0;
    Vector other = solution_.amplitude();
    if (!solution_.polished) {
      PeriodicOptions finer = options_;
      finer.harmonics *= 2;
      finer.steps *= 2;
      finer.samples *= 2;
      const auto made = make_equations(problem_.system, finer, problem_.initial.t, problem_.initial.q);
      PeriodicEquations& weighted = *made;
      Orbit guess = solution_.orbit;
      guess.t.push_back(guess.t0 + guess.period);
      guess.q.push_back(guess.q[0]);
      guess.v.push_back(guess.v[0]);
      guess.r.push_back(guess.r[0]);
      const Vector X = weighted.start_from(guess);
      if (options_.autonomous) weighted.set_phase_reference(X);
      const ResidualSolution found =
          solve_residual(weighted, X, {.tolerance = options_.tolerance, .homotopy = false, .stop = hooks_.stop});
      if (found.status == Status::success) {
        const Orbit orbit = weighted.orbit(found.X);
        other = 0.5 * (orbit.maximum - orbit.minimum);
      } else {
        other.setConstant(HUGE_VAL);
      }
    }
    const Vector own = 0.5 * (reference.maximum - reference.minimum);
    const double change = (own - other).cwiseAbs().maxCoeff() / std::max(own.maxCoeff(), 1e-300);
    add_certificate(list, "basis", std::isfinite(change) ? change : HUGE_VAL, std::max(4 / basis, 1e-3),
                    solution_.polished ? "change of the amplitude from the weighted residual to the polished orbit"
                                       : "change of the amplitude with twice the basis");
  }

  const PeriodicProblem& problem_;
  PeriodicOptions options_;
  const PeriodicHooks& hooks_;
  PeriodicSolution solution_;
  Orbit start_, weighted_orbit_;
  double condition_ = 0;
  bool fell_back_ = false;
  std::string polish_message_;
};

}  // namespace

std::string_view periodic_status_name(Status status) {
  return status == Status::audit_failed ? "rejected" : to_string(status);
}

std::optional<bool> stability(const Eigen::VectorXcd& multipliers, bool autonomous) {
  constexpr double kBorder = 1e-6;  // accuracy of multipliers by differences of the motion
  if (multipliers.size() == 0) return std::nullopt;
  Index trivial = -1;
  if (autonomous) (multipliers.array() - 1.0).abs().minCoeff(&trivial);
  double largest = 0;
  for (Index k = 0; k < multipliers.size(); ++k)
    if (k != trivial) largest = std::max(largest, std::abs(multipliers[k]));
  if (std::abs(largest - 1) <= kBorder) return std::nullopt;
  return largest < 1;
}

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

PeriodicSolution solve_periodic(const PeriodicProblem& problem, const PeriodicHooks& hooks) {
  return Solver(problem, hooks).solve();
}

}  // namespace stickslip
