// SPDX-License-Identifier: Apache-2.0
// Kinematics of free bodies (body_pose.hpp): x' = v, and r' = ½ r (0, ω) for the unit quaternion r.
//
//   q ⊕ δ: x + δ_x, r cay(δ_r) with the quaternion of cay(a) ∝ (1, a/2);  q1 ⊖ q0 its inverse.
#pragma once

#include "stickslip/model/kinematics.hpp"

namespace stickslip {

class BodyKinematics final : public Kinematics {
 public:
  /// Columns <body>.x ... <body>.qz and <body>.vx ... <body>.wz.
  explicit BodyKinematics(const std::vector<std::string>& bodies);
  void rate(const Vector& q, const Vector& v, Vector& qdot) const override;
  void rate_bias(const Vector& q, const Vector& v, Vector& bias) const override;
  void pull_back(const Vector& q, const Vector& gradient, Vector& row) const override;
  void displace(const Vector& delta, Vector& q) const override;
  void difference(const Vector& q1, const Vector& q0, Vector& delta) const override;
  void normalize(Vector& q) const override;
  void interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h, double s,
                   bool smooth, Vector& q) const override;

 private:
  Index bodies() const { return nv() / 6; }
};

}  // namespace stickslip
