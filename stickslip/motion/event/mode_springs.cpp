// SPDX-License-Identifier: Apache-2.0
// Friction laws with a spring in series: deformations, sliders, and the modes that follow from them.
#include <algorithm>
#include <cmath>

#include "stickslip/motion/event/mode_dynamics.hpp"

namespace stickslip {

namespace {
constexpr double kAtLimit = 1e-12;  // of the limit: round-off of k d
}

double ModeDynamics::spring_length(std::size_t k) const {
  const Law& law = laws_[k];
  return law.size == 2 ? std::hypot(d_[law.spring], d_[law.spring + 1]) : std::abs(d_[law.spring]);
}

void ModeDynamics::spring_direction(std::size_t k, Mode mode, double n[2]) const {
  const Law& law = laws_[k];
  n[0] = n[1] = 0;
  if (law.size == 1) {
    n[0] = mode == Mode::slip_plus ? 1 : mode == Mode::slip_minus ? -1 : d_[law.spring] < 0 ? -1 : 1;
    return;
  }
  // A slider that begins to move without a deformation goes where the velocity goes.
  const double length = spring_length(k), speed = std::hypot(u_[law.first], u_[law.first + 1]);
  for (int c = 0; c < 2; ++c)
    n[c] = length > 0 ? d_[law.spring + c] / length : speed > 0 ? u_[law.first + c] / speed : 0.0;
}

/// dc/dt along the motion of the last solve().
double ModeDynamics::limit_rate(std::size_t k) {
  const StateFunction& limit = friction_.element(static_cast<Index>(k)).limit;
  if (limit.is_constant()) return 0;
  system_.kinematics().rate(q_, v_, qdot_);
  workspace_.variables.set(t_, q_, v_);
  const auto variables = workspace_.variables.span();
  const Index positions = qdot_.size();
  double rate = 0;
  for (const Index slot : limit.variables_used()) {
    const double speed = slot == 0                ? 1.0
                         : slot <= positions      ? qdot_[slot - 1]
                         : slot <= positions + n_ ? a_[slot - 1 - positions]
                                                  : 0.0;
    if (speed != 0) rate += speed * limit.derivative(variables, slot);
  }
  return rate;
}

double ModeDynamics::slider_speed(std::size_t k, Mode mode) {
  if (mode == Mode::stick) return 0;
  const Law& law = laws_[k];
  double n[2], speed = -limit_rate(k) / law.stiffness;
  spring_direction(k, mode, n);
  for (int c = 0; c < law.size; ++c) speed += n[c] * u_[law.first + c];
  return speed;
}

void ModeDynamics::deformation_rate(const std::vector<Mode>& modes, Vector& rate) {
  rate.setZero(d_.size());
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Law& law = laws_[k];
    if (!law.springs() || idle_[k]) continue;
    if (modes[k] == Mode::stick) {
      for (int c = 0; c < law.size; ++c) rate[law.spring + c] = u_[law.first + c];
    } else if (law.size == 2 && limit_[static_cast<Index>(k)] > 0) {
      // Its direction alone: the length is c/k at every instant.
      double n[2];
      spring_direction(k, modes[k], n);
      const double along = n[0] * u_[law.first] + n[1] * u_[law.first + 1];
      const double stretch = spring_length(k) * law.stiffness / limit_[static_cast<Index>(k)];
      for (int c = 0; c < 2; ++c) rate[law.spring + c] = stretch * (u_[law.first + c] - along * n[c]);
    }
  }
}

void ModeDynamics::stretch_to_limits(const std::vector<Mode>& modes, Vector& d) const {
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Law& law = laws_[k];
    if (!law.springs() || modes[k] == Mode::stick) continue;
    double n[2];
    spring_direction(k, modes[k], n);
    for (int c = 0; c < law.size; ++c)
      d[law.spring + c] = idle_[k] ? 0.0 : limit_[static_cast<Index>(k)] / law.stiffness * n[c];
  }
}

void ModeDynamics::settle_springs(const std::vector<char>& settled, std::vector<Mode>& modes) {
  std::vector<Mode> at_limit = modes;  // a slip, where the deformation is to be c/k long
  for (std::size_t k = 0; k < laws_.size(); ++k) {
    const Law& law = laws_[k];
    if (!law.springs() || idle_[k]) continue;
    const double limit = limit_[static_cast<Index>(k)];
    const Mode slip = law.size == 2 ? Mode::slip : d_[law.spring] < 0 ? Mode::slip_minus : Mode::slip_plus;
    const bool reached = law.stiffness * spring_length(k) >= limit * (1 - kAtLimit);
    if (modes[k] == Mode::stick && (settled[k] || reached)) at_limit[k] = slip;
    if (settled[k] || at_limit[k] == Mode::stick) continue;
    modes[k] = slider_speed(k, at_limit[k]) > 0 ? at_limit[k] : Mode::stick;
  }
  stretch_to_limits(at_limit, d_);
}

double ModeDynamics::spring_energy(const Vector& d) const {
  double twice = 0;
  for (const Law& law : laws_)
    if (law.springs()) twice += law.stiffness * d.segment(law.spring, law.size).squaredNorm();
  return 0.5 * twice;
}

}  // namespace stickslip
