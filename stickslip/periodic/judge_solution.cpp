// SPDX-License-Identifier: Apache-2.0
#include "stickslip/periodic/judge_solution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "stickslip/motion/event/mode_dynamics.hpp"
#include "stickslip/periodic/indeterminacy.hpp"
#include "stickslip/periodic/orbit_scales.hpp"
#include "stickslip/periodic/periodic_equations.hpp"
#include "stickslip/periodic/residual_newton.hpp"

namespace stickslip {

namespace {

class Judge {
 public:
  Judge(const JudgedMotion& motion, PeriodicSolution& solution)
      : problem_(motion.problem),
        options_(motion.options),
        hooks_(motion.hooks),
        weighted_orbit_(motion.weighted_orbit),
        condition_(motion.condition),
        fell_back_(motion.fell_back),
        smallest_(motion.smallest),
        solution_(solution) {}

  void judge() {
    if (!solution_.polished && (options_.method == PeriodicMethod::event || fell_back_)) return;
    solution_.stable =
        stability(solution_.multipliers, (options_.autonomous ? 1 : 0) + solution_.held + solution_.shifts);
    solution_.status = Status::success;
    if (solution_.family && options_.autonomous && !options_.condition) {
      ask_for_condition(solution_);
      return;
    }
    constexpr double kRest = 1e-9;  // of a free motion: round-off of rest is less
    if (!(smallest_ > 0)) smallest_ = kRest * free_displacement(problem_.system, solution_.orbit);
    const CertificateLimits limits{resolution(), smallest_};
    std::vector<Certificate>& list = solution_.certificates;
    if (!hooks_.certify) {
      add_laws(limits, list);
      return;
    }
    add_certificate(list, "residual", solution_.residual, solution_.polished ? 1e-9 : options_.tolerance,
                    solution_.polished ? "distance of the state after one period from its start, over its size"
                                       : "largest weighted residual, over the forces in it");
    // Of a polished orbit about 1/|1 - multiplier|: deviations that take ten million periods to decay or grow are not
    // told from a family. Of weighted residuals the scales of harmonics come on top.
    add_certificate(list, "conditioning", condition_, solution_.polished ? 1e7 : 1e9,
                    "condition number of the equations: above the limit the orbit is degenerate, others are as good");
    add_laws(limits, list);
    compare_with_hill();
    tell_rest();
    tell_lost_excitation();
    add_basis_certificate(list);
    double growth = 0;
    for (const auto& value : solution_.multipliers) growth = std::max(growth, std::abs(value));
    CertificateLimits seen = limits;
    constexpr double kUnresolved = 1e-3;  // of what the forces would move: a smaller motion is none to a basis
    if (!solution_.polished) seen.smallest = std::max(seen.smallest, kUnresolved * smallest_ / options_.tolerance);
    if (!options_.cyclic.any())  // one sector alone does not move like the whole
      add_stepping_certificate(problem_.system, solution_.orbit, solution_.stable.value_or(false) ? 0 : growth, seen,
                               hooks_.stop, list);
    for (const Certificate& certificate : list) {
      if (certificate.ok) continue;
      const bool direction = certificate.name.starts_with("dissipation");
      solution_.status = Status::audit_failed;
      solution_.message = fmt::format("the certificate '{}' failed: {:.3g} is above {:.3g} ({}){}", certificate.name,
                                      certificate.value, certificate.limit, certificate.meaning,
                                      direction ? "; this is not a Coulomb solution, whatever its residual" : "");
      return;
    }
  }

 private:
  double resolution() const { return solution_.polished ? 0 : basis_resolution(options_); }

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

  /// A periodic motion was asked for, and nothing moves; or something does not, and may be held elsewhere as well.
  void tell_rest() {
    const Orbit& orbit = solution_.orbit;
    if (orbit.t.empty()) return;
    const bool still = (orbit.maximum - orbit.minimum).maxCoeff() <= smallest_;
    const std::vector<std::size_t> held = held_laws(orbit);
    const std::vector<std::string> names = trajectory_names(problem_.system, false).laws;
    std::string list;
    for (const std::size_t k : held) list += fmt::format("{}'{}'", list.empty() ? "" : ", ", names[k]);
    if (still && options_.autonomous)
      solution_.notes.push_back(
          "nothing moves: this is an equilibrium, which has every period; start where the motion is larger");
    else if (still && held.empty())
      solution_.notes.push_back("nothing moves: the excitation does not reach what could move");
    else if (still)
      solution_.notes.push_back(
          fmt::format("nothing moves: held through the whole period by {}{}", list,
                      holds_with_room(held) ? ", at neighbouring positions as well" : "; its limit is reached"));
    if (!still && solution_.held > 0) {
      solution_.notes.push_back(
          fmt::format("held through the whole period: {}; neighbouring places that friction holds as well have motions "
                      "of their own, stability "
                      "and conditioning are those of the motion with these places given",
                      list));
    }
    if (solution_.shifts > 0 && !still)
      solution_.notes.push_back("nothing refers to where the motion takes place: moved by a constant it is as good");
    if (solution_.reactions_open)
      solution_.notes.push_back(
          "laws that share a freedom stick together: the motion is determined, how they share the force is not");
  }

  /// Harmonics of the forces that the basis does not have are not in its solution.
  void tell_lost_excitation() {
    constexpr double kLost = 1e-6;  // of the root mean square of what varies
    constexpr int kTimes = 1024;
    if (solution_.polished || options_.method != PeriodicMethod::fourier || options_.autonomous ||
        2 * options_.harmonics >= kTimes)
      return;
    const System& system = problem_.system;
    const Vector still = Vector::Zero(system.info().nv()), &q = problem_.initial.q;
    SystemWorkspace workspace(system);
    DenseMatrix forces(still.size(), kTimes), waves(kTimes, 2 * options_.harmonics);
    Vector h = still;
    for (int j = 0; j < kTimes; ++j) {
      system.force(solution_.orbit.t0 + options_.motion_period() * j / kTimes, q, still, workspace, h);
      forces.col(j) = h;
      for (int k = 1; k <= options_.harmonics; ++k) {
        const double angle = 2 * std::numbers::pi * static_cast<double>((static_cast<long>(k) * j) % kTimes) / kTimes;
        waves(j, 2 * k - 2) = std::cos(angle);
        waves(j, 2 * k - 1) = std::sin(angle);
      }
    }
    forces.colwise() -= Vector(forces.rowwise().mean());
    const double all = forces.norm();
    forces -= 2.0 / kTimes * (forces * waves) * waves.transpose();
    if (forces.norm() > kLost * all)
      solution_.notes.push_back(
          fmt::format("{:.2g} of the excitation lies beyond harmonics = {} and is left out; raise them, or polish",
                      forces.norm() / all, options_.harmonics));
  }

  /// No law of these comes to its limit.
  bool holds_with_room(const std::vector<std::size_t>& held) const {
    constexpr double kAtLimit = 1e-4;  // of it: forces at rows are means over parts of a four-hundredth of the period
    ModeDynamics dynamics(problem_.system);
    const Orbit& orbit = solution_.orbit;
    for (const std::size_t k : held) {
      const ModeDynamics::Law& law = dynamics.laws()[k];
      for (std::size_t j = 0; j < orbit.r.size(); ++j) {
        const double limit = law.contact ? law.contact->mu_static.value_or(law.contact->mu) * orbit.r[j][law.first]
                                         : orbit.limit[j][static_cast<Index>(k)];
        if (orbit.r[j].segment(law.tangent(), law.tangents).norm() >= (1 - kAtLimit) * limit) return false;
      }
    }
    return true;
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
    Orbit other = solution_.orbit;
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
      other = found.status == Status::success ? weighted.orbit(found.X) : Orbit{};
    }
    constexpr double kNone = 1000;  // residuals of the finer basis where it is near rest
    const double least = solution_.polished ? smallest_ / options_.tolerance : kNone * smallest_;
    const double change = other.t.empty() ? HUGE_VAL : orbit_change(reference, other, least);
    add_certificate(
        list, "basis", change, basis_limit(options_),
        solution_.polished
            ? "change of the amplitude from the weighted residual to the polished orbit, over the amplitude "
              "or what the forces alone would move"
            : "change of the amplitude with twice the basis");
  }

  const PeriodicProblem& problem_;
  const PeriodicOptions& options_;
  const PeriodicHooks& hooks_;
  const Orbit& weighted_orbit_;
  double condition_;
  bool fell_back_;
  double smallest_;
  PeriodicSolution& solution_;
};

}  // namespace

double orbit_change(const Orbit& a, const Orbit& b, double least) {
  const Vector own = 0.5 * (a.maximum - a.minimum), other = 0.5 * (b.maximum - b.minimum);
  return (own - other).cwiseAbs().maxCoeff() /
         std::max({own.maxCoeff(), other.maxCoeff(), least, std::numeric_limits<double>::min()});
}

double basis_limit(const PeriodicOptions& options) {
  constexpr double kFinest = 1e-3;
  return std::max(CertificateLimits{basis_resolution(options)}.displacement(), kFinest);
}

double basis_resolution(const PeriodicOptions& options) {
  return options.method == PeriodicMethod::fourier ? options.harmonics : options.steps / 4.0;
}

void judge_solution(const JudgedMotion& motion, PeriodicSolution& solution) { Judge(motion, solution).judge(); }

void ask_for_condition(PeriodicSolution& solution) {
  solution.status = Status::refused;
  solution.message =
      "the orbit belongs to a family: its neighbours are periodic as well, and nothing selects one; give "
      "condition = \"...\" (what is 0 at t = 0), such as \"x - 0.7\" or \"period - 1.4\"; a place is reached with any "
      "velocity: with "
      "phase = \"v_x\" beside it, x - 0.7 is where x turns back";
}

}  // namespace stickslip
