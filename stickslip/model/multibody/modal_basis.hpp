// SPDX-License-Identifier: Apache-2.0
// Coordinates of a flexible body from the matrices of its finite elements.
#pragma once

#include <vector>

#include "stickslip/common/system_matrix.hpp"

namespace stickslip {

struct ModalBasis {
  DenseMatrix T;     ///< coordinates of the elements by η; every column has its largest entry 1
  DenseMatrix K, D;  ///< of η; D from the damping ratio, D = Σ 2 ζ ω (M φ)(M φ)ᵀ over the natural modes φ
  Vector frequency;  ///< natural frequencies in these coordinates [rad/s]
};

/// With `kept`: the lowest `modes` while those are held, and the static response to them (reduction.hpp). Without: the
/// lowest natural modes above the `rigid` motions that K leaves. Throws InputError.
ModalBasis modal_basis(const SparseMatrix& M, const SparseMatrix& K, const std::vector<Index>& kept, Index modes,
                       Index rigid, double damping);

}  // namespace stickslip
