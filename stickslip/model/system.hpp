// SPDX-License-Identifier: Apache-2.0
// What every model becomes, and all that the schemes see of it:
//
//   q' = T(q) v,      M(q) v' = h(t, q, v) + W r,      laws on u = Wᵀ v - w
//
//   q positions (nq), v velocities (nv), M mass [kg, kg m²], h all forces but inertia and reactions [N, N m],
//   W directions of the laws (nv × m), r reactions [N, N m], w velocity of the surfaces.
//
// A system whose M is constant and whose forces are h = f(t, q, v) - B v - K q also offers `linear()`; the fixed-step
// schemes then factorise once and the event scheme can use an exact flow. Evaluations are const and re-entrant: scratch
// space belongs to the caller (SystemWorkspace).
#pragma once

#include <string>
#include <vector>

#include "stickslip/common/system_matrix.hpp"
#include "stickslip/model/friction_element.hpp"

namespace stickslip {

struct SystemInfo {
  std::string title;
  std::vector<std::string> coordinates;  ///< nq names
  std::vector<std::string> velocities;   ///< nv names: what velocity columns are called
  Index nq() const { return static_cast<Index>(coordinates.size()); }
  Index nv() const { return static_cast<Index>(velocities.size()); }
};

/// Constant matrices of M v' + B v + K q = f(t, q, v) + W r with q' = v. Owned by the system.
struct LinearPart {
  const SystemMatrix& M;
  const SystemMatrix& B;
  const SystemMatrix& K;
};

struct SystemWorkspace {
  explicit SystemWorkspace(const SystemInfo& info) : variables(info.nq(), info.nv()) {}
  Variables variables;
};

class System {
 public:
  virtual ~System() = default;
  virtual const SystemInfo& info() const = 0;
  virtual const std::vector<FrictionElement>& friction() const = 0;

  /// qdot = T(q) v
  virtual void position_rate(const Vector& q, const Vector& v, Vector& qdot) const = 0;
  virtual const SystemMatrix& mass(const Vector& q, SystemWorkspace& workspace) const = 0;
  /// h(t, q, v)
  virtual void force(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const = 0;
  virtual double kinetic_energy(const Vector& q, const Vector& v) const = 0;
  virtual double potential_energy(const Vector& q) const = 0;
  /// Power taken out by the system's own dampers, >= 0 for real dampers. [W]
  virtual double damper_power(const Vector& q, const Vector& v) const = 0;

  /// f(t, q, v): what is left of h without -B v - K q. Only for systems with linear().
  virtual void applied_force(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                             Vector& f) const = 0;
  virtual bool applied_force_depends_on_state() const = 0;
  virtual bool applied_force_depends_on_time() const = 0;
  /// ∂f/∂q and ∂f/∂v, with a structure that does not change between calls.
  virtual void applied_force_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                      SystemMatrix& by_q, SystemMatrix& by_v) const = 0;
  virtual const LinearPart* linear() const = 0;

  /// Times in (from, to), ascending, at which a force, limit or surface velocity jumps or has a kink.
  virtual std::vector<double> breakpoints(double from, double to) const = 0;
};

/// Wᵀ of all friction laws of the system, one row per component (constant directions).
SparseMatrix friction_directions(const System& system);

}  // namespace stickslip
