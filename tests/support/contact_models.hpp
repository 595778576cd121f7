// SPDX-License-Identifier: Apache-2.0
// Small systems with contact that several tests share.
#pragma once

#include <string>
#include <vector>

#include "stickslip/model/matrix_model.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::contact_models {

inline StateFunction function(const std::string& text, const std::vector<std::string>& coordinates) {
  return Expression::parse(text, state_symbols(coordinates, {}));
}

inline ContactElement contact_law(const std::string& name, int tangents, double mu, double restitution) {
  ContactElement law;
  law.name = name;
  law.tangents = tangents;
  law.mu = mu;
  law.restitution = restitution;
  return law;
}

/// m y'' = -g m over the ground y = 0.
inline std::unique_ptr<System> bouncing_ball(double restitution, double g = 9.81) {
  MatrixModel model;
  model.coordinates = {"y"};
  model.mass = SystemMatrix(DenseMatrix::Identity(1, 1));
  model.damping = model.stiffness = SystemMatrix::zero(1);
  model.force.components = {StateFunction(-g)};
  model.contacts.push_back(
      {contact_law("ground", 0, 0, restitution), function("y", model.coordinates), {}, {}, {}, {}, {}});
  return make_system(std::move(model));
}

/// Glocker's woodpecker toy; numbers of the reference sheet on friction-contact, section 6.
inline std::unique_ptr<System> woodpecker() {
  const double l_M = .010, l_G = .015, m_M = .0003, m_S = .0045, J_M = 5e-9, J_S = 7e-7, c = .0056, g = 9.81;
  MatrixModel model;
  model.coordinates = {"y", "phi_M", "phi_S"};
  DenseMatrix M(3, 3), K(3, 3);
  M << m_S + m_M, m_S * l_M, m_S * l_G, m_S * l_M, J_M + m_S * l_M * l_M, m_S * l_M * l_G, m_S * l_G, m_S * l_M * l_G,
      J_S + m_S * l_G * l_G;
  K << 0, 0, 0, 0, c, -c, 0, -c, c;
  model.mass = SystemMatrix(M);
  model.stiffness = SystemMatrix(K);
  model.damping = SystemMatrix::zero(3);
  for (double weight : {m_S + m_M, m_S * l_M, m_S * l_G}) model.force.components.emplace_back(-g * weight);
  auto add = [&](const std::string& name, const std::string& gap, const std::string& slip, double restitution) {
    model.contacts.push_back({contact_law(name, 1, 0.3, restitution),
                              function(gap, model.coordinates),
                              {function(slip, model.coordinates)},
                              {},
                              {},
                              {},
                              {}});
  };
  add("beak", ".010 + .015 - .0201 - .0025 - .02*phi_S", "y + .010*phi_M + (.015 - .0201)*phi_S", 0.5);
  add("lower", ".0031 - .0025 + .0058*phi_M", "y + .0031*phi_M", 0);
  add("upper", ".0031 - .0025 - .0058*phi_M", "y + .0031*phi_M", 0);
  return make_system(std::move(model));
}

inline State woodpecker_start() {
  State s;
  s.q.resize(3);
  s.v.resize(3);
  s.q << 0, -.1036, -.2788;
  s.v << -.3411, 4.8572e-15, -7.4583;
  return s;
}

inline SimulationOptions textbook_options(double step, double end_time) {
  SimulationOptions options;
  options.step = step;
  options.end_time = end_time;
  options.moreau.contact_rule = ContactRule::velocity;
  return options;
}

}  // namespace stickslip::contact_models
