// SPDX-License-Identifier: Apache-2.0
// Two comparison problems with a harmonic-balance peer: two masses with a unilateral spring, and a beam with friction.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "stickslip/model/matrix_model.hpp"

namespace stickslip {

inline std::vector<std::string> numbered_coordinates(Index n) {
  std::vector<std::string> names;
  for (Index i = 1; i <= n; ++i) names.push_back(fmt::format("x{}", i));
  return names;
}

/// M = 1, K = [1 -1; -1 2], B = 0.03 K; 0.1 cos ωt on x2, a spring of stiffness 100 on x1 beyond 1.
inline std::unique_ptr<System> two_masses_with_stop(double omega) {
  MatrixModel model;
  model.coordinates = {"x1", "x2"};
  model.mass = dense({{1, 0}, {0, 1}});
  model.stiffness = dense({{1, -1}, {-1, 2}});
  model.damping = dense({{0.03, -0.03}, {-0.03, 0.06}});
  const SymbolTable symbols = state_symbols(model.coordinates, {{"omega", omega}});
  model.force.components = {StateFunction(Expression::parse("-100*max(x1 - 1, 0)", symbols)),
                            StateFunction(Expression::parse("0.1*cos(omega*t)", symbols))};
  return make_system(std::move(model));
}

struct Beam {
  DenseMatrix M, K;
};

/// Clamped-free, of cubic Hermite elements with consistent mass; coordinates (w, θ) of the nodes 2, 3, ...
inline Beam clamped_beam(int elements, double length, double height, double thickness, double E, double density) {
  const double l = length / elements, EI = E * thickness * height * height * height / 12,
               mu = density * thickness * height * l / 420;
  const DenseMatrix k{{12, 6 * l, -12, 6 * l},
                      {6 * l, 4 * l * l, -6 * l, 2 * l * l},
                      {-12, -6 * l, 12, -6 * l},
                      {6 * l, 2 * l * l, -6 * l, 4 * l * l}};
  const DenseMatrix m{{156, 22 * l, 54, -13 * l},
                      {22 * l, 4 * l * l, 13 * l, -3 * l * l},
                      {54, 13 * l, 156, -22 * l},
                      {-13 * l, -3 * l * l, -22 * l, 4 * l * l}};
  const Index all = 2 * (elements + 1);
  DenseMatrix K = DenseMatrix::Zero(all, all), M = K;
  for (Index e = 0; e < elements; ++e) {
    K.block(2 * e, 2 * e, 4, 4) += EI / (l * l * l) * k;
    M.block(2 * e, 2 * e, 4, 4) += mu * m;
  }
  return {M.bottomRightCorner(all - 2, all - 2), K.bottomRightCorner(all - 2, all - 2)};
}

/// 8 elements; 0.2 cos ωt at the tip. Friction of limit 1.5 on the fourth node, set-valued or 1.5 tanh(v/width).
inline std::unique_ptr<System> beam_with_friction(double omega, double width) {
  const Beam beam = clamped_beam(8, 2, 0.1, 0.3, 185e9, 7830);
  MatrixModel model;
  model.coordinates = numbered_coordinates(16);
  model.mass = SystemMatrix(beam.M);
  model.stiffness = SystemMatrix(beam.K);
  model.damping = SystemMatrix(DenseMatrix(8.032992955e-05 * beam.K));
  const SymbolTable symbols = state_symbols(model.coordinates, {{"omega", omega}, {"width", width}});
  model.force.components.assign(16, StateFunction(0.0));
  model.force.components[14] = StateFunction(Expression::parse("0.2*cos(omega*t)", symbols));
  if (width > 0) {
    model.force.components[4] = StateFunction(Expression::parse("-1.5*tanh(v_x5/width)", symbols));
  } else {
    FrictionElement law;
    law.name = "pad";
    law.directions = {on(4)};
    law.limit = 1.5;
    model.friction = {law};
  }
  return make_system(std::move(model));
}

}  // namespace stickslip
