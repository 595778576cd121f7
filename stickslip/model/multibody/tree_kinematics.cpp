// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/multibody/tree_kinematics.hpp"

#include "stickslip/model/multibody/body_pose.hpp"

namespace stickslip {

using Eigen::Quaterniond;
using Eigen::Vector3d;

namespace {

Quaterniond quaternion_at(const Vector& q, Index first) { return {q[first], q[first + 1], q[first + 2], q[first + 3]}; }

void set_quaternion(Vector& q, Index first, const Quaterniond& r) {
  q[first] = r.w();
  q.segment<3>(first + 1) = r.vec();
}

}  // namespace

TreeKinematics::TreeKinematics(std::shared_ptr<const Tree> tree)
    : Kinematics(tree->coordinates, tree->velocities, tree->flat), tree_(std::move(tree)) {}

void TreeKinematics::rate(const Vector& q, const Vector& v, Vector& qdot) const {
  if (flat()) {
    qdot = v;
    return;
  }
  qdot.resize(nq());
  for (const Link& link : tree_->links) {
    if (link.kind != JointKind::ball) {
      qdot[link.q] = v[link.v];
    } else {
      const Vector3d half = 0.5 * v.segment<3>(link.v);
      set_quaternion(qdot, link.q, quaternion_at(q, link.q) * Quaterniond(0, half.x(), half.y(), half.z()));
    }
  }
}

/// r'' = ½ r' (0, ω) = -¼ |ω|² r
void TreeKinematics::rate_bias(const Vector& q, const Vector& v, Vector& bias) const {
  bias.setZero(nq());
  for (const Link& link : tree_->links)
    if (link.kind == JointKind::ball)
      bias.segment<4>(link.q) = -0.25 * v.segment<3>(link.v).squaredNorm() * q.segment<4>(link.q);
}

void TreeKinematics::pull_back(const Vector& q, const Vector& gradient, Vector& row) const {
  if (flat()) {
    row = gradient;
    return;
  }
  row.resize(nv());
  for (const Link& link : tree_->links) {
    if (link.kind != JointKind::ball) {
      row[link.v] = gradient[link.q];
    } else {
      // The adjoint of r (0, ω)/2 is the vector part of conj(r) g / 2.
      row.segment<3>(link.v) = 0.5 * (quaternion_at(q, link.q).conjugate() * quaternion_at(gradient, link.q)).vec();
    }
  }
}

void TreeKinematics::displace(const Vector& delta, Vector& q) const {
  if (flat()) {
    q += delta;
    return;
  }
  for (const Link& link : tree_->links) {
    if (link.kind != JointKind::ball) {
      q[link.q] += delta[link.v];
      continue;
    }
    const Vector3d angle = delta.segment<3>(link.v);
    if (angle.isZero(0.0)) continue;
    Quaterniond rotation = quaternion_at(q, link.q);
    turn(rotation, angle);
    set_quaternion(q, link.q, rotation.normalized());
  }
}

void TreeKinematics::difference(const Vector& q1, const Vector& q0, Vector& delta) const {
  if (flat()) {
    delta = q1 - q0;
    return;
  }
  delta.resize(nv());
  for (const Link& link : tree_->links) {
    if (link.kind != JointKind::ball) {
      delta[link.v] = q1[link.q] - q0[link.q];
    } else {
      const Quaterniond turned = quaternion_at(q0, link.q).conjugate() * quaternion_at(q1, link.q);
      delta.segment<3>(link.v) = 2 / turned.w() * turned.vec();
    }
  }
}

void TreeKinematics::normalize(Vector& q) const {
  for (const Link& link : tree_->links)
    if (link.kind == JointKind::ball) set_quaternion(q, link.q, quaternion_at(q, link.q).normalized());
}

void TreeKinematics::interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h,
                                 double s, bool smooth, Vector& q) const {
  const HermiteWeights weight = hermite_weights(s, h);
  q.resize(nq());
  for (const Link& link : tree_->links) {
    if (link.kind != JointKind::ball) {
      const double x0 = q0[link.q], x1 = q1[link.q];
      q[link.q] = smooth ? weight.q0 * x0 + weight.q1 * x1 + weight.v0 * v0[link.v] + weight.v1 * v1[link.v]
                         : (1 - s) * x0 + s * x1;
      continue;
    }
    const Quaterniond r0 = quaternion_at(q0, link.q);
    const Quaterniond turned = r0.conjugate() * quaternion_at(q1, link.q);
    const Vector3d whole = 2 / turned.w() * turned.vec();
    Vector3d part = s * whole;
    if (smooth) part = weight.q1 * whole + weight.v0 * v0.segment<3>(link.v) + weight.v1 * v1.segment<3>(link.v);
    Quaterniond rotation = r0;
    turn(rotation, part);
    set_quaternion(q, link.q, rotation.normalized());
  }
}

}  // namespace stickslip
