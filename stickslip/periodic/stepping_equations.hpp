// SPDX-License-Identifier: Apache-2.0
// All steps of a θ = ½ scheme over one period at once, laws at the nodes: "periodic Moreau".
//
//   nodes j = 0..N-1 at t_j = t0 + j h, h = T/N; node N is node 0; k = j + 1, mean m = (j + k)/2
//   q_k - q_j = h (v_j + v_k)/2
//   M(q_m) (v_k - v_j)/h = h(t_m, q_m, v_m) + W_k r_k + W s(u_m)        s: weakening and viscous part
//   (smooth_force.hpp) E(r_k, u_k, g) = 0                                                  laws at node k
//   (law_equality.hpp)
//
// r_k is the mean force of the step that ends at node k. Contacts: g = g_k + (h/2) u_N,k, the gap half a step ahead. A
// contact that stays closed over two nodes then has g_k = 0 and u_N,k = 0 exactly; with g_k alone the trapezoidal rule
// would let u_N alternate in sign from node to node. Impacts are plastic and as accurate as the step.
//
// Every equation touches two neighbouring nodes: the Jacobian is cyclic and banded, 2 nv + m numbers per node, and its
// sparse factorisation costs O(N). Autonomous motions border it by a column (ω) and a row (phase). With a condition the
// motion belongs to a family; an unknown damping λ, force -λ (f/ωx) v, that comes out as 0, keeps the equations square.
//
// Accuracy (sheet of paper 5): near second order in x with sticking; without it switches fall between nodes, first
// order. Stable with sticking: reactions and velocities live at the same nodes.
//
// Not taken: what weighted residuals do not take (weighted_residual.hpp), and restitution above 0: on a fixed grid the
// instant of an impact is quantised, and most problems have no discrete solution.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stickslip/model/system.hpp"
#include "stickslip/periodic/periodic_equations.hpp"
#include "stickslip/periodic/periodic_options.hpp"
#include "stickslip/periodic/periodic_scales.hpp"

namespace stickslip {

/// Empty, or why periodic stepping does not take the system, with what does.
std::string stepping_refusal(const System& system);

class SteppingEquations final : public PeriodicEquations {
 public:
  /// The system must outlive this. q_reference: a position near the motion, for scales. Throws InputError.
  SteppingEquations(const System& system, const PeriodicOptions& options, double t0, const Vector& q_reference);
  ~SteppingEquations() override;

  Index unknowns() const override { return N_ * block_ + extra_; }
  Index equations() const override { return unknowns(); }
  Vector linear_start() override;
  Vector start_from(const Orbit& orbit) const override;
  void set_phase_reference(const Vector& X) override;
  bool residual(const Vector& X, double smoothing, Vector& F) override { return evaluate(X, smoothing, F, false); }
  bool linearize(const Vector& X, double smoothing, Vector& F) override { return evaluate(X, smoothing, F, true); }
  bool newton_step(const Vector& F, Vector& step) override;
  bool damped_step(const Vector& F, double damping, Vector& step) override;
  double condition() override;
  bool null_space(DenseMatrix& N, double& condition) override;
  double displacement_unit() const override { return scales_.x.maxCoeff(); }
  void copy_jacobian(DenseMatrix& J) const override;
  double period(const Vector& X) const override;
  Orbit orbit(const Vector& X) override;

 private:
  struct Law;
  struct Sparse;  // matrix and factors
  bool evaluate(const Vector& X, double smoothing, Vector& F, bool slopes);
  void read(const Vector& X);
  void step_equations(Index j, Vector& F, bool slopes);
  void law_equations(Index k, double smoothing, Vector& F, bool slopes);
  void place_laws(Index k, bool slopes);
  void turn_rows(Index k, const Vector& q, const Vector& v, double t);
  void add_smooth(const Law& law, Index j, Index k, bool slopes);
  void add_conditions(const Vector& X, Vector& F, bool slopes);
  void pin_held_laws();
  void add_slot(Index row, Index k, Index slot, double value);
  bool factor();
  void add(Index row, Index column, double value);
  Index q_at(Index j, Index i) const { return j * block_ + i; }
  Index v_at(Index j, Index i) const { return j * block_ + n_ + i; }
  Index r_at(Index j, Index a) const { return j * block_ + 2 * n_ + a; }
  Index omega_at() const { return N_ * block_; }
  double time(Index j) const { return t0_ + static_cast<double>(j) * h_; }

  const System& system_;
  PeriodicOptions options_;
  PeriodicScales scales_;
  double t0_, omega_guess_, omega_ = 1, h_ = 0, unfolding_ = 0;
  Index n_, m_ = 0, N_, block_ = 0, extra_ = 0;
  std::vector<Law> laws_;
  SystemWorkspace workspace_;
  DenseMatrix Q_, V_, R_;  ///< at the nodes, one column each
  bool without_laws_ = false;
  Vector phase_row_, q_reference_;
  std::unique_ptr<Sparse> sparse_;
  Vector q_, v_, a_, force_, product_, smooth_;
  SystemMatrix by_q_, by_v_;
  ContactPoints found_, shifted_;
};

}  // namespace stickslip
