// SPDX-License-Identifier: Apache-2.0
// Back along a motion: derivatives of few functionals by many numbers.
//
//   J_i = g_i(x(t_i)),   dJ_i/dp = w_i(0)ᵀ dx_0/dp + Σ over stages κᵀ ∂Φ/∂p + what jumps of forces add
//
// Discrete adjoint: the transposed step of the very method that made the motion, at its own stages,
//
//   κ_i = h (b_i w⁺ + Σ_j a_ji V_j),   V_i = (∂Φ/∂y)ᵀ(Y_i) κ_i,   w⁻ = w⁺ + Σ V_i
//
// (implicit methods: one linear system for all κ). So it is the derivative that columns carried along the same steps
// would have, to round-off; through kinks, through jumps of forces and through contact
// points that come and go by the transposes of what they do to columns. The cost does not depend on the number of
// unknowns but for κᵀ ∂Φ/∂p, one product per unknown and functional.
//
// Two forces that jump at one instant: a derivative exists only where every unknown moves both alike. Columns see that
// unknown by unknown; here it is asked of all directions of the state at once, and `exists` is false otherwise.
#pragma once

#include "stickslip/motion/compliant/compliant_neighbours.hpp"
#include "stickslip/motion/compliant/compliant_tape.hpp"
#include "stickslip/motion/smooth_stretch.hpp"

namespace stickslip {

class CompliantAdjoint {
 public:
  /// Those of the run, at its end; they are placed elsewhere by the way back.
  CompliantAdjoint(CompliantDynamics& dynamics, CompliantNeighbours& neighbours, SmoothStretch& stretch)
      : dynamics_(dynamics), neighbours_(neighbours), stretch_(stretch) {}

  /// `gradient`: functionals × unknowns, without what the start does; `start`: w(0), one column per functional. False:
  /// stopped, or a stage cannot be evaluated.
  bool sweep(const CompliantTape& tape, Index functionals, StopRequest stop, DenseMatrix& gradient, DenseMatrix& start);
  bool exists() const { return exists_; }

 private:
  bool back(const TapeStep& step);
  bool back(const TapeJump& jump);
  bool back(const TapeKink& kink);
  bool back(const TapeSlots& slots);
  bool back(const TapeMark& mark);
  bool back_explicit(const TapeStep& step);
  bool back_implicit(const TapeStep& step);
  bool place(double t, const Vector& y);
  void add_parameters(double t);

  CompliantDynamics& dynamics_;
  CompliantNeighbours& neighbours_;
  SmoothStretch& stretch_;
  bool exists_ = true;
  DenseMatrix w_, kappa_, gradient_;
  std::vector<Vector> stage_, rate_;
  Vector motion_;
  std::vector<DenseMatrix> back_;
  std::vector<CompliantDynamics::DataChange> data_;
};

}  // namespace stickslip
