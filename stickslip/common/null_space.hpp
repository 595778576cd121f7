// SPDX-License-Identifier: Apache-2.0
// Rank-revealing decomposition of constraint rows: which directions they leave free, and the shortest vector that
// satisfies them.
//
//   A  m × n    rows of the constraints A(q) q' = B; m = 0 and m > n are allowed, rows may be redundant or zero
//   V2 n × (n-r)  orthonormal, A V2 = 0: the free directions
//   A⁺ n × m    Moore-Penrose inverse: q'' = A⁺B' + V2 ζ holds A q'' = B' whatever ζ is
//
// Source: VanderVoort, Singh, Notes on Implementation of Coulomb Friction in Coupled Dynamical Simulations, NASA
// N87-22746, 1987, A = U S Vᵀ, V = [V1 V2]. B' stands for dB/dt - (dA/dt) q' where the source prints B.
//
// Departure: the rank is that of S A with every row scaled to unit length, so that it does not depend on the unit in
// which a constraint is written. S A and A have the same null space. A⁺ is that of A itself, A⁺ = V1 (A V1)⁺. Rows that
// are shorter than relative_tolerance times the longest one count as zero: their direction is round-off.
#pragma once

#include <vector>

#include "stickslip/common/vector.hpp"

namespace stickslip {

struct NullSpaceOptions {
  /// Of the largest singular value of the scaled rows; in (0, 1). Also the length, relative to the longest row, below
  /// which a row counts as zero.
  double relative_tolerance = 1e-10;
};

struct NullSpace {
  DenseMatrix V2;              ///< n × (n - rank)
  DenseMatrix pseudo_inverse;  ///< n × m
  Vector singular_values;      ///< of the scaled rows, falling, min(m, n) of them
  int rank = 0;
  double tolerance = 0;  ///< singular values <= tolerance counted as 0
};

NullSpace null_space(const DenseMatrix& A, const NullSpaceOptions& options = {});

/// Rows, in rising order, that can be left out without changing the row space: each depends on the rows before it. A
/// row depends on others if its distance from their span is at most tolerance times its length.
std::vector<Index> dependent_rows(const DenseMatrix& A, double tolerance = 1e-10);

}  // namespace stickslip
