// SPDX-License-Identifier: Apache-2.0
// Part of a system: what positions and velocities are, and how one moves the other.
//
//   q' = T(q) v            q positions (nq), v velocities (nv); nq > nv where rotations have no three good numbers
//   q ⊕ δ                  q displaced by δ in the tangent space (nv): q ⊕ h v is where the velocity v leads in h, to
//                          second order at least; q ⊕ 0 = q
//   q1 ⊖ q0                the δ with q0 ⊕ δ = q1, |δ| small against a turn
//
// Nobody else adds numbers to q. Slopes by position are slopes along δ: ∂f/∂δ at δ = 0 (nv columns).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

struct SystemInfo {
  std::string title;
  std::vector<std::string> coordinates;  ///< nq names
  std::vector<std::string> velocities;   ///< nv names: what velocity columns are called
  Index nq() const { return static_cast<Index>(coordinates.size()); }
  Index nv() const { return static_cast<Index>(velocities.size()); }
};

/// Implementations allocate nothing, but for vectors of another size than before.
class Kinematics {
 public:
  virtual ~Kinematics() = default;
  const std::vector<std::string>& coordinates() const { return coordinates_; }
  const std::vector<std::string>& velocities() const { return velocities_; }
  Index nq() const { return static_cast<Index>(coordinates_.size()); }
  Index nv() const { return static_cast<Index>(velocities_.size()); }
  /// q' = v and q ⊕ δ = q + δ: a property, so that loops over coordinates may be written where it holds.
  bool flat() const { return flat_; }

  /// qdot = T(q) v
  virtual void rate(const Vector& q, const Vector& v, Vector& qdot) const = 0;
  /// d/dt (T(q) v) at constant v. By a difference along q' if an implementation gives none: seven digits.
  virtual void rate_bias(const Vector& q, const Vector& v, Vector& bias) const;
  /// row = T(q)ᵀ gradient: slopes by the numbers in q as slopes along δ.
  virtual void pull_back(const Vector& q, const Vector& gradient, Vector& row) const;
  /// q ← q ⊕ δ
  virtual void displace(const Vector& delta, Vector& q) const = 0;
  /// delta = q1 ⊖ q0
  virtual void difference(const Vector& q1, const Vector& q0, Vector& delta) const = 0;
  /// Back to where positions live, after arithmetic with the numbers of q (an integrator's sums): unit quaternions.
  virtual void normalize(Vector& /*q*/) const {}
  /// Between two ends of a step of size h, s in [0, 1]: of order 3 where the velocity did not jump (`smooth`).
  virtual void interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h, double s,
                           bool smooth, Vector& q) const;

 protected:
  Kinematics(std::vector<std::string> coordinates, std::vector<std::string> velocities, bool flat = false)
      : coordinates_(std::move(coordinates)), velocities_(std::move(velocities)), flat_(flat) {}

 private:
  std::vector<std::string> coordinates_, velocities_;
  bool flat_;
};

/// Coordinates whose rates are the velocities.
class FlatKinematics final : public Kinematics {
 public:
  explicit FlatKinematics(const std::vector<std::string>& coordinates) : Kinematics(coordinates, coordinates, true) {}
  void rate(const Vector&, const Vector& v, Vector& qdot) const override { qdot = v; }
  void rate_bias(const Vector& q, const Vector&, Vector& bias) const override { bias.setZero(q.size()); }
  void pull_back(const Vector&, const Vector& gradient, Vector& row) const override { row = gradient; }
  void displace(const Vector& delta, Vector& q) const override { q += delta; }
  void difference(const Vector& q1, const Vector& q0, Vector& delta) const override { delta = q1 - q0; }
  void interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h, double s,
                   bool smooth, Vector& q) const override;
};

/// Weights of Hermite's cubic in s: of q0, q1, v0 and v1 (the last two with the step size in them).
struct HermiteWeights {
  double q0, q1, v0, v1;
};
HermiteWeights hermite_weights(double s, double h);

}  // namespace stickslip
