// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/body_kinematics.hpp"

#include "stickslip/model/multibody/body_pose.hpp"

namespace stickslip {

using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

std::vector<std::string> columns(const std::vector<std::string>& bodies, std::initializer_list<const char*> names) {
  std::vector<std::string> result;
  for (const std::string& body : bodies)
    for (const char* name : names) result.push_back(body + "." + name);
  return result;
}

/// ½ r (0, ω)
Quaterniond turning(const Quaterniond& r, const Vector3d& w) {
  return r * Quaterniond(0, 0.5 * w.x(), 0.5 * w.y(), 0.5 * w.z());
}

}  // namespace

BodyKinematics::BodyKinematics(const std::vector<std::string>& bodies)
    : Kinematics(columns(bodies, {"x", "y", "z", "qw", "qx", "qy", "qz"}),
                 columns(bodies, {"vx", "vy", "vz", "wx", "wy", "wz"})) {}

void BodyKinematics::rate(const Vector& q, const Vector& v, Vector& qdot) const {
  qdot.resize(nq());
  for (Index k = 0; k < bodies(); ++k) {
    qdot.segment<3>(7 * k) = v.segment<3>(6 * k);
    set_orientation(qdot, k, turning(orientation_of(q, k), v.segment<3>(6 * k + 3)));
  }
}

/// r'' = ½ r' (0, ω) = -¼ |ω|² r
void BodyKinematics::rate_bias(const Vector& q, const Vector& v, Vector& bias) const {
  bias.setZero(nq());
  for (Index k = 0; k < bodies(); ++k)
    bias.segment<4>(7 * k + 3) = -0.25 * v.segment<3>(6 * k + 3).squaredNorm() * q.segment<4>(7 * k + 3);
}

void BodyKinematics::pull_back(const Vector& q, const Vector& gradient, Vector& row) const {
  row.resize(nv());
  for (Index k = 0; k < bodies(); ++k) {
    row.segment<3>(6 * k) = gradient.segment<3>(7 * k);
    // The adjoint of r (0, ω)/2 is the vector part of conj(r) g / 2.
    row.segment<3>(6 * k + 3) = 0.5 * (orientation_of(q, k).conjugate() * orientation_of(gradient, k)).vec();
  }
}

void BodyKinematics::displace(const Vector& delta, Vector& q) const {
  for (Index k = 0; k < bodies(); ++k) {
    q.segment<3>(7 * k) += delta.segment<3>(6 * k);
    const Vector3d angle = delta.segment<3>(6 * k + 3);
    if (angle.isZero(0.0)) continue;
    Quaterniond rotation = orientation_of(q, k);
    turn(rotation, angle);
    set_orientation(q, k, rotation.normalized());
  }
}

void BodyKinematics::difference(const Vector& q1, const Vector& q0, Vector& delta) const {
  delta.resize(nv());
  for (Index k = 0; k < bodies(); ++k) {
    delta.segment<3>(6 * k) = q1.segment<3>(7 * k) - q0.segment<3>(7 * k);
    const Quaterniond turned = orientation_of(q0, k).conjugate() * orientation_of(q1, k);
    delta.segment<3>(6 * k + 3) = 2 / turned.w() * turned.vec();
  }
}

void BodyKinematics::normalize(Vector& q) const {
  for (Index k = 0; k < bodies(); ++k) set_orientation(q, k, orientation_of(q, k).normalized());
}

void BodyKinematics::interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h,
                                 double s, bool smooth, Vector& q) const {
  const HermiteWeights weight = hermite_weights(s, h);
  for (Index k = 0; k < bodies(); ++k) {
    const auto x0 = q0.segment<3>(7 * k), x1 = q1.segment<3>(7 * k);
    q.segment<3>(7 * k) = smooth ? Vector3d(weight.q0 * x0 + weight.q1 * x1 + weight.v0 * v0.segment<3>(6 * k) +
                                            weight.v1 * v1.segment<3>(6 * k))
                                 : Vector3d((1 - s) * x0 + s * x1);
    set_orientation(q, k, orientation_of(q0, k).slerp(s, orientation_of(q1, k)));
  }
}

}  // namespace stickslip
