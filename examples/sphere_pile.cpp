// SPDX-License-Identifier: Apache-2.0
// Three balls on the floor and a fourth on top. The lines from the top ball make the angle α with the vertical, sin α =
// 1/√3; a ball below is in balance only if the friction above and below it is the same, T = N tan(α/2). So the pile
// stands on friction alone if μ >= tan(α/2) = √3 - √2 = 0.3178.., and falls apart below.
#include <array>
#include <cmath>
#include <cstdio>

#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/case.hpp"

using namespace stickslip;

namespace {

Case pile() {
  return Case({{"mu", 0.4}}, [](const Parameters& p) {
    const double r = 0.05, pi = std::acos(-1.0);
    BodyModel model;
    model.gravity = {0, 0, -9.81};
    for (int k = 0; k < 4; ++k) {
      const double turn = 2 * pi * k / 3, out = 2 * r / std::sqrt(3.0);
      RigidBody ball;
      ball.name = ball.group = "ball" + std::to_string(k);
      ball.mass = 0.5;
      ball.position = k < 3 ? Eigen::Vector3d(out * std::cos(turn), out * std::sin(turn), r)
                            : Eigen::Vector3d(0, 0, r + 2 * r * std::sqrt(2.0 / 3.0));
      model.bodies.push_back(ball);
      model.shapes.push_back({.kind = ShapeKind::sphere, .body = k, .radius = r});
    }
    model.shapes.push_back({.kind = ShapeKind::plane, .body = kGround});
    model.contacts = {{.law = {.name = "touch", .mu = p["mu"]}, .first = "*", .second = "*"}};
    State start{.q = start_positions(model), .v = start_velocities(model)};
    return CaseParts{.system = make_system(std::move(model)),
                     .initial = std::move(start),
                     .options = {.scheme = SchemeKind::moreau, .step = 0.002, .end_time = 1}};
  });
}

}  // namespace

int main() {
  Case c = pile();
  const double needed = std::sqrt(3.0) - std::sqrt(2.0);
  const double top = c.initial().q[7 * 3 + 2];
  bool right = true;
  for (const double mu : {1.01 * needed, 0.99 * needed}) {
    c.set("mu", mu);
    const Simulation run = c.run();
    const double sunk = top - run.final.q[7 * 3 + 2];
    std::printf("mu = %.4f: the top ball sinks by %.3g m\n", mu, sunk);
    right = right && run.status == Status::success && (sunk < 1e-6) == (mu > needed);
    for (const AuditItem& item : run.audit) right = right && item.ok;
  }
  return right ? 0 : 1;
}
