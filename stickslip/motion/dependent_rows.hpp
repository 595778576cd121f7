// SPDX-License-Identifier: Apache-2.0
// Rows of constraints beside the positions that satisfy them.
//
// Rows that depend on each other where the constraints hold (a loop closed by more rows than it needs, as Bricard's) do
// not beside there: the least singular value grows with the distance d. Taken as they are they lock the motion that is
// free, and what they ask of it, of the order d² over the order d, is noise. So singular values of the order of the
// distance are taken for 0:
//
//   Ã = A L⁻ᵀ, M = L Lᵀ, rows scaled to length 1,  Ã = U S Vᵀ → those of U S' Vᵀ, S' without values below tolerance ·
//   largest
#pragma once

#include "stickslip/common/system_matrix.hpp"

namespace stickslip {

/// Rows without what counts as 0; A itself where nothing does.
const DenseMatrix& without_small_values(const SystemMatrix& M, const DenseMatrix& A, double tolerance,
                                        DenseMatrix& independent);

/// What the rows have turned between two positions, largest |a_i - a'_i|/|a_i| in the metric of the mass, at most 1. A
/// position reached from one on the constraints in a straight line is off them by about its square.
double turned_rows(const SystemMatrix& M, const DenseMatrix& A, const DenseMatrix& before);

}  // namespace stickslip
