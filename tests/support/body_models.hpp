// SPDX-License-Identifier: Apache-2.0
// Free bodies for tests: building blocks and conserved quantities.
#pragma once

#include <cmath>
#include <string>

#include "stickslip/model/rigid_bodies.hpp"
#include "stickslip/motion/simulate.hpp"

namespace stickslip::body_models {

inline RigidBody body(const std::string& name, double mass, const Eigen::Vector3d& position,
                      const Eigen::Vector3d& velocity = Eigen::Vector3d::Zero(),
                      const Eigen::Vector3d& spin = Eigen::Vector3d::Zero()) {
  RigidBody b;
  b.name = b.group = name;
  b.mass = mass;
  b.position = position;
  b.velocity = velocity;
  b.spin = spin;
  return b;
}

inline Shape sphere(int of_body, double radius) {
  Shape s;
  s.kind = ShapeKind::sphere;
  s.body = of_body;
  s.radius = radius;
  return s;
}

inline Shape box(int of_body, const Eigen::Vector3d& size) {
  Shape s;
  s.kind = ShapeKind::box;
  s.body = of_body;
  s.size = size;
  return s;
}

/// A plane of the ground through the origin.
inline Shape ground_plane(const Eigen::Vector3d& normal = Eigen::Vector3d::UnitZ()) {
  Shape s;
  s.kind = ShapeKind::plane;
  s.body = ground_body;
  s.pose.orientation = Eigen::Quaterniond::FromTwoVectors(Eigen::Vector3d::UnitZ(), normal);
  return s;
}

inline BodyContact contact(const std::string& first, const std::string& second, double mu, double restitution) {
  BodyContact c;
  c.law.name = first == "*" ? "any" : first + "_" + second;
  c.law.mu = mu;
  c.law.restitution = restitution;
  c.law.tangents = mu > 0 ? 2 : 0;
  c.first = first;
  c.second = second;
  return c;
}

/// A unit cube of 1 kg on a plane; gravity of 9.81 m/s² is tilted by `slope` towards +x, so that the plane is an
/// incline with its surface in the x-y plane.
inline BodyModel cube_on_plane(double mu, double slope = 0, const Eigen::Vector3d& velocity = Eigen::Vector3d::Zero(),
                               double restitution = 0) {
  BodyModel model;
  model.gravity = 9.81 * Eigen::Vector3d(std::sin(slope), 0, -std::cos(slope));
  model.bodies.push_back(body("cube", 1, {0, 0, 0.5}, velocity));
  model.shapes = {box(0, {1, 1, 1}), ground_plane()};
  model.contacts = {contact("cube", "ground", mu, restitution)};
  return model;
}

inline State start(const BodyModel& model) {
  State s;
  s.q = start_positions(model);
  s.v = start_velocities(model);
  return s;
}

inline SimulationOptions options(double step, double end_time, double output_step = 0) {
  SimulationOptions o;
  o.step = step;
  o.end_time = end_time;
  o.output_step = output_step > 0 ? output_step : end_time / 4;
  return o;
}

inline Simulation run(const BodyModel& model, const SimulationOptions& o) {
  const State s = start(model);
  return simulate(*make_system(model), s, o);
}

inline Eigen::Quaterniond orientation(const Vector& q, Index k) {
  return {q[7 * k + 3], q[7 * k + 4], q[7 * k + 5], q[7 * k + 6]};
}

inline Eigen::Vector3d momentum(const BodyModel& model, const Vector& v) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (std::size_t k = 0; k < model.bodies.size(); ++k)
    sum += model.bodies[k].mass * v.segment<3>(6 * static_cast<Index>(k));
  return sum;
}

/// About the origin; inertia must be given.
inline Eigen::Vector3d angular_momentum(const BodyModel& model, const Vector& q, const Vector& v) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (std::size_t n = 0; n < model.bodies.size(); ++n) {
    const auto k = static_cast<Index>(n);
    const Eigen::Vector3d x = q.segment<3>(7 * k), velocity = v.segment<3>(6 * k), spin = v.segment<3>(6 * k + 3);
    sum += x.cross(model.bodies[n].mass * velocity) + orientation(q, k) * (*model.bodies[n].inertia * spin);
  }
  return sum;
}

}  // namespace stickslip::body_models
