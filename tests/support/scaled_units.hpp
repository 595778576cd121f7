// SPDX-License-Identifier: Apache-2.0
// One model in other units: its numbers are multiplied, its motion must be the same.
//
//   q' = a q,   t' = T t,   M' = m L²/(a_i a_j) M,   f' = m L²/(T² a_i) f,   gap' = L gap(q'/a)
//   a: L for a length, 1 for an angle;   L, T, m: how many new units one old unit is
//
// With powers of two no digit changes: every comparison of a run has the same outcome, and the scaled motion agrees
// with the plain one in all bits. Whatever differs stems from a number in the program that has a hidden unit.
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "stickslip/model/equation_model.hpp"
#include "stickslip/model/matrix_model.hpp"
#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::scaled_units {

struct Units {
  double length = 1, mass = 1, time = 1;
  double velocity() const { return length / time; }
  double energy() const { return mass * velocity() * velocity(); }
  double force() const { return energy() / length; }
};

/// Each unit 2^±20, about 1e±6, alone and together.
inline std::vector<Units> systems() {
  const double up = 0x1p20, down = 0x1p-20;
  return {{up, 1, 1},   {down, 1, 1}, {1, up, 1},     {1, down, 1},       {1, 1, up},
          {1, 1, down}, {up, up, up}, {up, down, up}, {down, down, down}, {down, up, down}};
}

inline std::string describe(const Units& units) {
  return fmt::format("length x {:.3g}, mass x {:.3g}, time x {:.3g}", units.length, units.mass, units.time);
}

/// How the names of an expression change: coordinates and their unit (L for a length, 1 for an angle).
class Names {
 public:
  Names(const std::vector<std::string>& coordinates, const std::vector<bool>& is_angle, const Units& units)
      : coordinates_(coordinates), units_(units) {
    factors_["t"] = units.time;
    for (std::size_t i = 0; i < coordinates.size(); ++i) {
      size_.push_back(i < is_angle.size() && is_angle[i] ? 1.0 : units.length);
      factors_[coordinates[i]] = size_[i];
      factors_["v_" + coordinates[i]] = size_[i] / units.time;
    }
  }

  double size(std::size_t coordinate) const { return size_[coordinate]; }
  const Units& units() const { return units_; }

  /// factor f(x'/unit of x). Texts with named parameters are refused by the parser: put the numbers in.
  StateFunction scaled(const StateFunction& f, double factor) const {
    if (f.is_constant()) return StateFunction(factor * f({}));
    return Expression::parse(fmt::format("{:.17g}*({})", factor, renamed(f.expression()->text())),
                             state_symbols(coordinates_, {}));
  }

 private:
  std::string renamed(std::string_view text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size();) {
      const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
      std::size_t end = i;
      while (end < text.size() && (is_name(text[end]) || text[end] == '.')) ++end;
      if (end == i) ++end;
      const std::string token(text.substr(i, end - i));
      const auto found = factors_.find(token);
      result += found == factors_.end() ? token : fmt::format("({}/{:.17g})", token, found->second);
      i = end;
    }
    return result;
  }

  std::vector<std::string> coordinates_;
  Units units_;
  std::vector<double> size_;
  std::map<std::string, double> factors_;
};

inline void scale(std::vector<StateFunction>& functions, const Names& names, double factor) {
  for (StateFunction& f : functions) f = names.scaled(f, factor);
}

/// Gaps and slips are lengths; surfaces move in m/s. Drawing anchors are left out.
inline void scale(std::vector<ExpressionContact>& contacts, const Names& names) {
  const Units& units = names.units();
  for (ExpressionContact& contact : contacts) {
    contact.gap = names.scaled(contact.gap, units.length);
    scale(contact.slip, names, units.length);
    for (std::vector<StateFunction>& row : contact.slip_rows)
      for (std::size_t j = 0; j < row.size(); ++j) row[j] = names.scaled(row[j], units.length / names.size(j));
    scale(contact.surface_velocity, names, units.velocity());
    contact.position.clear();
    contact.normal.clear();
  }
}

/// Laws on single coordinates or directions of one unit.
inline void scale(std::vector<FrictionElement>& laws, const Names& names) {
  const Units& units = names.units();
  for (FrictionElement& law : laws) {
    const double size = names.size(static_cast<std::size_t>(law.directions[0][0].first));
    law.limit = names.scaled(law.limit, units.energy() / size);
    if (law.static_limit) law.static_limit = names.scaled(*law.static_limit, units.energy() / size);
    law.weakening.epsilon *= size / units.time;
    law.viscous *= units.energy() * units.time / (size * size);
    scale(law.surface_velocity, names, size / units.time);
  }
}

/// Holonomic constraints are lengths.
inline void scale(std::vector<ExpressionConstraint>& constraints, const Names& names) {
  const Units& units = names.units();
  for (ExpressionConstraint& constraint : constraints) {
    constraint.position = names.scaled(constraint.position, units.length);
    for (std::size_t j = 0; j < constraint.row.size(); ++j)
      constraint.row[j] = names.scaled(constraint.row[j], units.length / names.size(j));
    constraint.rate = names.scaled(constraint.rate, units.velocity());
  }
}

inline SystemMatrix scaled(const SystemMatrix& matrix, const Names& names, double factor) {
  DenseMatrix dense = matrix.to_dense();
  for (Index i = 0; i < dense.rows(); ++i)
    for (Index j = 0; j < dense.cols(); ++j)
      dense(i, j) *= factor / (names.size(static_cast<std::size_t>(i)) * names.size(static_cast<std::size_t>(j)));
  return SystemMatrix(dense);
}

inline MatrixModel scaled(MatrixModel model, const std::vector<bool>& is_angle, const Units& units) {
  const Names names(model.coordinates, is_angle, units);
  const double energy = units.energy();
  model.mass = scaled(model.mass, names, energy * units.time * units.time);
  model.damping = scaled(model.damping, names, energy * units.time);
  model.stiffness = scaled(model.stiffness, names, energy);
  for (std::size_t i = 0; i < model.force.components.size(); ++i)
    model.force.components[i] = names.scaled(model.force.components[i], energy / names.size(i));
  scale(model.friction, names);
  scale(model.contacts, names);
  scale(model.constraints, names);
  return model;
}

inline EquationModel scaled(EquationModel model, const std::vector<bool>& is_angle, const Units& units) {
  const Names names(model.coordinates, is_angle, units);
  const double energy = units.energy();
  for (std::size_t i = 0; i < model.mass.size(); ++i)
    for (std::size_t j = 0; j < model.mass.size(); ++j)
      model.mass[i][j] =
          names.scaled(model.mass[i][j], energy * units.time * units.time / (names.size(i) * names.size(j)));
  if (model.kinetic_energy) model.kinetic_energy = names.scaled(*model.kinetic_energy, energy);
  for (std::size_t i = 0; i < model.force.size(); ++i)
    model.force[i] = names.scaled(model.force[i], energy / names.size(i));
  if (model.potential) model.potential = names.scaled(*model.potential, energy);
  if (model.dissipation) model.dissipation = names.scaled(*model.dissipation, energy / units.time);
  scale(model.friction, names);
  scale(model.contacts, names);
  scale(model.constraints, names);
  return model;
}

/// Planes, boxes and spheres; forces and surfaces must be constant.
inline BodyModel scaled(BodyModel model, const Units& units) {
  const double L = units.length;
  const auto scale = [](std::vector<StateFunction>& functions, double factor) {
    for (StateFunction& f : functions) f = StateFunction(factor * f({}));
  };
  model.gravity *= L / (units.time * units.time);
  for (RigidBody& body : model.bodies) {
    body.mass *= units.mass;
    body.center *= L;
    if (body.inertia) *body.inertia *= units.mass * L * L;
    body.position *= L;
    body.velocity *= units.velocity();
    body.spin /= units.time;
    scale(body.force, units.force());
    scale(body.torque, units.energy());
  }
  for (Shape& shape : model.shapes) {
    shape.size *= L;
    shape.radius *= L;
    shape.length *= L;
    shape.pose.position *= L;
    for (Eigen::Vector3d& vertex : shape.points) vertex *= L;
  }
  for (PointSpring& spring : model.springs) {
    spring.point_a *= L;
    spring.point_b *= L;
    spring.rest *= L;
    spring.stiffness *= units.force() / L;
    spring.damping *= units.force() / units.velocity();
  }
  for (BodyContact& contact : model.contacts) scale(contact.surface_velocity, units.velocity());
  return model;
}

/// A state of coordinates with q' = v.
inline State scaled(State state, const std::vector<bool>& is_angle, const Units& units) {
  for (Index i = 0; i < state.q.size(); ++i) {
    const bool angle = static_cast<std::size_t>(i) < is_angle.size() && is_angle[static_cast<std::size_t>(i)];
    state.q[i] *= angle ? 1.0 : units.length;
    state.v[i] *= (angle ? 1.0 : units.length) / units.time;
  }
  return state;
}

inline SimulationOptions scaled(SimulationOptions options, const Units& units) {
  options.step *= units.time;
  options.start_time *= units.time;
  options.end_time *= units.time;
  options.output_step *= units.time;
  for (double& t : options.output_times) t *= units.time;
  options.moreau.start_penetration *= units.length;
  return options;
}

/// The state back in the units of the plain model.
inline State restored(State state, const std::vector<bool>& is_angle, const Units& units) {
  return scaled(std::move(state), is_angle, {1 / units.length, 1 / units.mass, 1 / units.time});
}

}  // namespace stickslip::scaled_units
