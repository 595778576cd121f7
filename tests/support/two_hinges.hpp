// SPDX-License-Identifier: Apache-2.0
// The two-hinge example of paper 2: m1 = m2 = 1, k1 = 2, k2 = 2.5, relative coordinates, start at rest from (1, 0.2).
#pragma once

#include <memory>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::two_hinges {

inline std::unique_ptr<System> system(double limit1, double limit2, double static1 = -1, double static2 = -1) {
  MatrixModel model;
  model.title = "two hinges";
  model.coordinates = {"y1", "y2"};
  model.mass = SystemMatrix(DenseMatrix{{2, 1}, {1, 1}});
  model.damping = SystemMatrix(DenseMatrix{{0, 0}, {0, 0}});
  model.stiffness = SystemMatrix(DenseMatrix{{2, 0}, {0, 2.5}});
  const double limits[2] = {limit1, limit2}, statics[2] = {static1, static2};
  for (Index i = 0; i < 2; ++i) {
    FrictionElement law;
    law.name = "hinge" + std::to_string(i + 1);
    law.directions = {{{i, 1.0}}};
    law.limit = StateFunction(limits[i]);
    if (statics[i] >= 0) law.static_limit = StateFunction(statics[i]);
    model.friction.push_back(law);
  }
  return make_system(std::move(model));
}

inline State initial() {
  State s;
  s.q = Vector{{1, 0.2}};
  s.v = Vector::Zero(2);
  return s;
}

/// Reference positions at T (sheet of paper 2, section 4.1; 40-digit computation).
struct Reference {
  double t, y1, y2;
};
inline constexpr Reference kCase2[] = {{5, -0.1092406479367021, -0.2330207170851895},
                                       {10, -0.5055813757198812, -0.4212466409148772},
                                       {15, 0.4357821666748532, 0.03328606915029226},
                                       {20, 0.3047925192378028, 0.0183561406937687}};
inline constexpr Reference kCase3[] = {{5, -0.1636676492744145, -0.1563185835024484},
                                       {10, -0.4948607417781269, -0.227989250414767},
                                       {15, 0.2652556100152082, 0.1706691986244067},
                                       {20, 0.1017535125630469, 0.06005634710031071}};
inline constexpr Reference kCase4[] = {{5, 0.1911128576437423, 0.2},
                                       {10, -0.5953964938996941, 0.2},
                                       {15, -0.3678283520723517, 0.2},
                                       {20, 0.1928287216346872, 0.2}};

/// Largest position error at T with step h.
inline double error(const System& model, double T, double h, const Reference& reference, bool locate = true) {
  SimulationOptions o;
  o.end_time = T;
  o.step = h;
  o.moreau.locate_reversals = locate;
  o.output_times = {T};
  const Simulation run = simulate(model, initial(), o);
  return std::max(std::abs(run.final.q[0] - reference.y1), std::abs(run.final.q[1] - reference.y2));
}

}  // namespace stickslip::two_hinges
