// SPDX-License-Identifier: Apache-2.0
// What the kinetic energy of a flexible body knows of its mass, and the few points that stand for it.
//
//   a point of the body: A = (X, L), at X + L η + ½ Σ_c e_c ηᵀ Q_c η of the frame       3 (1 + modes) numbers, Q beside
//   them m = Σ m_a,   Ā = Σ m_a A_a/m,   C = Σ m_a (A_a - Ā)(A_a - Ā)ᵀ                        all that (X, L) enter by,
//   exactly Q̄ = Σ m_a Q_a/m,   B = Σ m_a (X_a - X̄) Q_aᵀ                                          all that Q enters by,
//   to second order in η
//
// C = Σ λ_r y_r y_rᵀ (eigenvectors) is that of pairs of equal masses m/2R at Ā ± y_r sqrt(λ_r R/m): at most 3 (1 +
// modes) pairs stand for any number of points while the body deforms and turns. Theirs is Q = Q̄ + Bᵀ C_XX⁺ (X - X̄),
// which has Q̄ and B.
#pragma once

#include <array>
#include <vector>

#include "stickslip/common/system_matrix.hpp"
#include "stickslip/model/multibody/flexible_body.hpp"

namespace stickslip {

/// (X, L) of a point: column 0 its place [m], the others its displacements per mode.
using ModalPlace = Eigen::Matrix<double, 3, Eigen::Dynamic>;

struct MassMoments {
  double mass = 0;  ///< [kg]
  ModalPlace mean;  ///< Ā
  DenseMatrix C;    ///< number (direction d, column k) at 3 k + d [kg m²]
  Eigen::Matrix3d spread() const { return C.topLeftCorner<3, 3>(); }  ///< C_XX
};

/// Q̄_c and B_cd, matrices over the modes; empty: points do not come nearer.
struct QuadraticMoments {
  std::array<DenseMatrix, 3> mean;                     ///< Q̄_c [1/m]
  std::array<std::array<DenseMatrix, 3>, 3> by_place;  ///< B_cd: X along c, Q along d [kg]
};

/// Eigenvalues of the spread below this fraction of the largest: no mass lies beside the others in that direction.
inline constexpr double kNoSpread = 1e-13;
/// Of a symmetric matrix that is not negative: its inverse on what it does not leave 0.
Eigen::Matrix3d pseudo_inverse(const Eigen::Matrix3d& A, double fraction = kNoSpread);

/// Stations with the moments. `quadratic` may be null.
std::vector<FlexibleStation> mass_stations(const MassMoments& moments, const QuadraticMoments* quadratic);

}  // namespace stickslip
