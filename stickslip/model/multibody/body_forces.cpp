// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/body_forces.hpp"

#include <cmath>

#include "stickslip/model/multibody/body_pose.hpp"

namespace stickslip {

using Eigen::Quaterniond;
using Eigen::Vector3d;

BodyForces::BodyForces(const BodyModel& model) : gravity_(model.gravity), springs_(model.springs) {
  for (const RigidBody& body : model.bodies) {
    loads_.push_back({body.mass, body.center, body.force, body.torque});
    loaded_ |= !body.force.empty() || !body.torque.empty();
  }
  set_spring_structure();
}

void BodyForces::total(double t, const Vector& q, const Vector& v, SystemWorkspace& w, Vector& h) const {
  applied(t, q, v, w, h);
  for (Index k = 0; k < bodies(); ++k) h.segment<3>(6 * k) += loads_[static_cast<std::size_t>(k)].mass * gravity_;
  for (const PointSpring& spring : springs_) {
    const SpringState s = spring_state(spring, q, v);
    add_point_force(spring.body_a, s.arm_a, s.along * s.tension, q, h);
    add_point_force(spring.body_b, s.arm_b, -s.along * s.tension, q, h);
  }
}

void BodyForces::slopes(double, const Vector& q, const Vector& v, SystemWorkspace&, SystemMatrix& by_q,
                        SystemMatrix& by_v) const {
  double* const dq = spring_layout_.clear(by_q);
  double* const dv = spring_layout_.clear(by_v);
  for (std::size_t k = 0; k < springs_.size(); ++k) {
    const PointSpring& spring = springs_[k];
    const std::array<double, 12> J = length_rate(spring, spring_state(spring, q, v), q);
    const std::array<int, 2> ends{spring.body_a, spring.body_b};
    std::size_t at = 12 * 12 * k;
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 12; ++j, ++at) {
        if (ends[static_cast<std::size_t>(i / 6)] < 0 || ends[static_cast<std::size_t>(j / 6)] < 0) continue;
        const double slope = J[static_cast<std::size_t>(i)] * J[static_cast<std::size_t>(j)];
        dq[spring_places_[at]] -= spring.stiffness * slope;
        dv[spring_places_[at]] -= spring.damping * slope;
      }
  }
}

void BodyForces::applied(double t, const Vector& q, const Vector&, SystemWorkspace& w, Vector& f) const {
  f.setZero(6 * bodies());
  if (!loaded_) return;
  w.variables.set_time(t);
  for (Index k = 0; k < bodies(); ++k) {
    const Load& body = loads_[static_cast<std::size_t>(k)];
    for (std::size_t i = 0; i < body.force.size(); ++i)
      f[6 * k + static_cast<Index>(i)] += body.force[i](w.variables.span());
    if (body.torque.empty()) continue;
    Vector3d torque;
    for (int i = 0; i < 3; ++i) torque[i] = body.torque[static_cast<std::size_t>(i)](w.variables.span());
    f.segment<3>(6 * k + 3) += orientation_of(q, k).conjugate() * torque;
  }
}

/// Torques in the world turn with the body: a slope that steps do without.
void BodyForces::applied_slopes(double, const Vector&, const Vector&, SystemWorkspace&, SystemMatrix& by_q,
                                SystemMatrix& by_v) const {
  by_q = by_v = SystemMatrix::zero(6 * bodies());
}

double BodyForces::potential_energy(const Vector& q) const {
  double sum = 0;
  for (Index k = 0; k < bodies(); ++k)
    sum -= loads_[static_cast<std::size_t>(k)].mass * gravity_.dot(position_of(q, k));
  for (const PointSpring& spring : springs_) {
    const double stretch = spring_state(spring, q, Vector()).length - spring.rest;
    sum += 0.5 * spring.stiffness * stretch * stretch;
  }
  return sum;
}

double BodyForces::damper_power(const Vector& q, const Vector& v) const {
  double sum = 0;
  for (const PointSpring& spring : springs_)
    if (spring.damping > 0) {
      const double rate = spring_state(spring, q, v).rate;
      sum += spring.damping * rate * rate;
    }
  return sum;
}

BodyForces::SpringState BodyForces::spring_state(const PointSpring& spring, const Vector& q, const Vector& v) const {
  SpringState s;
  auto end = [&](int body, const Vector3d& point, Vector3d& arm, Vector3d& velocity) -> Vector3d {
    velocity.setZero();
    arm.setZero();
    if (body < 0) return point;
    const Quaterniond r = orientation_of(q, body);
    arm = r * (point - loads_[static_cast<std::size_t>(body)].center);
    if (v.size() > 0) {
      const Vector3d spin = r * Vector3d(v.segment<3>(6 * body + 3));
      velocity = Vector3d(v.segment<3>(6 * body)) + spin.cross(arm);
    }
    return position_of(q, body) + arm;
  };
  Vector3d va, vb;
  const Vector3d a = end(spring.body_a, spring.point_a, s.arm_a, va),
                 b = end(spring.body_b, spring.point_b, s.arm_b, vb);
  const Vector3d line = b - a;
  s.length = line.norm();
  s.along = s.length > 0 ? Vector3d(line / s.length) : Vector3d::Zero();
  s.rate = s.along.dot(vb - va);
  s.tension = spring.stiffness * (s.length - spring.rest) + spring.damping * s.rate;
  return s;
}

/// J with l' = J v, over the velocities of body a and then b; the part of the ground is meaningless.
std::array<double, 12> BodyForces::length_rate(const PointSpring& spring, const SpringState& s, const Vector& q) const {
  std::array<double, 12> J{};
  const auto end = [&](int body, const Vector3d& arm, double sign, std::size_t first) {
    if (body < 0) return;
    const Vector3d moment = orientation_of(q, body).conjugate() * arm.cross(s.along);
    for (std::size_t i = 0; i < 3; ++i) {
      J[first + i] = sign * s.along[static_cast<Index>(i)];
      J[first + 3 + i] = sign * moment[static_cast<Index>(i)];
    }
  };
  end(spring.body_a, s.arm_a, -1, 0);
  end(spring.body_b, s.arm_b, 1, 6);
  return J;
}

/// Where the products J_i J_j of each spring go.
void BodyForces::set_spring_structure() {
  std::vector<std::pair<Index, Index>> entries;
  const auto index = [](const PointSpring& spring, int i) -> Index {
    const int body = i < 6 ? spring.body_a : spring.body_b;
    return body < 0 ? -1 : 6 * static_cast<Index>(body) + i % 6;
  };
  for (const bool placing : {false, true}) {
    for (const PointSpring& spring : springs_)
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j) {
          const Index row = index(spring, i), column = index(spring, j);
          const bool exists = row >= 0 && column >= 0;
          if (placing) spring_places_.push_back(exists ? spring_layout_.offset(row, column) : 0);
          if (!placing && exists) entries.emplace_back(row, column);
        }
    if (!placing) spring_layout_ = MatrixLayout(6 * bodies(), entries);
  }
}

void BodyForces::add_point_force(int body, const Vector3d& arm, const Vector3d& f, const Vector& q, Vector& h) const {
  if (body < 0) return;
  h.segment<3>(6 * body) += f;
  h.segment<3>(6 * body + 3) += orientation_of(q, body).conjugate() * arm.cross(f);
}

void BodyForces::append_breakpoints(BreakpointSearch& search) const {
  for (const Load& load : loads_)
    for (const auto* functions : {&load.force, &load.torque})
      for (const StateFunction& f : *functions) f.append_breakpoints(search);
}

void BodyForces::append_time_functions(std::vector<const StateFunction*>& functions) const {
  for (const Load& load : loads_)
    for (const auto* list : {&load.force, &load.torque})
      for (const StateFunction& f : *list) functions.push_back(&f);
}

}  // namespace stickslip
