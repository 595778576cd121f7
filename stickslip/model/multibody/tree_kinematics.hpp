// SPDX-License-Identifier: Apache-2.0
// Kinematics of a tree: q' = v, but for balls, whose unit quaternion r obeys r' = ½ r (0, ω).
//
//   q ⊕ δ: q + δ; r cay(δ) with the quaternion of cay(a) ∝ (1, a/2);  q1 ⊖ q0 its inverse.
//
// A coordinate that does not move keeps its last bit.
#pragma once

#include <memory>

#include "stickslip/model/kinematics.hpp"
#include "stickslip/model/multibody/tree.hpp"

namespace stickslip {

class TreeKinematics final : public Kinematics {
 public:
  explicit TreeKinematics(std::shared_ptr<const Tree> tree);
  void rate(const Vector& q, const Vector& v, Vector& qdot) const override;
  void rate_bias(const Vector& q, const Vector& v, Vector& bias) const override;
  void pull_back(const Vector& q, const Vector& gradient, Vector& row) const override;
  void displace(const Vector& delta, Vector& q) const override;
  void difference(const Vector& q1, const Vector& q0, Vector& delta) const override;
  void normalize(Vector& q) const override;
  void interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h, double s,
                   bool smooth, Vector& q) const override;

 private:
  std::shared_ptr<const Tree> tree_;
};

}  // namespace stickslip
