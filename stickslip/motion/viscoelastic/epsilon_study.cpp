// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/viscoelastic/epsilon_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/comparison.hpp"
#include "stickslip/motion/constrained_motion.hpp"

namespace stickslip {

namespace {

constexpr double kLeastSamples = 400, kSamples = 20;  // of the layer; per √ε

std::vector<double> sample_times(double start, double end, double epsilon, double length, int even) {
  std::vector<double> times;
  const double fast = std::sqrt(epsilon);
  const int dense = static_cast<int>(std::max(kLeastSamples, kSamples * length));
  for (int k = 1; k <= dense; ++k) {
    const double t = start + k * fast * length / dense;
    if (t < end) times.push_back(t);
  }
  for (int k = 1; k <= even; ++k) times.push_back(k == even ? end : start + (end - start) * k / even);
  std::sort(times.begin(), times.end());
  // Times closer than round-off of the clock are one.
  const double near = 1e-13 * (1 + std::abs(end));
  times.erase(std::unique(times.begin(), times.end(), [near](double a, double b) { return b - a <= near; }),
              times.end());
  times.back() = end;
  return times;
}

/// Ideal Λ at the rows of a reference run.
class IdealForces {
 public:
  explicit IdealForces(const System& system) : system_(system), workspace_(system) {}
  const Vector& at(double t, const Vector& q, const Vector& v) {
    constrained_acceleration(system_, t, q, v, workspace_, acceleration_, lambda_);
    lambda_ = -lambda_;
    return lambda_;
  }

 private:
  const System& system_;
  ConstraintWorkspace workspace_;
  Vector acceleration_, lambda_;
};

EpsilonErrors exponents(const std::vector<EpsilonRun>& runs) {
  std::vector<double> epsilons;
  for (const EpsilonRun& run : runs) epsilons.push_back(run.epsilon);
  EpsilonErrors slopes;
  for (double EpsilonErrors::*error :
       {&EpsilonErrors::position, &EpsilonErrors::velocity, &EpsilonErrors::force, &EpsilonErrors::late_position,
        &EpsilonErrors::late_velocity, &EpsilonErrors::late_force, &EpsilonErrors::force_l2}) {
    std::vector<double> errors;
    for (const EpsilonRun& run : runs) errors.push_back(run.errors.*error);
    slopes.*error = fitted_order(epsilons, errors);
  }
  return slopes;
}

}  // namespace

void EpsilonStudyOptions::validate() const {
  if (epsilons.empty()) throw InputError("no epsilon given");
  for (const double epsilon : epsilons)
    if (!(epsilon > 0) || !std::isfinite(epsilon)) throw InputError(fmt::format("epsilon {} must be > 0", epsilon));
  if (!(tolerance >= 1e-14 && tolerance <= 0.1))
    throw InputError(fmt::format("tolerance {} must lie in [1e-14, 0.1]", tolerance));
  if (!(layer_length > 0) || !std::isfinite(layer_length))
    throw InputError(fmt::format("layer_length = {} must be > 0", layer_length));
  if (samples < 2) throw InputError(fmt::format("samples = {} must be >= 2", samples));
}

EpsilonStudy study_epsilon(const System& system, const State& initial, double start_time, double end_time,
                           const EpsilonStudyOptions& options, const std::function<bool(double)>& keep_going) {
  options.validate();
  require_supported(SchemeKind::viscoelastic, system);
  if (system.constraints().empty())
    throw InputError("a study in epsilon needs constraints: friction alone has no ideal force to compare with");
  if (!system.friction().empty())
    throw InputError(fmt::format("a study in epsilon takes constraints alone, but there is friction '{}'",
                                 system.friction().front().name));
  EpsilonStudy study;
  IdealForces ideal(system);
  for (std::size_t k = 0; k < options.epsilons.size(); ++k) {
    EpsilonRun run;
    run.epsilon = options.epsilons[k];
    run.t = sample_times(start_time, end_time, run.epsilon, options.layer_length, options.samples);
    SimulationOptions exact;
    exact.scheme = SchemeKind::event;
    exact.tolerance = 1e-13;
    exact.start_time = start_time;
    exact.end_time = end_time;
    exact.output_times = run.t;
    const Simulation reference = simulate(system, initial, exact);
    if (reference.status != Status::success) {
      study.status = reference.status;
      study.message = fmt::format("the reference run (event) failed: {}", reference.message);
      return study;
    }
    ViscoelasticOptions soft;
    soft.epsilon = run.epsilon;
    soft.integrator = options.integrator;
    ViscoelasticScheme scheme(system, soft, options.tolerance, end_time, system.breakpoints(start_time, end_time));
    StepRecord record;
    record.state = initial;
    record.state.t = start_time;
    scheme.start(record);
    const auto begin = std::chrono::steady_clock::now();
    // At t = 0+ the forces are those of the start, whatever the velocities do afterwards.
    double before = start_time,
           before_error =
               (scheme.force() - ideal.at(start_time, record.state.q, record.state.v)).lpNorm<Eigen::Infinity>();
    run.errors.force = before_error;
    const Trajectory& rows = reference.trajectory;
    Vector q(system.info().nq()), v(system.info().nv());
    for (Index i = 0; i < static_cast<Index>(run.t.size()); ++i) {
      const double t = run.t[static_cast<std::size_t>(i)];
      while (record.state.t < t) {
        const StepOutcome outcome = scheme.step(t, record);
        if (outcome.status == Status::success) continue;
        study.status = outcome.status;
        study.message = fmt::format("epsilon = {:g}: {}", run.epsilon, outcome.message);
        return study;
      }
      for (Index j = 0; j < q.size(); ++j) q[j] = rows.q(i, j);
      for (Index j = 0; j < v.size(); ++j) v[j] = rows.v(i, j);
      const double dq = (record.state.q - q).lpNorm<Eigen::Infinity>(),
                   dv = (record.state.v - v).lpNorm<Eigen::Infinity>(),
                   df = (scheme.force() - ideal.at(t, q, v)).lpNorm<Eigen::Infinity>();
      EpsilonErrors& e = run.errors;
      e.position = std::max(e.position, dq);
      e.velocity = std::max(e.velocity, dv);
      e.force = std::max(e.force, df);
      if (t > 0.5 * (start_time + end_time)) {
        e.late_position = std::max(e.late_position, dq);
        e.late_velocity = std::max(e.late_velocity, dv);
        e.late_force = std::max(e.late_force, df);
      }
      e.force_l2 += 0.5 * (t - before) * (df * df + before_error * before_error);
      before = t;
      before_error = df;
      run.force_error.push_back(df);
    }
    run.errors.force_l2 = std::sqrt(run.errors.force_l2);
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    run.evaluations = scheme.counters().evaluations;
    run.jacobians = scheme.counters().jacobians;
    run.steps = scheme.counters().accepted;
    run.fast_damping = record.fast_damping;
    study.runs.push_back(std::move(run));
    if (keep_going && !keep_going(static_cast<double>(k + 1) / static_cast<double>(options.epsilons.size()))) {
      study.status = Status::interrupted;
      study.message = "stopped; the runs made so far are kept";
      break;
    }
  }
  study.exponents = exponents(study.runs);
  return study;
}

}  // namespace stickslip
