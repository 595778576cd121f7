// SPDX-License-Identifier: Apache-2.0
// Part of a system: the left-hand side of M(q) v' = c(q, v) + ...
//
//   M  symmetric, positive definite wherever the motion goes                                       [kg, kg m²]
//   c  velocity terms: centrifugal, Coriolis, gyroscopic. Whatever they are, the kinetic energy T = ½ vᵀ M v obeys
//      dT/dt = v · (all forces) + power(q, v), where power is 0 if c holds all velocity terms, and ½ vᵀ Ṁ v if the
//      model gives M(q) alone and hides them among its forces                                       [N, N m; W]
#pragma once

#include <memory>

#include "stickslip/common/system_matrix.hpp"
#include "stickslip/model/workspace.hpp"

namespace stickslip {

class Inertia {
 public:
  virtual ~Inertia() = default;
  virtual std::unique_ptr<Scratch> make_scratch() const { return nullptr; }
  /// M is the same everywhere.
  virtual bool constant() const = 0;
  /// Throws InputError where M(q) is not positive definite.
  virtual const SystemMatrix& mass(const Vector& q, SystemWorkspace& workspace) const = 0;
  virtual double kinetic_energy(const Vector& q, const Vector& v) const = 0;
  virtual double power(const Vector& /*q*/, const Vector& /*v*/) const { return 0.0; }

  virtual bool has_velocity_force() const { return false; }
  /// h += c(q, v)
  virtual void add_velocity_force(const Vector& /*q*/, const Vector& /*v*/, SystemWorkspace& /*workspace*/,
                                  Vector& /*h*/) const {}
  /// Adds ∂c/∂δ and ∂c/∂v to matrices that store all of their entries.
  virtual void add_velocity_slopes(const Vector& /*q*/, const Vector& /*v*/, SystemWorkspace& /*workspace*/,
                                   SystemMatrix& /*by_q*/, SystemMatrix& /*by_v*/) const {}
};

/// M given by numbers.
class ConstantInertia final : public Inertia {
 public:
  explicit ConstantInertia(SystemMatrix mass) : mass_(std::move(mass)) {}
  bool constant() const override { return true; }
  const SystemMatrix& mass(const Vector&, SystemWorkspace&) const override { return mass_; }
  double kinetic_energy(const Vector&, const Vector& v) const override { return 0.5 * quadratic_form(mass_, v); }

 private:
  SystemMatrix mass_;
};

}  // namespace stickslip
