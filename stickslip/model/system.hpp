// SPDX-License-Identifier: Apache-2.0
// What every model becomes, and all that the schemes see of it:
//
//   q' = T(q) v,      M(q) v' = h(t, q, v) + W r,      laws on u = Wᵀ v - w
//
//   q positions (nq), v velocities (nv), M mass [kg, kg m²], h all forces but inertia and reactions [N, N m],
//   W directions of the laws (nv × m), r reactions [N, N m], w velocity of the surfaces.
//
// Bilateral constraints A v = rate (constraint_element.hpp) add Aᵀ λ to the right-hand side.
//
// A system whose M is constant and whose forces are h = f(t, q, v) - B v - K q also offers `linear()`; the fixed-step
// schemes then factorise once and the event scheme can use an exact flow. Laws are friction (fixed directions) and
// contacts, whose points may change from step to step. Evaluations are const and re-entrant: scratch space belongs to
// the caller (SystemWorkspace).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stickslip/common/system_matrix.hpp"
#include "stickslip/model/constraint_element.hpp"
#include "stickslip/model/contact_element.hpp"
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
  SystemMatrix mass;          ///< where M depends on q
  std::shared_ptr<void> own;  ///< whatever else a system keeps between calls (a broad phase)
};

/// How a time step treats forces and positions.
///   implicit_theta  q' = v; forces at the end of the step enter through their slopes
///   drift_kick      half a free motion, the jump of velocity with forces and contacts in the middle, half a free
///                   motion: momentum kept exactly (free bodies); springs enter through their slopes
enum class StepForm { implicit_theta, drift_kick };

class System {
 public:
  virtual ~System() = default;
  virtual const SystemInfo& info() const = 0;
  virtual const std::vector<FrictionElement>& friction() const = 0;

  /// qdot = T(q) v
  virtual void position_rate(const Vector& q, const Vector& v, Vector& qdot) const = 0;
  /// Throws InputError where M(q) is not positive definite.
  virtual const SystemMatrix& mass(const Vector& q, SystemWorkspace& workspace) const = 0;
  virtual bool mass_varies() const { return false; }
  /// h(t, q, v)
  virtual void force(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace, Vector& h) const = 0;
  virtual double kinetic_energy(const Vector& q, const Vector& v) const = 0;
  virtual double potential_energy(const Vector& q) const = 0;
  /// Power taken out by the system's own dampers, >= 0 for real dampers. [W]
  virtual double damper_power(const Vector& q, const Vector& v) const = 0;

  /// ∂h/∂q and ∂h/∂v, with a structure that does not change between calls. For implicit_theta without linear(), and for
  /// drift_kick with has_stiff_forces(): there only the part along which springs and dampers act, ∂h/∂q over the
  /// tangent space (nv × nv), symmetric and negative semidefinite.
  virtual void force_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                              SystemMatrix& by_q, SystemMatrix& by_v) const;

  /// f(t, q, v): what is left of h without potential, damping and inertia, i.e. what brings work in.
  virtual void applied_force(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                             Vector& f) const = 0;
  virtual bool applied_force_depends_on_state() const = 0;
  virtual bool applied_force_depends_on_time() const = 0;
  /// ½ vᵀ Ṁ v where M(q) varies and f holds the velocity terms of the inertia too: the power of f falls short of what
  /// the real forces bring in by that much. 0 where they are not part of f. [W]
  virtual double inertia_power(const Vector& q, const Vector& v) const;
  /// ∂f/∂q and ∂f/∂v, with a structure that does not change between calls.
  virtual void applied_force_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                      SystemMatrix& by_q, SystemMatrix& by_v) const = 0;
  virtual const LinearPart* linear() const = 0;

  virtual StepForm step_form() const { return StepForm::implicit_theta; }
  /// drift_kick: springs or dampers between bodies, which may be too stiff for the step.
  virtual bool has_stiff_forces() const { return false; }
  /// Free motion over dt without forces and laws: q and, where inertia turns the velocity (spinning bodies), v.
  virtual void drift(double dt, Vector& q, Vector& v) const { q += dt * v; }
  /// q between two ends of a step of size h, s in [0, 1]; `smooth`: the velocity did not jump.
  virtual void interpolate(const Vector& q0, const Vector& v0, const Vector& q1, const Vector& v1, double h, double s,
                           bool smooth, Vector& q) const;

  /// q displaced along velocities: q ⊕ delta (bodies turn). v changes only as far as momentum asks for it.
  virtual void displace(const Vector& delta, Vector& q, Vector& v) const {
    q += delta;
    static_cast<void>(v);
  }

  virtual const std::vector<ContactElement>& contacts() const;
  /// Nothing of the system moves faster at v; contacts farther apart than that can bridge need not be looked at.
  virtual double speed_bound(const Vector& v) const;
  /// What a small gap is small against: the smallest shape of bodies. Systems in general coordinates know no length; a
  /// scheme must not take this 1 for one. [m]
  virtual double length_scale() const { return 1.0; }
  /// Kinetic and potential energy are quadratic (the latter linear for drift_kick), so that the midpoint rule balances
  /// them exactly.
  virtual bool has_quadratic_energy() const { return linear() != nullptr; }
  /// All points with gap <= margin at (t, q).
  virtual void find_contacts(double t, const Vector& q, double margin, SystemWorkspace& workspace,
                             ContactPoints& found) const;
  /// w of some contact depends on time: surfaces that speed up, gaps that depend on time.
  virtual bool surfaces_move() const { return false; }
  /// w of the rows of `found` at another time, at the place q they were found at. Allocates nothing after the first
  /// call.
  virtual void contact_surface(double t, const Vector& q, SystemWorkspace& workspace, const ContactPoints& found,
                               Vector& w) const;
  /// bias = d/dt (Wᵀ v - w) at constant v, for the rows of find_contacts() with the same arguments. [m/s²]
  virtual void contact_bias(double t, const Vector& q, const Vector& v, double margin, SystemWorkspace& workspace,
                            Vector& bias) const;

  /// One row each, in this order, for the functions below; they allocate nothing after the first call.
  virtual const std::vector<ConstraintElement>& constraints() const;
  virtual void evaluate_constraints(double t, const Vector& q, SystemWorkspace& workspace, ConstraintRows& rows) const;
  /// bias = d/dt(A v - rate) at constant v, so that A v' = -bias.
  virtual void constraint_bias(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                               Vector& bias) const;
  /// by_q = ∂(Aᵀ λ)/∂q at fixed λ (nv × nq)
  virtual void constraint_force_jacobian(double t, const Vector& q, const Vector& lambda, SystemWorkspace& workspace,
                                         DenseMatrix& by_q) const;
  /// by_q = ∂(A v - rate)/∂q at fixed v (m × nq)
  virtual void constraint_velocity_jacobian(double t, const Vector& q, const Vector& v, SystemWorkspace& workspace,
                                            DenseMatrix& by_q) const;

  /// Constant matrices, forces of time alone, constant directions of all contacts and constraints: the motion between
  /// events is a power series whose coefficients follow from one another (exact flow of the event scheme).
  virtual bool has_series() const { return false; }
  /// Applied force along time, f(t + rate s) = Σ_k c_k s^k: one row per velocity, one column per k (Taylor,
  /// taylor.hpp).
  virtual void force_series(double t, double rate, SystemWorkspace& workspace, DenseMatrix& c) const;

  /// Adds times at which a force, limit, constraint or surface velocity jumps or has a kink.
  virtual void append_breakpoints(BreakpointSearch& search) const = 0;
  /// These times in (from, to), ascending; of several that agree to 1e-12 of the time one. How far all were found is in
  /// complete_until (expression.hpp). A stop request ends the search, and then the answer is of no use.
  BreakpointSearch find_breakpoints(double from, double to, StopRequest stop = nullptr) const;
  std::vector<double> breakpoints(double from, double to) const { return find_breakpoints(from, to).times; }
};

/// Wᵀ of all friction laws of the system, one row per component (constant directions).
SparseMatrix friction_directions(const System& system);

}  // namespace stickslip
