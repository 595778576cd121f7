// SPDX-License-Identifier: Apache-2.0
// Part of a system: the forces of the model, h(t, q, v) = f - ∂U/∂δ - damping. [N, N m]
//
//   f        applied forces: what brings work in
//   U        potential, of q alone [J];   dampers take the power damper_power() >= 0 [W]
//
// Linear forces -B v - K q (constant, with q' = v) are a property that schemes may use: factors that are kept, exact
// flows. Slopes are taken along δ and v (kinematics.hpp), nv × nv, with a structure that does not change between calls.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/common/system_matrix.hpp"
#include "stickslip/model/workspace.hpp"

namespace stickslip {

/// h = f(t, q, v) - B v - K q. Owned by the part.
struct LinearForces {
  const SystemMatrix& B;
  const SystemMatrix& K;
};

class Forces {
 public:
  virtual ~Forces() = default;
  virtual std::unique_ptr<Scratch> make_scratch() const { return nullptr; }

  /// h(t, q, v), without the velocity terms of the inertia.
  virtual void total(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const = 0;
  virtual void applied(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& f) const = 0;
  virtual double potential_energy(const Vector& q) const = 0;
  virtual double damper_power(const Vector& q, const Vector& v) const = 0;

  /// ∂h/∂δ and ∂h/∂v, exact, or near enough for Newton's iteration: a step is never more than as good as its residual.
  virtual void slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, SystemMatrix& by_q,
                      SystemMatrix& by_v) const = 0;
  /// The same of f.
  virtual void applied_slopes(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                              SystemMatrix& by_q, SystemMatrix& by_v) const = 0;

  virtual bool applied_depends_on_state() const = 0;
  virtual bool applied_depends_on_time() const = 0;
  /// h depends on the state beyond a constant (springs, dampers, forces of state): explicit steps may be too long.
  virtual bool depends_on_state() const = 0;
  virtual const LinearForces* linear() const { return nullptr; }
  /// U is quadratic in q, or linear along every displacement of bodies: the midpoint rule balances it exactly.
  virtual bool quadratic_potential() const { return linear() != nullptr; }

  /// f along time where it depends on nothing else, f(t + rate s) = Σ_k c_k s^k: one row per velocity, one column per k
  /// (Taylor, taylor.hpp).
  virtual bool has_series() const { return false; }
  virtual void series(double /*t*/, double /*rate*/, SystemWorkspace& /*workspace*/, DenseMatrix& /*c*/) const {}

  /// Adds times at which a force jumps or has a kink.
  virtual void append_breakpoints(BreakpointSearch& /*search*/) const {}
  /// All functions of the model that may depend on time (time_resolution.hpp).
  virtual void append_time_functions(std::vector<const StateFunction*>& /*functions*/) const {}
};

}  // namespace stickslip
