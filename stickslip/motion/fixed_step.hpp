// SPDX-License-Identifier: Apache-2.0
// What the fixed-step schemes have in common: how a record begins, and how a solved inclusion is seen from outside.
#pragma once

#include <cmath>

#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/step.hpp"
#include "stickslip/motion/step_audit.hpp"
#include "stickslip/solvers/problem.hpp"

namespace stickslip {

/// max() that lets a NaN through: a step that produced one must not look clean.
inline void raise(double& largest, double value) {
  if (!(value <= largest)) largest = value;
}

/// (Wᵀ v) of one row; Wt is compressed.
inline double row_times(const SparseMatrix& Wt, Index row, const Vector& v) {
  const int *column = Wt.innerIndexPtr(), end = Wt.outerIndexPtr()[row + 1];
  const double *value = Wt.valuePtr(), *x = v.data();
  double sum = 0;
  for (int at = Wt.outerIndexPtr()[row]; at < end; ++at) sum += value[at] * x[column[at]];
  return sum;
}

/// Sizes the record, decides the modes from the velocities where the state brings none, and evaluates the energies.
void start_record(const System& system, FrictionAssembly& laws, SystemWorkspace& workspace, StepRecord& record);

/// Clears the events and residuals of the last step.
void clear_step(StepRecord& record);

/// Energy that an impact took: normal and tangential part of -½ p·(u⁻ + u⁺). The mean velocity is not the path of the
/// impulse, so that only the sum has a meaning where the friction part comes out negative: it then counts as impact
/// loss. Returns what the impact made of energy, 0 where it took some.
double book_impact(double normal_loss, double friction_loss, EnergyLedger& energy);

/// 1/A_ii, refreshed when the problem's matrix has changed.
struct InverseDiagonal {
  Vector value;
  unsigned long version = ~0ul;
  void refresh(const PrimalProblem& problem);
};

/// load_i = |g_i| + Σ_k |W_ik p_k|: the terms of A v = g + W p, one by one [N s, N m s]
void add_up_loads(const PrimalProblem& problem, const Vector& p, Vector& load);

/// Sizes that do not depend on the units of the coordinates; load/A_ii is the velocity that the terms would make.
struct BalanceSize {
  double residual = 0, terms = 0;  ///< max_i |balance_i| A_ii^(-1/2), max_i load_i A_ii^(-1/2)
  double energy = 0;               ///< ½ Σ load_i²/A_ii [J]
};
BalanceSize balance_size(const Vector& balance, const Vector& load, const Vector& inverse_diagonal);

/// When the iteration around a step has settled: every velocity has, beside what the terms of the balance could make of
/// it, size_i = max(|v_i|, load_i/A_ii). At rest |v| = 0 is no measure. Rounding may keep the change from falling: then
/// a hundred times the tolerance will do, and for a velocity that others feed through A their kinetic energy is the
/// measure.
class VelocityIteration {
 public:
  void start(const Vector& v0);
  bool settled(const Vector& before, const Vector& v, const Vector& load, const Vector& inverse_diagonal,
               double tolerance);
  double change() const { return change_; }  ///< largest |Δv_i|/size_i of the last call

 private:
  Vector size_;
  double change_ = HUGE_VAL;
  int stalled_ = 0;
};

/// Memory of record_residuals(): the weights of the natural map (any positive ones will do) and scratch vectors.
struct ResidualWorkspace {
  Vector weights, balance, u, load;
  InverseDiagonal inverse_diagonal;
  double momentum = 0;  ///< largest BalanceSize::terms so far
};

/// Residuals of A v = g + W p and of the law at (v, p), from v and p alone. Raises inclusion and membership of the
/// record and the step of `momentum`, sets energy_terms and the terms of `stick`; workspace.u is left as Wᵀ v - w.
void record_residuals(const PrimalProblem& problem, const FrictionAssembly& laws, const Vector& v, const Vector& p,
                      ResidualWorkspace& workspace, StepRecord& record, MomentumAudit& momentum, StickAudit& stick);

}  // namespace stickslip
