// SPDX-License-Identifier: Apache-2.0
// A block on a moving belt, held by a spring: it sticks until the spring pulls with the static limit, slips back, and
// sticks again. How does the period depend on the speed w of the belt?
//
//   T = 2Δ/w + (π + 2φ)/ω,     Δ = (c_s - c_d)/k,   tan φ = w/(ωΔ),   ω² = k/m
//   dT/dw = -2Δ/w² + 2Δ/(ω²Δ² + w²)
//
// The events move with w, but their order stays: the time of every event is a smooth function of w, and
// ParameterVariation differentiates it as it does any other result of a case.
#include <cmath>
#include <cstdio>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/parameter_variation.hpp"

using namespace stickslip;

namespace {

constexpr double kMass = 1.0, kStiffness = 4.0, kDynamic = 1.0, kStatic = 1.5;

Case block_on_belt() {
  return Case({{"w", 0.2}}, [](const Parameters& p) {
    MatrixModel model{.coordinates = {"x"},
                      .mass = dense({{kMass}}),
                      .stiffness = dense({{kStiffness}}),
                      .friction = {{.name = "belt",
                                    .directions = {on(0)},
                                    .limit = kDynamic,
                                    .static_limit = kStatic,
                                    .surface_velocity = {p["w"]}}}};
    return CaseParts{.system = make_system(std::move(model)),
                     .initial = {.q = Vector{{0.0}}, .v = Vector{{p["w"]}}},
                     .options = {.scheme = SchemeKind::event, .end_time = 30}};
  });
}

/// From one beginning of slip to the next.
double period(const CaseParts& parts) {
  const Simulation run = simulate(*parts.system, parts.initial, parts.options);
  double before = 0, last = 0;
  for (const Event& event : run.trajectory.events)
    if (event.kind == EventKind::slip) before = last, last = event.t;
  return last - before;
}

}  // namespace

int main() {
  const Case c = block_on_belt();
  const double w = c.get("w"), omega = std::sqrt(kStiffness / kMass), delta = (kStatic - kDynamic) / kStiffness;
  const double expected = 2 * delta / w + (std::acos(-1.0) + 2 * std::atan(w / (omega * delta))) / omega;
  const double slope = -2 * delta / (w * w) + 2 * delta / (omega * omega * delta * delta + w * w);

  const double found = period({c.shared_system(), c.initial(), c.options()});
  const ParameterVariation by_speed(c, "w");
  const double by_w = by_speed.derivative(
      [](const CaseParts& parts, SystemWorkspace&, Vector& out) { out = Vector{{period(parts)}}; })[0];
  std::printf("T     = %.12f s, expected %.12f s\ndT/dw = %.10f s²/m, expected %.10f s²/m\n", found, expected, by_w,
              slope);
  return std::abs(found - expected) < 1e-11 && std::abs(by_w / slope - 1) < 1e-8 ? 0 : 1;
}
