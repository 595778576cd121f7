// SPDX-License-Identifier: Apache-2.0
// Poses of bodies in the vectors of positions and velocities:
//
//   q per body  x, y, z of the mass centre [m], unit quaternion w, x, y, z (body to world)
//   v per body  velocity of the mass centre in the world [m/s], spin ω in the body's axes [rad/s]
#pragma once

#include <Eigen/Dense>
#include <Eigen/Geometry>

#include "stickslip/common/vector.hpp"

namespace stickslip {

inline Eigen::Vector3d position_of(const Vector& q, Index body) { return q.segment<3>(7 * body); }
inline Eigen::Quaterniond orientation_of(const Vector& q, Index body) {
  return {q[7 * body + 3], q[7 * body + 4], q[7 * body + 5], q[7 * body + 6]};
}
inline void set_orientation(Vector& q, Index body, const Eigen::Quaterniond& rotation) {
  q[7 * body + 3] = rotation.w();
  q[7 * body + 4] = rotation.x();
  q[7 * body + 5] = rotation.y();
  q[7 * body + 6] = rotation.z();
}

inline Eigen::Matrix3d cross_matrix(const Eigen::Vector3d& a) {
  Eigen::Matrix3d m;
  m << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return m;
}

/// The rotation cay(a), with quaternion ∝ (1, a/2), after `rotation`; not normalised.
inline void turn(Eigen::Quaterniond& rotation, const Eigen::Vector3d& a) {
  rotation = rotation * Eigen::Quaterniond(1, 0.5 * a.x(), 0.5 * a.y(), 0.5 * a.z());
}

}  // namespace stickslip
