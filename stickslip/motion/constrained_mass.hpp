// SPDX-License-Identifier: Apache-2.0
// Motion under bilateral constraints by the null space of their rows, redundant rows allowed:
//
//   M a = h + Aᵀ λ,    A a = -bias                                 (index 1: constraints differentiated to
//   accelerations)
//
//   M  mass, symmetric positive definite (n × n)                   [kg, kg m²]
//   A  rows of the constraints (m × n), of rank r <= m             ConstraintSource::evaluate
//   h  forces without those of the constraints                     [N, N m]
//   λ  multipliers: force on the system along the row; where r < m the shortest of those that are possible, with every
//      row scaled to unit length: (Σ (λ_i |Ã_i|)²)^½, the same in all units
//
// With M = L Lᵀ and the rows in the metric of the mass, Ã = A L⁻ᵀ = U S [V1 V2]ᵀ:
//
//   N = L⁻ᵀ V2       free directions: A N = 0, Nᵀ M N = 1         (n × (n-r))
//   G = L⁻ᵀ Ã⁺       A G A = A, Nᵀ M G = 0                         (n × m)
//   a = -G bias + N Nᵀ h,      λ = Gᵀ (M a - h),      P = N Nᵀ
//
// P takes a further force w to the acceleration it adds, and Wᵀ P W = (NᵀW)ᵀ(NᵀW) is D of the inclusion (*) under the
// constraints.
//
// Source: VanderVoort, Singh 1987 (paper 2), a = A⁺B' + V2 ζ with [V2ᵀ M V2] ζ = V2ᵀ(h - M A⁺B'), B' = -bias.
// Departure: the decomposition is that of Ã instead of A. The accelerations are the same, because A a = B' leaves the
// same freedom; but V2ᵀ M V2 becomes the identity, and neither the rank nor the correction G of an error depends on the
// units in which the coordinates are given. Rows are scaled to unit length first, as in common/null_space.hpp, and for
// the same reason.
//
// A pivoted QR factorisation serves where it leaves no doubt that the rows are independent (a tenth of the cost);
// otherwise the singular values decide.
#pragma once

#include "stickslip/common/decompositions.hpp"
#include "stickslip/common/system_matrix.hpp"

namespace stickslip {

class ConstrainedMass {
 public:
  /// Singular values of the scaled rows below `rank_tolerance` times the largest count as 0, and so does a row that has
  /// become shorter than that beside its own largest length so far (or than 1e-14 beside the longest row: round-off of
  /// its terms).
  explicit ConstrainedMass(double rank_tolerance = 1e-10) : rank_tolerance_(rank_tolerance) {}

  /// Allocates nothing if the sizes and the rank are those of the call before. M must be positive definite. False if M
  /// or A holds a number that is not finite; nothing below may be used then.
  bool refresh(const SystemMatrix& M, const DenseMatrix& A);

  Index rank() const { return rank_; }
  /// |(S Ã)⁺|, each row measured by its largest length so far: grows without bound towards a position where a row
  /// vanishes or comes to depend on the others.
  double stretch() const;
  Index row_count() const { return m_; }
  const DenseMatrix& free_directions() const { return N_; }   ///< N
  const DenseMatrix& weighted_inverse() const { return G_; }  ///< G

  /// a of (h, bias)
  void acceleration(const Vector& h, const Vector& bias, Vector& a);
  /// λ of an acceleration that was computed from h. (Where further forces W r act, h includes them.)
  void multipliers(const Vector& h, const Vector& a, Vector& lambda);
  /// x = P w; for several forces, one column each.
  void apply(const Vector& w, Vector& x);
  void apply(const DenseMatrix& W, DenseMatrix& X);
  /// |L⁻¹ W_i|, the length of each column in the metric of the mass: that of NᵀW_i where no constraint blocks it.
  void lengths(const DenseMatrix& W, Vector& length);
  /// |Lᵀ X L⁻ᵀ|, of a linear map of velocities (Frobenius).
  double norm_of_map(const DenseMatrix& X);
  /// (xᵀ M x)^½ of a velocity or acceleration.
  double norm(const Vector& x);
  /// x = G e: the shortest displacement, in the metric of the mass, that makes A x = e (as nearly as possible).
  void correction(const Vector& e, Vector& x) const { x.noalias() = G_ * e; }

 private:
  void scale_rows(const DenseMatrix& A);
  bool use_qr();
  void use_svd();

  double rank_tolerance_;
  Index n_ = 0, m_ = 0, rank_ = 0;
  DenseMatrix M_, N_, G_;
  DenseMatrix B_;                   // columns: rows of Ã, scaled to unit length
  Vector scale_;                    // of those; 0 for a row that counts as zero
  Vector peak_;                     // largest length of each row so far
  DenseMatrix inner_;               // r × m: coefficients of G in the basis V1
  DenseMatrix basis_;               // V1, later L⁻ᵀ V1
  Eigen::LLT<DenseMatrix> factor_;  // L
  Eigen::ColPivHouseholderQR<DenseMatrix> qr_;
  Eigen::JacobiSVD<DenseMatrix> svd_;
  Vector workspace_, reduced_;
  DenseMatrix reduced_columns_;
};

}  // namespace stickslip
