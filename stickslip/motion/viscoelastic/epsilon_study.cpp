// SPDX-License-Identifier: Apache-2.0
#include "stickslip/motion/viscoelastic/epsilon_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "stickslip/common/error.hpp"
#include "stickslip/motion/comparison.hpp"
#include "stickslip/motion/constrained_motion.hpp"
#include "stickslip/motion/viscoelastic/viscoelastic.hpp"

namespace stickslip {

namespace {

constexpr double kReferenceAccuracy = 1e-13;
constexpr double kIntegratorFloor = 10;  // tolerances of the integrator: its own error

struct Sample {
  double t = 0, weight = 0;  ///< of the quadrature [s]
  Vector q, v, force;
};

/// Runs to the end; samples at `even` equal times and at the nodes of Simpson's rule on the integrator's own steps.
StepOutcome sample_run(ViscoelasticScheme& scheme, StepRecord& record, double end, int even,
                       std::vector<Sample>& samples) {
  const double start = record.state.t, span = end - start;
  auto add = [&](double weight) {
    samples.push_back({record.state.t, weight, record.state.q, record.state.v, scheme.force()});
  };
  add(0);
  std::vector<double> times;
  int next = 1;
  while (record.state.t < end) {
    if (StepOutcome outcome = scheme.take_own_step(record); outcome.status != Status::success) return outcome;
    const double from = record.state.t, to = scheme.own_step_end(), h = to - from, middle = 0.5 * (from + to);
    const bool simpson = from < middle && middle < to;
    times.clear();
    if (simpson) times.push_back(middle);
    for (; next < even && start + span * next / even < to; ++next)
      if (const double t = start + span * next / even; t > from && t != middle) times.push_back(t);
    std::sort(times.begin(), times.end());
    samples.back().weight += simpson ? h / 6 : h / 2;
    for (const double t : times) {
      if (StepOutcome outcome = scheme.step(t, record); outcome.status != Status::success) return outcome;
      add(t == middle ? 4 * h / 6 : 0.0);
    }
    if (StepOutcome outcome = scheme.step(to, record); outcome.status != Status::success) return outcome;
    add(simpson ? h / 6 : h / 2);
  }
  return {};
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

/// Errors of the samples beside the rows of the reference, which has one at each of their times but the start.
void measure(const std::vector<Sample>& samples, const Simulation& reference, double late, IdealForces& ideal,
             EpsilonRun& run) {
  const Trajectory& rows = reference.trajectory;
  Vector q = samples.front().q, v = samples.front().v;
  EpsilonErrors& e = run.errors;
  double squares = 0;
  Index row = 0;
  for (const Sample& sample : samples) {
    if (sample.t > samples.front().t) {
      while (row < rows.rows() && rows.t(row) < sample.t) ++row;
      if (row == rows.rows() || rows.t(row) != sample.t) continue;
      for (Index j = 0; j < q.size(); ++j) q[j] = rows.q(row, j);
      for (Index j = 0; j < v.size(); ++j) v[j] = rows.v(row, j);
    }
    const double dq = (sample.q - q).lpNorm<Eigen::Infinity>(), dv = (sample.v - v).lpNorm<Eigen::Infinity>(),
                 df = (sample.force - ideal.at(sample.t, q, v)).lpNorm<Eigen::Infinity>();
    e.position = std::max(e.position, dq);
    e.velocity = std::max(e.velocity, dv);
    e.force = std::max(e.force, df);
    if (sample.t > late) {
      e.late_position = std::max(e.late_position, dq);
      e.late_velocity = std::max(e.late_velocity, dv);
      e.late_force = std::max(e.late_force, df);
    }
    squares += sample.weight * df * df;
    run.t.push_back(sample.t);
    run.force_error.push_back(df);
  }
  e.force_l2 = std::sqrt(squares);
}

/// What errors are beside: largest position, velocity and force of a run.
struct Sizes {
  double position = 0, velocity = 0, force = 0;
};

EpsilonErrors exponents(const std::vector<EpsilonRun>& runs, const Sizes& sizes, double span, double tolerance) {
  std::vector<double> epsilons;
  for (const EpsilonRun& run : runs) epsilons.push_back(run.epsilon);
  EpsilonErrors slopes;
  const double floor = kIntegratorFloor * tolerance;
  const std::pair<double EpsilonErrors::*, double> quantities[] = {
      {&EpsilonErrors::position, sizes.position},
      {&EpsilonErrors::velocity, sizes.velocity},
      {&EpsilonErrors::force, sizes.force},
      {&EpsilonErrors::late_position, sizes.position},
      {&EpsilonErrors::late_velocity, sizes.velocity},
      {&EpsilonErrors::late_force, sizes.force},
      {&EpsilonErrors::force_l2, sizes.force * std::sqrt(span)}};
  for (const auto& [error, size] : quantities) {
    std::vector<double> errors;
    for (const EpsilonRun& run : runs) errors.push_back(run.errors.*error);
    // An exponent of 0 is one: the force at the start of a run that is not prepared.
    slopes.*error = judged_order(epsilons, errors, floor * size, -kSlopeError).order;
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
  if (samples < 2) throw InputError(fmt::format("samples = {} must be >= 2", samples));
}

EpsilonStudy study_epsilon(const System& system, const State& initial, double start_time, double end_time,
                           const EpsilonStudyOptions& options, const std::function<bool(double)>& keep_going) {
  options.validate();
  require_supported(SchemeKind::viscoelastic, system);
  if (system.laws().constraints().empty())
    throw InputError("a study in epsilon needs constraints: friction alone has no ideal force to compare with");
  if (!system.laws().friction().empty())
    throw InputError(fmt::format("a study in epsilon takes constraints alone, but there is friction '{}'",
                                 system.laws().friction().front().name));
  EpsilonStudy study;
  IdealForces ideal(system);
  Sizes sizes;
  auto ended = [&](Status status, const std::string& what) {
    study.status = status;
    study.message = status == Status::interrupted ? "stopped; the runs made so far are kept" : what;
    study.exponents = exponents(study.runs, sizes, end_time - start_time, options.tolerance);
    return study;
  };
  for (std::size_t k = 0; k < options.epsilons.size(); ++k) {
    EpsilonRun run;
    run.epsilon = options.epsilons[k];
    ViscoelasticOptions soft;
    soft.epsilon = run.epsilon;
    soft.integrator = options.integrator;
    ViscoelasticScheme scheme(system, soft, options.tolerance, {start_time, end_time},
                              system.breakpoints(start_time, end_time), options.stop);
    StepRecord record;
    record.state = initial;
    record.state.t = start_time;
    scheme.start(record);
    std::vector<Sample> samples;
    const auto begin = std::chrono::steady_clock::now();
    const StepOutcome outcome = sample_run(scheme, record, end_time, options.samples, samples);
    if (outcome.status != Status::success)
      return ended(outcome.status, fmt::format("epsilon = {:g}: {}", run.epsilon, outcome.message));
    run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    run.evaluations = scheme.counters().evaluations;
    run.jacobians = scheme.counters().jacobians;
    run.steps = scheme.counters().accepted;
    run.fast_damping = scheme.lowest_damping();
    SimulationOptions exact;
    exact.scheme = SchemeKind::event;
    exact.tolerance = kReferenceAccuracy;
    exact.start_time = start_time;
    exact.end_time = end_time;
    for (const Sample& sample : samples) {
      if (sample.t > start_time) exact.output_times.push_back(sample.t);
      sizes.position = std::max(sizes.position, sample.q.lpNorm<Eigen::Infinity>());
      sizes.velocity = std::max(sizes.velocity, sample.v.lpNorm<Eigen::Infinity>());
      sizes.force = std::max(sizes.force, sample.force.lpNorm<Eigen::Infinity>());
    }
    SimulationHooks hooks;
    hooks.stop = options.stop;
    const Simulation reference = simulate(system, initial, exact, hooks);
    if (reference.status != Status::success)
      return ended(reference.status, fmt::format("the reference run (event) failed: {}", reference.message));
    measure(samples, reference, 0.5 * (start_time + end_time), ideal, run);
    study.runs.push_back(std::move(run));
    if (keep_going && !keep_going(static_cast<double>(k + 1) / static_cast<double>(options.epsilons.size())))
      return ended(Status::interrupted, "");
  }
  return ended(Status::success, "");
}

}  // namespace stickslip
