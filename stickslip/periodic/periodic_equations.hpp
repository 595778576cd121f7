// SPDX-License-Identifier: Apache-2.0
// A periodic motion as equations F(X) = 0 in numbers without unit, whatever the basis: what Newton's iteration
// (residual_newton.hpp) and branches see of it.
//
//   F(X; ε)      ε >= 0 rounds the corners of the laws off (law_equality.hpp); ε = 0 is the law
//   newton_step  J s = -F of the last linearisation; the shortest s where J has no full rank
//   damped_step  (JᵀJ + d max(diag JᵀJ) 1) s = -JᵀF, Levenberg-Marquardt
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "stickslip/common/deadline.hpp"
#include "stickslip/model/system.hpp"
#include "stickslip/periodic/orbit.hpp"
#include "stickslip/periodic/periodic_options.hpp"

namespace stickslip {

class PeriodicEquations {
 public:
  virtual ~PeriodicEquations() = default;
  virtual Index unknowns() const = 0;
  virtual Index equations() const = 0;

  /// r = 0, displacements of the linear (or linearised) response.
  virtual Vector linear_start() = 0;
  /// X nearest to an orbit of the same period (autonomous: its period counts).
  virtual Vector start_from(const Orbit& orbit) const = 0;
  /// Of the phase condition without an expression: X is not to move along itself.
  virtual void set_phase_reference(const Vector& X) = 0;

  /// False: not finite.
  virtual bool residual(const Vector& X, double smoothing, Vector& F) = 0;
  /// F with its generalised Jacobian, kept for the steps below. A law that sticks at every sample says nothing about
  /// the mean of its velocity, which is 0 of itself: the Jacobian has in its place that the law stays where it is,
  /// wherever rows of such laws are independent (indeterminacy.hpp).
  virtual bool linearize(const Vector& X, double smoothing, Vector& F) = 0;
  virtual bool newton_step(const Vector& F, Vector& step) = 0;
  virtual bool damped_step(const Vector& F, double damping, Vector& step) = 0;
  /// Of the last Jacobian: of the 1-norm where it is square (an estimate), else of the singular values.
  virtual double condition() = 0;
  /// Orthonormal directions along which the last Jacobian is 0 to round-off, and its condition number without them.
  /// False: too many unknowns.
  virtual bool null_space(DenseMatrix& N, double& condition) = 0;
  /// Largest displacement that one unknown stands for [m or as the coordinates].
  virtual double displacement_unit() const = 0;
  /// The last Jacobian.
  virtual void copy_jacobian(DenseMatrix& J) const = 0;

  /// What a finer basis has more of, in a message.
  virtual std::string_view resolution() const { return "steps"; }
  /// Heard within a large decomposition.
  void set_stop(StopRequest stop) { stop_ = stop; }

  virtual double period(const Vector& X) const = 0;
  /// At samples or nodes; modes are those that the projection selects.
  virtual Orbit orbit(const Vector& X) = 0;

 protected:
  StopRequest stop_ = nullptr;
};

/// Of options.method (fourier, spline, stepping). The system must outlive them. q_reference: a position near the
/// motion, for scales. like: equations of the same thread that what does not depend on the system is taken over from.
/// Throws InputError.
std::unique_ptr<PeriodicEquations> make_equations(const System& system, const PeriodicOptions& options, double t0,
                                                  const Vector& q_reference, const PeriodicEquations* like = nullptr);
/// Empty, or why the method does not take the system.
std::string equations_refusal(const System& system, PeriodicMethod method);

/// Steps by a dense Jacobian.
class DenseEquations : public PeriodicEquations {
 public:
  bool newton_step(const Vector& F, Vector& step) override;
  bool damped_step(const Vector& F, double damping, Vector& step) override;
  double condition() override;
  bool null_space(DenseMatrix& N, double& condition) override;
  void copy_jacobian(DenseMatrix& J) const override { J = J_; }

 protected:
  DenseMatrix J_;
};

}  // namespace stickslip
