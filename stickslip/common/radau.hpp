// SPDX-License-Identifier: Apache-2.0
// Implicit Runge-Kutta method Radau IIA with three stages, order 5, for stiff problems.
//
//   Z_i = h Σ_j a_ij f(t + c_j h, y + Z_j),   c = ((4-√6)/10, (4+√6)/10, 1),      y_1 = y + Z_3
//
// A is collocation at c: L-stable and stiffly accurate, so that components that are forced to a manifold by 1/ε-terms
// end on it. Z = T W decouples the Newton equations of one Jacobian J into one real and one complex system of size n,
//
//   (γ/h - J) ΔW_1 = …,    ((α + iβ)/h - J) (ΔW_2 + i ΔW_3) = …,     γ, α ± iβ: eigenvalues of A⁻¹
//
// Error estimate (order 3): err = (γ/h - J)⁻¹ (f(t, y) + (e_1 Z_1 + e_2 Z_2 + e_3 Z_3)/h), applied twice after a
// rejection so that it stays bounded as h J → ∞. Dense output: the collocation polynomial, degree 3, local error O(h⁴).
//
// Tolerances: the estimate is of order 3 and the solution of order 5, so the estimate is compared with
// 0.1 relative_tolerance^(2/3) (and absolute_tolerance in the same ratio); the error of a run is then about
// proportional to the tolerance that was asked for. Newton stops at a fraction of that, but never below round-off.
//
// The Jacobian is kept while Newton converges fast; the matrices are kept while the step would change by less than
// 20 %.
//
// Source: Hairer, Wanner, Solving Ordinary Differential Equations II, 2nd ed. 1996, IV.8: transformed systems (8.5),
// (8.8), starting values (8.12), stopping (8.10), estimate (8.19), (8.20), predictive step control of Gustafsson
// (8.25).
#pragma once

#include <array>
#include <complex>
#include <functional>

#include "stickslip/common/ode.hpp"
#include "stickslip/common/shifted_factor.hpp"

namespace stickslip {

/// J_ij = ∂f_i/∂y_j at (t, y), already of the right size. False: not available there; differences of f are then used.
using OdeJacobian = std::function<bool(double t, const Vector& y, DenseMatrix& J)>;
/// The same as J = mass⁻¹ slope with sparse matrices, which come cleared. False: not available there; the step is
/// reduced.
using OdePencil = std::function<bool(double t, const Vector& y, SlopePencil& J)>;

class Radau final : public OdeIntegrator {
 public:
  /// An empty jacobian: by differences of f, n evaluations each.
  explicit Radau(const OdeOptions& options = {}, OdeJacobian jacobian = {});
  /// For many components: the equations of a step cost what the structure of the matrices allows (shifted_factor.hpp).
  Radau(const OdeOptions& options, OdePencil pencil);

  bool single_step(OdeFunction f, double t0, const Vector& y0, double h, Vector& y1) override;
  /// y + Z_i of the last single_step, which began at y.
  void stage(int i, const Vector& y, Vector& value) const { value = y + Z_[static_cast<std::size_t>(i)]; }
  /// The rate of its polynomial there, h its size: f of the stage without the round-off that stiff components have in
  /// f.
  void stage_rate(int i, double h, Vector& rate) const;
  int degree() const override { return 3; }
  int order() const override { return 5; }

 private:
  using Stages = std::array<Vector, 3>;
  enum class Newton { converged, stalled, diverged, not_evaluable };

  void resize(Index n) override;
  void forget() override;
  Trial attempt(OdeFunction f, double h) override;
  int estimate_order() const override { return 3; }

  bool update_jacobian(OdeFunction f, double t, const Vector& y, const Vector& dydt);
  bool difference_jacobian(OdeFunction f, double t, const Vector& y, const Vector& dydt);
  bool factorise(double h);
  void start_values(double h);
  Newton solve_stages(OdeFunction f, double t, const Vector& y, double h, double tolerance, int max_iterations);
  double error(OdeFunction f, double h, bool refine);
  void make_dense();
  Trial retry(double h_next);

  OdeJacobian jacobian_;
  double newton_tolerance_;
  OdePencil pencil_function_;
  DenseMatrix J_;       // without pencil_function_
  SlopePencil pencil_;  // with it
  ShiftedFactor factor_;
  Stages Z_, W_, F_;
  Vector stage_y_, weights_, right_, error_, column_;
  Eigen::VectorXcd complex_right_, complex_update_;
  double factored_h_ = 0;          // 0: no factors of J_
  bool jacobian_current_ = false;  // J_ belongs to (t_, y_)
  bool jacobian_known_ = false;
  bool have_past_ = false;  // dense_ is a polynomial to extrapolate
  bool first_ = true, rejected_before_ = false;
  double contraction_ = 0;     // Newton's rate of convergence
  double newton_history_ = 1;  // η of (8.10)
  double accepted_h_ = 0, accepted_error_ = 1e-2;
  double newton_limit_ = std::numeric_limits<double>::infinity();  // of the step, after a failure of Newton
  double limit_growth_ = 1;
  int newton_iterations_ = 0;
  double step_factor_ = 0.5;  // by which Newton asks for a smaller step
};

}  // namespace stickslip
