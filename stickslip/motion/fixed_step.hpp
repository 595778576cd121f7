// SPDX-License-Identifier: Apache-2.0
// What the fixed-step schemes have in common: how a record begins, and how a solved inclusion is seen from outside.
#pragma once

#include "stickslip/motion/friction_assembly.hpp"
#include "stickslip/motion/step.hpp"
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
/// loss, and a negative sum as contact_gain as well.
void book_impact(double normal_loss, double friction_loss, StepRecord& record);

/// Memory of record_residuals(): the weights of the natural map (any positive ones will do) and scratch vectors.
struct ResidualWorkspace {
  Vector weights, balance, u;
};

/// Residuals of A v = g + W p and of the law at (v, p), from v and p alone. Raises inclusion, membership and equation
/// of the record; workspace.u is left as Wᵀ v - w.
void record_residuals(const PrimalProblem& problem, const FrictionAssembly& laws, const Vector& v, const Vector& p,
                      ResidualWorkspace& workspace, StepRecord& record);

}  // namespace stickslip
