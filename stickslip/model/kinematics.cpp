// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/kinematics.hpp"

#include <cmath>

namespace stickslip {

HermiteWeights hermite_weights(double s, double h) {
  return {1 + s * s * (2 * s - 3), s * s * (3 - 2 * s), s * (1 - s) * (1 - s) * h, s * s * (s - 1) * h};
}

void Kinematics::rate_bias(const Vector& q, const Vector& v, Vector& bias) const {
  // Half of the digits of a number: displacements of this size leave the other half to the difference.
  constexpr double kIncrement = 1e-5;
  const double speed = v.size() > 0 ? v.lpNorm<Eigen::Infinity>() : 0.0;
  bias.setZero(nq());
  if (!(speed > 0)) return;
  const double dt = kIncrement / speed;
  Vector moved = q, rate_after(nq()), rate_before(nq());
  displace(dt * v, moved);
  rate(moved, v, rate_after);
  moved = q;
  displace(-dt * v, moved);
  rate(moved, v, rate_before);
  bias = (rate_after - rate_before) / (2 * dt);
}

void Kinematics::pull_back(const Vector& q, const Vector& gradient, Vector& row) const {
  row.resize(nv());
  Vector unit = Vector::Zero(nv()), column(nq());
  for (Index j = 0; j < nv(); ++j) {
    unit[j] = 1;
    rate(q, unit, column);
    row[j] = gradient.dot(column);
    unit[j] = 0;
  }
}

/// Along q0 ⊕ δ(s): δ from 0 to q1 ⊖ q0, with the end velocities as its slopes (to second order in h).
void Kinematics::interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h, double s,
                             bool smooth, Vector& q) const {
  Vector whole(nv());
  difference(q1, q0, whole);
  q = q0;
  if (!smooth) return displace(s * whole, q);
  const HermiteWeights weight = hermite_weights(s, h);
  displace(weight.q1 * whole + weight.v0 * v0 + weight.v1 * v1, q);
}

void FlatKinematics::interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h,
                                 double s, bool smooth, Vector& q) const {
  if (!smooth) {
    q = (1 - s) * q0 + s * q1;
    return;
  }
  const HermiteWeights weight = hermite_weights(s, h);
  q = weight.q0 * q0 + weight.q1 * q1 + weight.v0 * v0 + weight.v1 * v1;
}

}  // namespace stickslip
