// SPDX-License-Identifier: Apache-2.0
// One mass with a spring, a damper, a force and one friction law; what most closed forms are about.
#pragma once

#include <memory>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip {

struct OneMass {
  double mass = 1, damping = 0, stiffness = 0;
  std::string force = "0";
  double limit = 0, static_limit = -1, viscous = 0;
  std::string surface_velocity = "0";
  Weakening weakening = {};
};

inline std::unique_ptr<System> make_system(const OneMass& m) {
  MatrixModel model;
  model.coordinates = {"x"};
  model.mass = SystemMatrix(DenseMatrix{{m.mass}});
  model.damping = SystemMatrix(DenseMatrix{{m.damping}});
  model.stiffness = SystemMatrix(DenseMatrix{{m.stiffness}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  model.force.components = {StateFunction(Expression::parse(m.force, symbols))};
  FrictionElement law;
  law.name = "friction1";
  law.directions = {{{0, 1.0}}};
  law.limit = StateFunction(m.limit);
  if (m.static_limit >= 0) law.static_limit = StateFunction(m.static_limit);
  law.viscous = m.viscous;
  law.weakening = m.weakening;
  law.surface_velocity = {StateFunction(Expression::parse(m.surface_velocity, symbols))};
  model.friction = {law};
  return make_system(std::move(model));
}

inline Simulation run(const System& system, SchemeKind scheme, double x0, double v0, double step, double end_time) {
  State initial;
  initial.q = Vector::Constant(1, x0);
  initial.v = Vector::Constant(1, v0);
  SimulationOptions options;
  options.scheme = scheme;
  options.step = step;
  options.end_time = end_time;
  return simulate(system, initial, options);
}

inline Simulation run(const OneMass& m, SchemeKind scheme, double x0, double v0, double step, double end_time) {
  return run(*make_system(m), scheme, x0, v0, step, end_time);
}

}  // namespace stickslip
