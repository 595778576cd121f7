// SPDX-License-Identifier: Apache-2.0
#include "papers/compliance/experiments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "stickslip/io/model_case.hpp"
#include "stickslip/motion/comparison.hpp"
#include "stickslip/motion/compliant/compliant_dynamics.hpp"

namespace stickslip {

namespace embedded {
extern const std::string_view model_block_on_plane_compliant, model_compliant_slider, model_compliant_two_contacts;
}

namespace paper3 {

namespace {

ModelFile block(const std::vector<std::string>& settings) {
  return parse_model(embedded::model_block_on_plane_compliant, "block-on-plane-compliant.toml", settings);
}

Simulation run(const ModelFile& model) { return simulate(*model.system, model.initial, model.run); }

}  // namespace

std::vector<std::string> drop() {
  return {"initial.position=[0, 0, 0.05]", "initial.velocity=[1, 0.5, 0]", "run.end_time=1"};
}

std::vector<std::string> cone(int facets, bool circumscribed, double angle) {
  return {"contact.floor.cone=polygon",
          fmt::format("contact.floor.polygon={{facets={}, circumscribed={}, angle={:.17g}}}", facets, circumscribed,
                      angle * 2 * std::numbers::pi / facets)};
}

std::vector<std::string> rigid_limit(double k, double a) {
  const double coupling = a * k, tangential = 0.8 * k, damping = std::sqrt(0.8 * k);
  return {fmt::format("contact.floor.compliance.stiffness=[[{0:.17g}, {1:.17g}, 0], [{1:.17g}, {2:.17g}, 0], "
                      "[0, 0, {2:.17g}]]",
                      k, coupling, tangential),
          fmt::format("contact.floor.compliance.damping=[[{0:.17g}, 0], [0, {0:.17g}]]", damping),
          fmt::format("initial.position=[0, 0, {:.17g}]", -9.81 / k),
          "initial.velocity=[2, 0, 0]",
          "run.end_time=1.2",
          "run.output_step=0.3"};
}

Simulation run_block(std::vector<std::string> settings, double tolerance) {
  settings.push_back(fmt::format("run.tolerance={:g}", tolerance));
  return run(block(settings));
}

Simulation run_two_contacts(const std::string& integrator, double tolerance) {
  const std::vector<std::string> settings{"run.compliant.integrator=" + integrator,
                                          fmt::format("run.tolerance={:g}", tolerance)};
  return run(parse_model(embedded::model_compliant_two_contacts, "two-contacts.toml", settings));
}

Simulation run_slider() { return run(parse_model(embedded::model_compliant_slider, "slider.toml")); }

Vector end_of(const Simulation& run) {
  Vector end(run.final.q.size() + run.final.v.size() + run.final.z.size());
  end << run.final.q, run.final.v, run.final.z;
  return end;
}

double distance(const Simulation& a, const Simulation& b) {
  if (a.status != Status::success || b.status != Status::success) return HUGE_VAL;
  return (end_of(a) - end_of(b)).lpNorm<Eigen::Infinity>();
}

double lipschitz_estimate(const std::vector<std::string>& settings, int pairs) {
  const ModelFile model = block(settings);
  CompliantDynamics dynamics(*model.system);
  DenseMatrix none = DenseMatrix::Zero(2, 1);
  dynamics.collect(0, model.initial.q, 1, none);
  dynamics.set_layout(false, 0);
  dynamics.set_origin(Vector::Zero(3));
  std::mt19937 random(1);
  auto uniform = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(random); };
  std::normal_distribution<double> normal;
  Vector x(8), y(8), at_x(8), at_y(8);
  double largest = 0;
  for (int k = 0; k < pairs; ++k) {
    for (Index i = 0; i < 2; ++i) x[i] = uniform(-1, 1);
    x[2] = uniform(-0.03, 0.01);
    for (Index i = 3; i < 6; ++i) x[i] = uniform(-2, 2);
    for (Index i = 6; i < 8; ++i) x[i] = uniform(-0.01, 0.01);
    for (Index i = 0; i < 8; ++i) y[i] = normal(random);
    y = x + std::pow(10, uniform(-8, -1)) / y.norm() * y;
    if (!dynamics.derivative(0, x, at_x) || !dynamics.derivative(0, y, at_y)) return HUGE_VAL;
    largest = std::max(largest, (at_x - at_y).norm() / (x - y).norm());
  }
  return largest;
}

Increments increments(const std::string& scheme) {
  Increments result;
  for (const double h : {4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4}) {
    std::vector<std::string> settings = drop();
    settings.insert(settings.end(), {"run.scheme=" + scheme, fmt::format("run.output_step={:g}", h),
                                     fmt::format("run.{}={:g}", scheme == "moreau" ? "step" : "tolerance",
                                                 scheme == "moreau" ? h : 1e-9)});
    const Simulation s = run(block(settings));
    double velocity = 0, force = 0;
    for (Index k = 2; k < s.trajectory.rows(); ++k)
      for (Index i = 0; i < 3; ++i) {
        velocity = std::max(velocity, std::abs(s.trajectory.v(k, i) - s.trajectory.v(k - 1, i)));
        force = std::max(force, std::abs(s.trajectory.reaction(k, i) - s.trajectory.reaction(k - 1, i)));
      }
    result.h.push_back(h);
    result.velocity.push_back(velocity);
    result.force.push_back(force);
  }
  result.velocity_order = fitted_order(result.h, result.velocity);
  result.force_order = fitted_order(result.h, result.force);
  return result;
}

Shooting shoot(double vx, double vy) {
  const std::vector<std::string> settings{"run.end_time=2", "run.output_step=2", "run.tolerance=1e-12",
                                          "run.sensitivities=[\"initial.velocity.0\", \"initial.velocity.1\"]"};
  Case block_case = make_case(block(settings));
  Eigen::Vector2d v(vx, vy), r;
  Eigen::Matrix2d slope;
  auto evaluate = [&](const Eigen::Vector2d& start) {
    const std::vector<NamedNumber> values{{"initial.velocity.0", start[0]}, {"initial.velocity.1", start[1]}};
    block_case.set(values);
    const Simulation s = block_case.run();
    if (s.status != Status::success) return false;
    r = Eigen::Vector2d(s.final.q[0] - 0.6, s.final.q[1] - 0.35);
    slope = s.final_sensitivity.topLeftCorner(2, 2);
    return true;
  };
  Shooting result;
  if (!evaluate(v)) return result;
  result.steps.push_back({v[0], v[1], r.norm()});
  constexpr int kMost = 40;
  constexpr double kDone = 1e-14;
  while (static_cast<int>(result.steps.size()) < kMost && result.steps.back().residual > kDone) {
    const Eigen::Vector2d from = v, step = -slope.fullPivLu().solve(r);
    const double before = r.norm();
    // A start that hardly slips has a slope close to singular: no step is longer than the speed of the target's scale.
    double share = std::min(1.0, 2.0 / step.norm());
    for (int halvings = 0; halvings < 20; ++halvings, share /= 2) {
      v = from + share * step;
      if (evaluate(v) && r.norm() < before) break;
    }
    result.halved |= share < 1;
    if (!(r.norm() < before)) break;
    result.steps.push_back({v[0], v[1], r.norm()});
  }
  return result;
}

SliderOnset slider_onset() {
  constexpr double kp = 50, V = 0.1, k = 800, c = 20, limit = 0.3 * 9.81, A = (k + kp) / c, B = kp * V / c;
  auto deformation = [&](double t) { return -B / A * t + B / (A * A) * (1 - std::exp(-A * t)); };
  double low = 0, high = 2;
  for (int k_bisection = 0; k_bisection < 60; ++k_bisection) {
    const double middle = 0.5 * (low + high);
    (kp * (V * middle + deformation(middle)) < limit ? low : high) = middle;
  }
  return {low, V - B / A * (1 - std::exp(-A * low))};
}

}  // namespace paper3
}  // namespace stickslip
