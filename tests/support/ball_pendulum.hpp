// SPDX-License-Identifier: Apache-2.0
// A body on a ball joint as a user would write it: positions are a unit quaternion (nq = 4), velocities the spin in the
// body's axes (nv = 3). With its mass centre on an axis of symmetry it is the heavy top.
//
//   r' = ½ r (0, ω),    J ω' = -ω × J ω + m c × Rᵀ g            J about the joint [kg m²], c mass centre in the body
//   [m]
#pragma once

#include <Eigen/Dense>
#include <Eigen/Geometry>
#include <memory>
#include <utility>
#include <vector>

#include "stickslip/model/expression_contact.hpp"
#include "stickslip/model/system.hpp"

namespace stickslip::ball_pendulum {

using Eigen::Matrix3d;
using Eigen::Quaterniond;
using Eigen::Vector3d;

struct Parameters {
  double mass = 1.3;                                    ///< [kg]
  Vector3d center{0.05, -0.02, -0.4};                   ///< c [m]
  Matrix3d J = Vector3d(0.25, 0.3, 0.08).asDiagonal();  ///< [kg m²]
  Vector3d gravity{0, 0, -9.81};                        ///< [m/s²]
};

inline Quaterniond orientation(const Vector& q) { return {q[0], q[1], q[2], q[3]}; }
inline Eigen::Vector4d numbers(const Quaterniond& r) { return {r.w(), r.x(), r.y(), r.z()}; }

/// m c × Rᵀ g
inline Vector3d gravity_torque(const Parameters& p, const Quaterniond& r) {
  return p.mass * p.center.cross(r.conjugate() * p.gravity);
}

class BallKinematics final : public Kinematics {
 public:
  BallKinematics() : Kinematics({"qw", "qx", "qy", "qz"}, {"wx", "wy", "wz"}) {}
  void rate(const Vector& q, const Vector& v, Vector& qdot) const override {
    qdot = numbers(orientation(q) * Quaterniond(0, 0.5 * v[0], 0.5 * v[1], 0.5 * v[2]));
  }
  void displace(const Vector& delta, Vector& q) const override {
    q = numbers((orientation(q) * Quaterniond(1, 0.5 * delta[0], 0.5 * delta[1], 0.5 * delta[2])).normalized());
  }
  void difference(const Vector& q1, const Vector& q0, Vector& delta) const override {
    const Quaterniond turned = orientation(q0).conjugate() * orientation(q1);
    delta = 2 / turned.w() * turned.vec();
  }
  void normalize(Vector& q) const override { q.normalize(); }
};

class BallInertia final : public Inertia {
 public:
  explicit BallInertia(const Matrix3d& J) : J_(J), mass_(DenseMatrix(J)) {}
  bool constant() const override { return true; }
  const SystemMatrix& mass(const Vector&, SystemWorkspace&) const override { return mass_; }
  double kinetic_energy(const Vector&, const Vector& v) const override {
    const Vector3d w = v;
    return 0.5 * w.dot(J_ * w);
  }
  bool has_velocity_force() const override { return true; }
  void add_velocity_force(const Vector&, const Vector& v, SystemWorkspace&, Vector& h) const override {
    const Vector3d w = v;
    h -= w.cross(J_ * w);
  }

 private:
  Matrix3d J_;
  SystemMatrix mass_;
};

class BallForces final : public Forces {
 public:
  explicit BallForces(Parameters p) : p_(std::move(p)) {}
  void total(double, const Vector& q, const Vector&, SystemWorkspace&, Vector& h) const override {
    h = gravity_torque(p_, orientation(q));
  }
  void applied(double, const Vector&, const Vector&, SystemWorkspace&, Vector& f) const override { f.setZero(3); }
  double potential_energy(const Vector& q) const override {
    return -p_.mass * p_.gravity.dot(orientation(q) * p_.center);
  }
  double damper_power(const Vector&, const Vector&) const override { return 0; }
  void slopes(double, const Vector&, const Vector&, SystemWorkspace&, SystemMatrix& by_q,
              SystemMatrix& by_v) const override {
    by_q = by_v = zero_;
  }
  void applied_slopes(double, const Vector&, const Vector&, SystemWorkspace&, SystemMatrix& by_q,
                      SystemMatrix& by_v) const override {
    by_q = by_v = zero_;
  }
  bool applied_depends_on_state() const override { return false; }
  bool applied_depends_on_time() const override { return false; }
  bool depends_on_state() const override { return true; }

 private:
  Parameters p_;
  SystemMatrix zero_{DenseMatrix(DenseMatrix::Zero(3, 3))};  // as full as the slopes of ω × J ω that are added
};

/// Dry friction about one axis of the body.
inline FrictionElement joint_friction(Index axis, double limit) {
  FrictionElement law;
  law.name = "axis" + std::to_string(axis + 1);
  law.directions = {{{axis, 1.0}}};
  law.limit = StateFunction(limit);
  return law;
}

inline std::unique_ptr<System> make(const Parameters& p = {}, std::vector<FrictionElement> friction = {},
                                    std::vector<ExpressionContact> contacts = {}) {
  auto kinematics = std::make_unique<BallKinematics>();
  auto points = std::make_unique<ExpressionContacts>(std::move(contacts), *kinematics);
  SystemParts parts{"ball pendulum", std::move(kinematics), std::make_unique<BallInertia>(p.J),
                    std::make_unique<BallForces>(p), LawSet(3, std::move(friction), std::move(points))};
  return std::make_unique<System>(std::move(parts));
}

}  // namespace stickslip::ball_pendulum
