// SPDX-License-Identifier: Apache-2.0
// Newton's step in the reactions alone: member declared in weighted_residual.hpp.
//
//   J = [A B; C D]: A motion by displacements, B motion by reactions, both with one block per harmonic where the equations
//   of motion are linear and the rows of the laws constant;   (D - C A⁻¹ B) r = -(F_r - C A⁻¹ F_x),  x = -A⁻¹ (F_x + B r)
#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/interruptible_lu.hpp"
#include "stickslip/periodic/weighted_residual_parts.hpp"

namespace stickslip {

namespace {
constexpr double kRegular = 1e-13;  // reciprocal condition; below, the whole Jacobian decides
}

bool WeightedResidual::condenses() const {
  if (!linear_ || !fourier_ || state_forces_ || options_.autonomous || m_ == 0 || !constant_contacts_) return false;
  for (const Law& law : laws_)
    if (law.smooth) return false;
  return true;
}

bool WeightedResidual::newton_step(const Vector& F, Vector& step) {
  if (!condenses()) return DenseEquations::newton_step(F, step);
  const Index n = nb_ * nx_, m = m_ * nr_;
  DenseMatrix S = J_.bottomRightCorner(m, m), solved_B(n, 2 * m_);
  Vector right = -F.tail(m), x(n);
  std::vector<Index> rows, columns;
  DenseMatrix A, B, C;
  for (int h = 0; h <= options_.harmonics; ++h) {
    rows.clear(), columns.clear();
    for (int part = 0; part < (h == 0 ? 1 : 2); ++part) {
      const Index k = h == 0 ? 0 : 2 * h - 1 + part;
      for (Index c = 0; c < nb_; ++c) rows.push_back(x_block(c) + k);
      for (Index a = 0; a < m_; ++a) columns.push_back(r_block(a) + k);
    }
    A = J_(rows, rows), B = J_(rows, columns), C = J_.bottomRows(m)(Eigen::all, rows);
    const Eigen::PartialPivLU<DenseMatrix> lu(A);
    if (!(lu.rcond() > kRegular)) return DenseEquations::newton_step(F, step);
    const Vector part = lu.solve(Vector(F(rows)));
    const DenseMatrix Y = lu.solve(B);
    if (!part.allFinite() || !Y.allFinite()) return DenseEquations::newton_step(F, step);  // a pivot of exactly 0
    x(rows) = part;
    solved_B(rows, Eigen::seqN(0, static_cast<Index>(columns.size()))) = Y;
    right.noalias() += C * part;
    const DenseMatrix CY = C * Y;
    for (std::size_t k = 0; k < columns.size(); ++k) S.col(columns[k] - n) -= CY.col(static_cast<Index>(k));
  }
  InterruptibleLu lu;
  const bool regular = lu.compute(S, stop_);
  if (raised(stop_)) return false;
  if (!regular || !(lu.rcond() > kRegular)) return DenseEquations::newton_step(F, step);
  const Vector r = lu.solve(right).col(0);
  step.resize(n + m);
  step.tail(m) = r;
  for (Index c = 0; c < nb_; ++c)
    for (Index k = 0; k < nx_; ++k) {
      const Index h_first = k == 0 ? 0 : k - (k % 2 == 0 ? 1 : 0), parts = k == 0 ? 1 : 2;
      double sum = x[x_block(c) + k];
      for (Index part = 0; part < parts; ++part)
        for (Index a = 0; a < m_; ++a) sum += solved_B(x_block(c) + k, part * m_ + a) * r[a * nr_ + h_first + part];
      step[x_block(c) + k] = -sum;
    }
  return step.allFinite();
}

}  // namespace stickslip
