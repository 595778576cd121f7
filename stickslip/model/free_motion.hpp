// SPDX-License-Identifier: Apache-2.0
// A property of some systems: their motion without forces and laws can be followed by itself, keeping momentum, angular
// momentum and kinetic energy exactly (free bodies that spin). Time stepping then takes half of it, lets forces and
// reactions change the velocity in the middle, and takes the other half.
#pragma once

#include "stickslip/common/vector.hpp"

namespace stickslip {

class FreeMotion {
 public:
  virtual ~FreeMotion() = default;
  /// Over dt, of q and, where the inertia turns the velocity, v.
  virtual void drift(double dt, Vector& q, Vector& v) const = 0;
  /// q ← q ⊕ δ, v as momentum and angular momentum ask for it.
  virtual void displace(const Vector& delta, Vector& q, Vector& v) const = 0;
};

}  // namespace stickslip
