// SPDX-License-Identifier: Apache-2.0
#include "papers/viscoelastic/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "stickslip/motion/viscoelastic/viscoelastic.hpp"

namespace stickslip {

namespace embedded {
extern const std::string_view model_skate, model_rolling_disc, model_spinning_disc;
}

namespace paper4 {

ModelFile skate_model(const Skate& skate, const SpringDamper& law) {
  const std::vector<std::string> settings{
      fmt::format("parameters.m={:.17g}", skate.m),
      fmt::format("parameters.J={:.17g}", skate.J),
      fmt::format("parameters.g={:.17g}", skate.gs),
      "parameters.alpha=\"pi/2\"",
      fmt::format("initial.position=[{:.17g}, {:.17g}, {:.17g}]", skate.u1, skate.u2, skate.phi0),
      fmt::format("initial.velocity=[{:.17g}, {:.17g}, {:.17g}]", skate.v0 * std::cos(skate.phi0),
                  skate.v0 * std::sin(skate.phi0), skate.w),
      fmt::format("constraint.blade.viscoelastic={{stiffness={:.17g}, damping={:.17g}, epsilon={:.17g}, "
                  "exponent={:.17g}, prepared={}}}",
                  law.c, law.d, law.epsilon, law.kappa, law.prepared)};
  return parse_model(embedded::model_skate, "skate.toml", settings);
}

ModelFile disc_model(bool wobble, bool prepared) {
  std::vector<std::string> settings{fmt::format("constraint.along.viscoelastic.prepared={}", prepared),
                                    fmt::format("constraint.across.viscoelastic.prepared={}", prepared)};
  if (wobble) {
    settings.push_back("initial.position=[0, 0, 0, 0.2, 0]");
    settings.push_back(
        fmt::format("initial.velocity=[{:.17g}, {:.17g}, 0.5, 0.1, 3]", 3 + 0.5 * std::sin(0.2), -0.1 * std::cos(0.2)));
  }
  return parse_model(embedded::model_rolling_disc, "rolling-disc.toml", settings);
}

EpsilonStudy skate_study(double c, double d, double kappa, bool prepared, StopRequest stop) {
  const ModelFile model = skate_model(skate_b(), {c, d, 1e-4, kappa, prepared});
  EpsilonStudyOptions options;
  // Errors are of the size of ε/c; below 1e-8 those of Λ are the integrator's.
  for (const double ratio : {1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) options.epsilons.push_back(c * ratio);
  options.tolerance = 1e-13;
  options.stop = stop;
  return study_epsilon(*model.system, model.initial, 0, 10, options);
}

Deviation layer_deviation(const SpringDamper& law, double length) {
  const Skate skate = skate_b();
  const ModelFile model = skate_model(skate, law);
  const double fast = std::sqrt(law.epsilon), end = length * fast;
  ViscoelasticScheme scheme(*model.system, {}, 1e-11, {0, end}, {});
  StepRecord record;
  record.state = model.initial;
  scheme.start(record);
  Deviation result{law, {0}, {scheme.force()[0] - ideal(skate, 0).lambda}, 0};
  const int samples = static_cast<int>(40 * length);
  for (int k = 1; k <= samples; ++k) {
    const double t = k == samples ? end : end * k / samples;
    while (record.state.t < t)
      if (scheme.step(t, record).status != Status::success) return result;
    result.t.push_back(t);
    result.value.push_back(scheme.force()[0] - ideal(skate, t).lambda);
  }
  // Envelope: largest of the first and of the second half; what is left of order ε is below both.
  double first = 0, second = 0, first_at = 0, second_at = 0;
  for (std::size_t k = 0; k < result.t.size(); ++k) {
    const double size = std::abs(result.value[k]);
    double& largest = 2 * k < result.t.size() ? first : second;
    double& at = 2 * k < result.t.size() ? first_at : second_at;
    if (size > largest) {
      largest = size;
      at = result.t[k];
    }
  }
  result.decay = std::log(first / second) / (second_at - first_at);
  return result;
}

EulerRun explicit_euler(double d, double epsilon, double h) {
  const Skate skate = skate_b();
  const ModelFile model = skate_model(skate, {1, d, epsilon, 0.5, false});
  ViscoelasticDynamics dynamics(*model.system, 0);
  dynamics.complete(0, model.initial.q);
  Vector y = Vector::Zero(dynamics.size()), rate(dynamics.size());
  y.head(3) = model.initial.q;
  y.segment(3, 3) = model.initial.v;
  EulerRun run{d, h, {}, {}, 0};
  const double fast = std::sqrt(epsilon);
  double largest = 0;
  for (int k = 1; k * h <= 40 * fast * (1 + 1e-9); ++k) {
    dynamics.derivative((k - 1) * h, y, rate);
    y += h * rate;
    dynamics.place(k * h, y);
    largest = std::max(largest, std::abs(dynamics.force()[0] - ideal(skate, k * h).lambda));
    if (std::fmod(k * h + 1e-9 * h, fast) < h) {
      run.t.push_back(k * h);
      run.value.push_back(largest);
      largest = 0;
    }
  }
  run.growth = run.value.back() / run.value.front();
  return run;
}

double steady_disc_error(double epsilon) {
  const ModelFile model = disc_model(false, true);
  SimulationOptions options = model.run;
  options.scheme = SchemeKind::viscoelastic;
  options.viscoelastic.epsilon = epsilon;
  options.tolerance = 1e-12;
  options.end_time = 3;
  const Simulation run = simulate(*model.system, model.initial, options);
  if (run.status != Status::success) return HUGE_VAL;
  const double R = 0.913022800669688 / -2;
  double largest = 0;
  for (Index k = 0; k < run.trajectory.rows(); ++k) {
    const double t = run.trajectory.t(k);
    const double exact[5] = {R * std::sin(-2 * t), R * (1 - std::cos(-2 * t)), -2 * t, 0.3, 1.50406321399237 * t};
    for (Index i = 0; i < 5; ++i) largest = std::max(largest, std::abs(run.trajectory.q(k, i) - exact[i]));
  }
  return largest;
}

std::vector<EpsilonRun> disc_cost(IntegratorKind integrator, const std::vector<double>& epsilons, StopRequest stop) {
  const ModelFile model = disc_model(true, true);
  EpsilonStudyOptions options;
  options.epsilons = epsilons;
  options.tolerance = 1e-6;
  options.samples = 2;
  options.integrator = integrator;
  options.stop = stop;
  return study_epsilon(*model.system, model.initial, 0, 1, options).runs;
}

std::vector<RollingStart> rolling_starts() {
  constexpr double r = 0.3, w0 = 20, mu = 0.2, g = 9.81, transition = r * w0 / (3 * mu * g), speed = r * w0 / 3;
  const ModelFile model = parse_model(embedded::model_spinning_disc, "spinning-disc.toml");
  std::vector<RollingStart> starts;
  auto add = [&](SchemeKind scheme, double epsilon) {
    SimulationOptions options = model.run;
    options.scheme = scheme;
    options.tolerance = 1e-10;
    options.viscoelastic.epsilon = epsilon;
    const Simulation run = simulate(*model.system, model.initial, options);
    RollingStart start{std::string(to_string(scheme)), epsilon, HUGE_VAL, HUGE_VAL};
    if (run.status == Status::success && !run.trajectory.events.empty()) {
      start.time_error = std::abs(run.trajectory.events.front().t - transition);
      start.speed_error = std::abs(run.final.v[0] - speed);
    }
    starts.push_back(start);
  };
  add(SchemeKind::event, 0);
  add(SchemeKind::moreau, 0);
  for (const double epsilon : {1e-4, 1e-6, 1e-8}) add(SchemeKind::viscoelastic, epsilon);
  return starts;
}

}  // namespace paper4
}  // namespace stickslip
