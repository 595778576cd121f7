// SPDX-License-Identifier: Apache-2.0
// Component mode synthesis of a large linear structure: coordinates that laws act on are kept, the others follow them
// statically and by a few modes.
//
//   M x'' + B x' + K x = f,    x = (x_b, x_i): kept (b) and interior (i) coordinates        n coordinates, sparse
//   x = T y,  y = (x_b, η)     T = [ 1 0; Ψ Φ ],  Ψ = -K_ii⁻¹ K_ib                          static response to x_b
//                              K_ii φ = ω_i² M_ii φ, the lowest `modes`                     interior modes, x_b held
//   M_r = Tᵀ M T,  B_r = Tᵀ B T,  K_r = Tᵀ K T,  f_r = Tᵀ f
//
// Every mode has its largest entry 1, so that η is a length (or angle) in the units of the model. Without modes this is
// Guyan's static condensation.
//
// Error: for a natural mode (θ, x = T y) of the reduced model r = (K - θ² M) x is orthogonal to T, and the full model
// has a natural frequency with
//   |1 - θ²/ω²| <= η,   η² = rᵀ K⁻¹ r/(xᵀ K x) = r_iᵀ K_ii⁻¹ r_i/(xᵀ K x)                  (bound; proof in the source)
// The reduced frequencies lie above the exact ones by about half of η² where they are well separated:
// `frequency_error`.
//
// Sources: R.R. Craig, M.C.C. Bampton, AIAA J. 6, 1968; residual bound: B.N. Parlett, The Symmetric Eigenvalue Problem,
// section 4.5, in the norm of K⁻¹. Eigenvalues: Spectra (Lanczos, shift and invert at 0); small ones by Eigen.
#pragma once

#include <vector>

#include "stickslip/common/system_matrix.hpp"

namespace stickslip {

struct ReductionOptions {
  std::vector<Index> kept;  ///< coordinates b, ascending, no duplicates
  Index modes = 20;         ///< >= 0; at most as many as there are interior coordinates are taken
  /// Throws InputError with value and relation.
  void validate(Index coordinates) const;
};

struct Reduction {
  std::vector<Index> kept;
  DenseMatrix T;              ///< n × (kept + modes)
  DenseMatrix M, B, K;        ///< reduced
  Vector interior_frequency;  ///< ω_i of the modes taken [rad/s]
  Vector frequency;           ///< θ, natural frequencies of the reduced model, ascending [rad/s]
  Vector frequency_error;     ///< estimated relative error of each, ½ η²
  Vector frequency_bound;     ///< η
  Index modes() const { return interior_frequency.size(); }
  /// Largest estimated error of the natural frequencies up to `highest` [rad/s].
  double error_up_to(double highest) const;
};

/// M symmetric positive definite, K symmetric and positive definite on the interior (the structure is held where the
/// kept coordinates are); B may be empty. Throws InputError where that does not hold, with the remedy.
Reduction reduce(const SparseMatrix& M, const SparseMatrix& B, const SparseMatrix& K, const ReductionOptions& options);

}  // namespace stickslip
