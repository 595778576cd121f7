// SPDX-License-Identifier: Apache-2.0
// Two masses between three springs, each on a rough table. Pulled apart by the same way they swing against each other,
// each as if it were alone on a spring 3k: every half swing ends 2c/3k nearer to the middle, until the springs no
// longer overcome the friction. Where they stop is known to the last digit.
#include <cmath>
#include <cstdio>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/case.hpp"

using namespace stickslip;

namespace {

Case two_masses() {
  return Case({{"k", 4.0}, {"c", 0.25}}, [](const Parameters& p) {
    const double k = p["k"];
    MatrixModel model{.coordinates = {"x1", "x2"},
                      .mass = dense({{1, 0}, {0, 1}}),
                      .stiffness = dense({{2 * k, -k}, {-k, 2 * k}}),
                      .friction = {{.name = "shoe1", .directions = {on(0)}, .limit = p["c"]},
                                   {.name = "shoe2", .directions = {on(1)}, .limit = p["c"]}}};
    return CaseParts{.system = make_system(std::move(model)),
                     .initial = {.q = Vector{{1, -1}}, .v = Vector{{0, 0}}},
                     .options = {.scheme = SchemeKind::event, .end_time = 60}};
  });
}

double rest(double x, double k, double c) {
  while (std::abs(x) > c / k) x = -x + std::copysign(2 * c / k, x);
  return x;
}

}  // namespace

int main() {
  Case masses = two_masses();
  bool right = true;
  for (const double c : {0.25, 0.1, 0.7}) {
    masses.set("c", c);
    const Simulation run = masses.run();
    const double x = run.final.q[0], expected = rest(1, 3 * masses.get("k"), c);
    std::printf("c = %.2f N: x1 stops at %.15f m, %ld events; expected %.15f m\n", c, x,
                static_cast<long>(run.trajectory.events.size()), expected);
    right = right && run.status == Status::success && std::abs(x - expected) < 1e-12;
  }
  return right ? 0 : 1;
}
