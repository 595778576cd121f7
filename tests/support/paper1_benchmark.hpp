// SPDX-License-Identifier: Apache-2.0
// The two-mass benchmark of paper 1 built in C++, with every shape of the weakening term.
//
// M = [2 1; 1 2], K = [2 -1; -1 2], C = I, γ(v) = β v/√(v²+ε²) with β = 1/3, ε = 0.1, X0 = 0, V0 = (1, 0), T = 4.
// f is M v' + K x + C (λ - γ(v)) of the exact solution (the printed f does not belong to it).
#pragma once

#include <array>
#include <cmath>
#include <memory>

#include "papers/splitting/benchmark.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::paper1 {

inline const char* const kForce[2] = {
    "if(t < 1, -t^2 + 2*t - 1, if(t < 2, t - 1/2, if(t < 3, 3*t^3 - 23*t^2 + 70*t - 78, t^3/3 - 3*t^2 + 6*t - 3/2)))"
    " - G(if(t < 1, 1 - t, if(t < 2, 0, if(t < 3, 4*(t-3)*(t-2), 0))))",
    "if(t < 1, t^2/2 - 2*t, if(t < 2, 1/2 - t, if(t < 3, -2*t^3 + 16*t^2 - 36*t + 49/2, -2*t^3/3 + 6*t^2 - 20*t + "
    "53/2)))"
    " - G(if(t < 2, 0, 1 - (t-3)^2))"};

/// γ as text; "A" stands for the argument.
inline std::string weakening_text(WeakeningShape shape) {
  switch (shape) {
    case WeakeningShape::algebraic:
      return "(1/3)*(A)/sqrt((A)^2 + 0.01)";
    case WeakeningShape::arctan:
      return "(2/3)/pi*atan((A)/0.1)";
    case WeakeningShape::tanh:
      return "(1/3)*tanh((A)/0.1)";
    case WeakeningShape::clamp:
      return "(1/3)*min(1, max(-1, (A)/0.1))";
    case WeakeningShape::exponential:
      return "(1/3)*sign(A)*(1 - exp(-abs(A)/0.1))";
    case WeakeningShape::none:
      break;
  }
  return "0";
}

inline std::unique_ptr<System> system(WeakeningShape shape = WeakeningShape::algebraic) {
  MatrixModel model;
  model.title = "paper 1 benchmark";
  model.coordinates = {"x1", "x2"};
  model.mass = SystemMatrix(DenseMatrix{{2, 1}, {1, 2}});
  model.damping = SystemMatrix(DenseMatrix{{0, 0}, {0, 0}});
  model.stiffness = SystemMatrix(DenseMatrix{{2, -1}, {-1, 2}});
  const SymbolTable symbols = state_symbols(model.coordinates, {});
  for (std::string text : kForce) {
    const std::size_t call = text.find("G(");
    const std::string argument = text.substr(call + 2, text.size() - call - 3);
    std::string gamma = weakening_text(shape);
    for (std::size_t at = gamma.find("A"); at != std::string::npos; at = gamma.find("A", at + argument.size()))
      gamma.replace(at, 1, argument);
    model.force.components.emplace_back(Expression::parse(text.substr(0, call) + "(" + gamma + ")", symbols));
  }
  for (Index i = 0; i < 2; ++i) {
    FrictionElement law;
    law.name = "friction" + std::to_string(i + 1);
    law.directions = {{{i, 1.0}}};
    law.limit = StateFunction(1.0);
    law.weakening = {shape, shape == WeakeningShape::none ? 0.0 : 1.0 / 3, 0.1};
    model.friction.push_back(law);
  }
  return make_system(std::move(model));
}

inline State initial() {
  State s;
  s.q = Vector::Zero(2);
  s.v = Vector{{1, 0}};
  return s;
}

inline SimulationOptions options(SchemeKind scheme, long steps) {
  SimulationOptions o;
  o.scheme = scheme;
  o.steps = steps;
  o.end_time = 4;
  o.moreau.locate_reversals = false;
  return o;
}

}  // namespace stickslip::paper1
