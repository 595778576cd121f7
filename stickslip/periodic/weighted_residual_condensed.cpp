// SPDX-License-Identifier: Apache-2.0
// Newton's step in the reactions alone: member declared in weighted_residual.hpp.
//
//   J = [A B; C D]: A motion by displacements, B motion by reactions, both with one block per harmonic where the
//   equations of motion are linear and the rows of the laws constant;   (D - C A⁻¹ B) r = -(F_r - C A⁻¹ F_x),  x = -A⁻¹
//   (F_x + B r)
#include <algorithm>

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/interruptible_lu.hpp"
#include "stickslip/common/null_space.hpp"
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

/// Of friction, of laws whose equality does not depend on their reactions at any sample: they stick throughout.
std::vector<Index> WeightedResidual::held_components() const {
  std::vector<Index> held;
  for (const Law& law : laws_) {
    const int tangents = law.size - (law.contact ? 1 : 0);
    if (law.elastic() || tangents == 0) continue;
    const auto still = [&](Index slot) { return signals_.values(slot).isZero(0); };
    if (!std::all_of(law.by_r.begin(), law.by_r.end(), still)) continue;
    for (int a = law.size - tangents; a < law.size; ++a) held.push_back(law.first + a);
  }
  return held;
}

/// J += m pᵀ: m, the mean of the law's equations; p, the mean of its displacement. mᵀJ is 0 before and mᵀF is 0, so
/// that a step has pᵀs = 0 and is one of the equations themselves.
void WeightedResidual::pin_held_laws() {
  const std::vector<Index> held = held_components();
  if (held.empty()) return;
  DenseMatrix rows = DenseMatrix::Zero(static_cast<Index>(held.size()), nb_);
  for (const Law& law : laws_)
    for (int a = 0; a < law.size; ++a) {
      const auto at = std::find(held.begin(), held.end(), law.first + a);
      for (std::size_t c = 0; at != held.end() && c < law.columns.size(); ++c)
        rows(at - held.begin(), law.columns[c]) += law.W(a, static_cast<Index>(c)) * x_scale_[law.columns[c]];
    }
  const std::vector<Index> dependent = dependent_rows(rows);
  Vector x_mean(nx_), r_mean(nr_);
  basis_->fit(BasisField::displacement, Vector::Ones(N_), x_mean);
  basis_->fit(BasisField::reaction, Vector::Ones(N_), r_mean);
  x_mean.normalize(), r_mean.normalize();
  for (Index k = 0; k < rows.rows(); ++k) {
    if (std::binary_search(dependent.begin(), dependent.end(), k) || rows.row(k).isZero(0)) continue;
    const double size = rows.row(k).norm();
    for (Index c = 0; c < nb_; ++c)
      if (rows(k, c) != 0)
        J_.block(r_block(held[static_cast<std::size_t>(k)]), x_block(c), nr_, nx_) +=
            rows(k, c) / size * r_mean * x_mean.transpose();
  }
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
