// SPDX-License-Identifier: Apache-2.0
#include "papers/stick-slip/experiments.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>

#include "papers/stick-slip/reference.hpp"
#include "stickslip/common/root_finding.hpp"
#include "stickslip/io/model_file.hpp"
#include "stickslip/motion/comparison.hpp"
#include "stickslip/motion/event/mode_decision.hpp"

namespace stickslip {

namespace embedded {
extern const std::string_view model_two_hinges, model_moving_circle;
}

namespace paper2 {

namespace {

const Vector kStart{{1, 0.2}};

Hinges hinges(double limit1, double limit2) {
  return {DenseMatrix{{2, 1}, {1, 1}}, DenseMatrix{{2, 0}, {0, 2.5}}, Vector{{limit1, limit2}}};
}

Vector event_position(double T) {
  const HingeLimits case3{{0.1, 0.1}};
  return run_hinges(case3, SchemeKind::event, T, 0, T).final.q;
}

template <class Position>
ErrorCurve error_curve(double T, Position&& position) {
  const Vector reference = event_position(T);
  ErrorCurve curve;
  for (double h = 0.05; curve.h.size() < 11; h /= 1.35) {
    curve.h.push_back(h);
    curve.error.push_back((position(h) - reference).template lpNorm<Eigen::Infinity>());
  }
  curve.order = fitted_order(curve.h, curve.error);
  return curve;
}

double audited(const Simulation& run, std::string_view name) {
  for (const AuditItem& item : run.audit)
    if (item.name == name) return item.value;
  return std::nan("");
}

/// Time of the first event that is another one in `other`, or lies elsewhere by more than 1 ms; NaN: none. What happens
/// at the start is left out: not every scheme calls it an event.
double first_difference(const std::vector<Event>& events, const std::vector<Event>& other) {
  std::size_t k = 0;
  while (k < other.size() && other[k].t == 0) ++k;
  for (std::size_t i = 0; i < events.size(); ++i, ++k) {
    if (k >= other.size()) return events[i].t;
    const bool same = events[i].law == other[k].law && events[i].after == other[k].after;
    if (!same || std::abs(events[i].t - other[k].t) > 1e-3) return std::min(events[i].t, other[k].t);
  }
  return k < other.size() ? other[k].t : std::nan("");
}

}  // namespace

Simulation run_hinges(const HingeLimits& limits, SchemeKind scheme, double end_time, double step, double output_step) {
  std::vector<std::string> set;
  for (int i = 0; i < 2; ++i) {
    set.push_back(fmt::format("friction.hinge{}.limit={}", i + 1, limits.dynamic[i]));
    if (limits.fixed[i] >= 0) set.push_back(fmt::format("friction.hinge{}.static_limit={}", i + 1, limits.fixed[i]));
  }
  const ModelFile model = parse_model(embedded::model_two_hinges, "two-hinges.toml", set);
  SimulationOptions options = model.run;
  options.scheme = scheme;
  options.step = step;
  options.end_time = end_time;
  options.output_step = output_step;
  return simulate(*model.system, model.initial, options);
}

Index row_at(const Trajectory& trajectory, double t) {
  for (Index k = 0; k < trajectory.rows(); ++k)
    if (std::abs(trajectory.t(k) - t) < 1e-9) return k;
  return -1;
}

RestDecision decide_at_rest(const Vector& Q, const Vector& limit) {
  const DenseMatrix M{{2, 1}, {1, 1}};
  RestDecision out{Q, limit, Vector::Zero(2), false, {}, {}, 0};
  // Locked, each hinge must hold -Q_i.
  Vector load = Q;
  std::vector<Index> free;
  for (Index i = 0; i < 2; ++i) {
    if (std::abs(Q[i]) <= limit[i]) continue;
    free.push_back(i);
    load[i] -= std::copysign(limit[i], Q[i]);
  }
  if (!free.empty()) {
    const Vector a = DenseMatrix(M(free, free)).llt().solve(Vector(load(free)));
    out.one_by_one(free) = a;
  }
  for (const Index i : free) out.contradiction |= out.one_by_one[i] * Q[i] < 0;

  DecisionProblem problem;
  problem.D = M.inverse();
  problem.b = problem.D * Q;
  for (Index i = 0; i < 2; ++i) problem.laws.push_back({interval_set(limit[i]), limit[i], LawRole::stuck});
  const Decision decision = decide_modes(problem);
  out.acceleration = decision.acceleration;
  out.lambda = -decision.r.cwiseQuotient(limit);
  out.residual = (M * out.acceleration - Q + limit.cwiseProduct(out.lambda)).lpNorm<Eigen::Infinity>();
  for (Index i = 0; i < 2; ++i) {
    const double a = out.acceleration[i], lambda = out.lambda[i];
    out.residual = std::max(out.residual, std::abs(a) > 1e-12 ? std::abs(lambda - std::copysign(1.0, a))
                                                              : std::max(0.0, std::abs(lambda) - 1));
  }
  return out;
}

InducedRelease induced_release() {
  const Simulation run = run_hinges({{0.1, 0.1}}, SchemeKind::event, 11, 0, 11);
  InducedRelease out;
  for (const Event& event : run.trajectory.events)
    if (event.law == 1 && event.kind == EventKind::slip) out.t = event.t;
  const Hinges two = hinges(0.1, 0.1);
  HingeState state{
      out.t, run_hinges({{0.1, 0.1}}, SchemeKind::event, out.t, 0, out.t).final.q, Vector::Zero(2), {-1, 0}};
  out.held_before = forces(two, state).held[1];
  state.mode[0] = 1;
  out.held_after = forces(two, state).held[1];
  out.acceleration = decide_at_rest(-two.K * state.y, two.limit).acceleration;
  return out;
}

ErrorCurve error_of_hinge_by_hinge(double T) {
  return error_curve(T, [&](double h) { return hinge_by_hinge(hinges(0.1, 0.1), kStart, h, T, StartTest::made).y; });
}

ErrorCurve error_of_moreau(double T) {
  return error_curve(T, [&](double h) { return run_hinges({{0.1, 0.1}}, SchemeKind::moreau, T, h, T).final.q; });
}

double displacement_without_first_test(double h) {
  return hinge_by_hinge(hinges(0.1, 8000), kStart, h, 1, StartTest::left_out).y[1] - kStart[1];
}

std::vector<StaticVariant> static_variants() {
  const std::pair<const char*, HingeLimits> list[] = {{"3", {{0.1, 0.1}}},
                                                      {"3s", {{0.1, 0.1}, {0.15, 0.15}}},
                                                      {"3s2", {{0.1, 0.1}, {0.3, 0.3}}},
                                                      {"2", {{0.1, 0}}},
                                                      {"2s", {{0.1, 0}, {0.2, 0}}}};
  std::vector<StaticVariant> out;
  for (const auto& [name, limits] : list) {
    StaticVariant variant{name, limits, run_hinges(limits, SchemeKind::event, 60, 0, 0.002)};
    const Simulation& run = variant.event;
    const Trajectory& trajectory = run.trajectory;
    const bool rests = run.final.v.isZero(0);
    variant.rest_time = rests && !trajectory.events.empty() ? trajectory.events.back().t : std::nan("");
    variant.admissible = static_cast<int>(audited(run, "admissible_modes"));
    for (Index k = 1; k < trajectory.rows(); ++k)
      for (Index i = 0; i < 2; ++i)
        if (trajectory.mode(k - 1, i) == Mode::stick && trajectory.mode(k, i) == Mode::stick)
          variant.largest_held = std::max(variant.largest_held, std::abs(trajectory.reaction(k, i)));
    const Simulation moreau = run_hinges(limits, SchemeKind::moreau, 60, 0.001, 60);
    variant.difference_to_moreau = (moreau.final.q - run.final.q).lpNorm<Eigen::Infinity>();
    variant.parts_from_moreau = first_difference(trajectory.events, moreau.trajectory.events);
    out.push_back(std::move(variant));
  }
  return out;
}

ZeroSearch search_for_zero() {
  // Hinge 1 of case 3 on its way to the reversal at 10.48, hinge 2 stuck.
  const double h = 0.05, from = 10.45;
  const Hinges two = hinges(0.1, 0.1);
  const Simulation run = run_hinges({{0.1, 0.1}}, SchemeKind::event, from, 0, from);
  const HingeState start{from, run.final.q, run.final.v, {-1, 0}};
  ZeroSearch out;
  for (const double eps : {1e-6, 1e-10, 1e-14, 1e-17})
    out.halving.push_back({eps, halve_to_zero(two, start, 0, h, eps, 10000)});
  auto velocity = [&](double dt) { return flow(two, start, dt).v[0]; };
  const Root root = find_root(velocity, 0.0, start.v[0], h, velocity(h), 0);
  out.root_evaluations = root.evaluations + 2;
  out.root_velocity = root.value;
  out.root_error = from + root.x - kInducedRelease;
  return out;
}

ConstrainedPoint constrained_point() {
  const double T = 1, rate = 0.3;
  const double r = std::sqrt(1 + 2 * rate * T), angle = std::log(1 + 2 * rate * T) / (2 * rate);
  const Vector exact{{r * std::cos(angle), r * std::sin(angle)}};
  auto residual = [&](const Vector& q, const Vector& v) { return std::abs(q.dot(v) - rate); };
  ConstrainedPoint out;
  const ModelFile model = parse_model(embedded::model_moving_circle, "moving-circle.toml");
  const Simulation run = simulate(*model.system, model.initial, model.run);
  out.position_error = (run.final.q - exact).lpNorm<Eigen::Infinity>();
  out.residual = residual(run.final.q, run.final.v);

  // [V2ᵀ M V2] z'' = V2ᵀ F - V2ᵀ M A⁺ B and q'' = A⁺ B + V2 z'', with M = 1 and F = 0; classical Runge-Kutta.
  auto acceleration = [&](const Vector& q) {
    const Vector particular = q / q.squaredNorm() * rate;  // A⁺ B, A = qᵀ
    const Vector V2 = Vector{{-q[1], q[0]}} / q.norm();
    return Vector(particular - V2 * V2.dot(particular));
  };
  Vector q{{1, 0}}, v{{rate, 1}};
  const int steps = 1000;
  const double h = T / steps;
  for (int n = 0; n < steps; ++n) {
    const Vector a1 = acceleration(q), a2 = acceleration(q + h / 2 * v),
                 a3 = acceleration(q + h / 2 * v + h * h / 4 * a1), a4 = acceleration(q + h * v + h * h / 2 * a2);
    q += h * v + h * h / 6 * (a1 + a2 + a3);
    v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }
  out.printed_position_error = (q - exact).lpNorm<Eigen::Infinity>();
  out.printed_residual = residual(q, v);
  return out;
}

}  // namespace paper2
}  // namespace stickslip
