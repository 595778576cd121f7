// SPDX-License-Identifier: Apache-2.0
// A ladder between floor and wall, written with functions of the program: energy, gaps and slips. With the same
// friction coefficient μ at both ends it stands up to the angle tan ϑ = 2μ/(1 - μ²) from the wall, although the four
// reactions are not unique. Without friction it slides at once, and leaves the wall when its height has fallen to two
// thirds.
#include <cmath>
#include <cstdio>

#include "stickslip/model/equation_model.hpp"
#include "stickslip/motion/case.hpp"

using namespace stickslip;
using namespace stickslip::math;

namespace {

constexpr double kGravity = 9.81, kHalf = 2.0;  // m/s², half the length in m

// x, y: the middle, ϑ: from the wall. A uniform rod of 1 kg.
Case ladder() {
  return Case({{"mu", 0.4}, {"angle", 0.5}}, [](const Parameters& p) {
    const auto of_position = [](auto f) {
      return function_of(3, [f](auto, auto q) { return f(q[0], q[1], q[2]); }, {.time = false});
    };
    const auto end = [&](const char* name, StateFunction gap, StateFunction slip) {
      return ExpressionContact{.law = {.name = name, .tangents = 1, .mu = p["mu"]}, .gap = gap, .slip = {slip}};
    };
    EquationModel model{
        .coordinates = {"x", "y", "th"},
        .mass = {{1, 0, 0}, {0, 1, 0}, {0, 0, kHalf * kHalf / 3}},
        .potential = of_position([](auto, auto y, auto) { return kGravity * y; }),
        .contacts = {end("floor", of_position([](auto, auto y, auto th) { return y - kHalf * cos(th); }),
                         of_position([](auto x, auto, auto th) { return x + kHalf * sin(th); })),
                     end("wall", of_position([](auto x, auto, auto th) { return x - kHalf * sin(th); }),
                         of_position([](auto, auto y, auto th) { return y + kHalf * cos(th); }))}};
    const double angle = p["angle"];
    return CaseParts{
        .system = make_system(std::move(model)),
        .initial = {.q = Vector{{kHalf * std::sin(angle), kHalf * std::cos(angle), angle}}, .v = Vector{{0, 0, 0}}},
        .options = {.scheme = SchemeKind::event, .end_time = 1}};
  });
}

}  // namespace

int main() {
  Case c = ladder();
  const double limit = std::atan(2 * 0.4 / (1 - 0.4 * 0.4));
  bool right = true;
  for (const double share : {0.999, 1.001}) {
    c.set("angle", share * limit);
    const Simulation run = c.run();
    const bool stands = std::abs(run.final.q[2] - c.get("angle")) < 1e-12;  // round-off of the start
    std::printf("at %.3f of the limit angle it %s\n", share, stands ? "stands" : "slides");
    right = right && run.status == Status::success && stands == (share < 1);
  }

  const NamedNumber smooth[] = {{"mu", 0.0}, {"angle", 0.3}};
  c.set(smooth);
  double height = 0;  // when the wall lets go
  SimulationHooks watch;
  watch.on_event = [&](const Event& event) {
    if (event.kind != EventKind::open || height > 0) return;
    Case until = c;
    SimulationOptions options = c.options();
    options.end_time = event.t;
    until.set_options(options);
    height = until.run().final.q[1];
  };
  c.run(watch);
  const double expected = 2.0 / 3.0 * kHalf * std::cos(0.3);
  std::printf("without friction it leaves the wall with its middle at %.9f m; expected %.9f m\n", height, expected);
  right = right && std::abs(height - expected) < 1e-7;
  return right ? 0 : 1;
}
