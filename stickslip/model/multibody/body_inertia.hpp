// SPDX-License-Identifier: Apache-2.0
// Inertia of free bodies and their motion without forces.
//
//   m x'' = f,    J ω' = -ω × J ω + τ            J about the mass centre, body axes [kg m²]
//
// Free motion over dt: x += dt v, and the midpoint rule on the rotation group,
//   J (ω1 - ω0) = -dt ω_m × J ω_m,  ω_m = ½ (ω0 + ω1),      R1 = R0 cay(dt ω_m),
// which keeps the kinetic energy and the angular momentum R J ω in the world exactly (both quadratic; cay(a) is the
// rotation with quaternion ∝ (1, a/2)). ω1 is then computed from R1ᵀ R0 J ω0, so that rounding does not add up.
// Order 2. (The scheme of Austin, Krishnaprasad and Wang, J. Comput. Phys. 107 (1993), on SO(3).)
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "stickslip/model/free_motion.hpp"
#include "stickslip/model/inertia.hpp"

namespace stickslip {

struct BodyMass {
  double mass;  ///< [kg]
  Eigen::Matrix3d J, J_inverse;
  bool isotropic;  ///< spin is constant in free motion
};
BodyMass body_mass(double mass, const Eigen::Matrix3d& J);

class BodyInertia final : public Inertia {
 public:
  explicit BodyInertia(std::vector<BodyMass> bodies);
  bool constant() const override { return true; }
  const SystemMatrix& mass(const Vector&, SystemWorkspace&) const override { return mass_; }
  double kinetic_energy(const Vector& q, const Vector& v) const override;
  bool has_velocity_force() const override { return gyroscopic_; }
  void add_velocity_force(const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const override;
  void add_velocity_slopes(const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                           SystemMatrix& by_v) const override;

 private:
  std::vector<BodyMass> bodies_;
  SystemMatrix mass_;
  bool gyroscopic_ = false;
};

class BodyFreeMotion final : public FreeMotion {
 public:
  explicit BodyFreeMotion(std::vector<BodyMass> bodies) : bodies_(std::move(bodies)) {}
  void drift(double dt, Vector& q, Vector& v) const override;
  /// Angular momentum in the world is kept: spin turns against the body, and where no ground takes part, what moving
  /// the mass centres changed, Σ m δ × v, is given back to the spin of the bodies that moved.
  void displace(const Vector& delta, Vector& q, Vector& v) const override;

 private:
  std::vector<BodyMass> bodies_;
};

}  // namespace stickslip
