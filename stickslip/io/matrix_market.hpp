// SPDX-License-Identifier: Apache-2.0
// Matrices in the Matrix Market exchange format (NIST), the text format of sparse matrix collections:
//
//   %%MatrixMarket matrix coordinate|array real|integer general|symmetric|skew-symmetric
//   % comments
//   rows columns entries        (array: rows columns)
//   i j a_ij                    (from 1; array: a_ij alone, column by column)
//
// Of a symmetric matrix only the lower triangle stands in the file (i >= j), of a skew-symmetric one only what is below
// the diagonal; the rest is filled in here. Stricter than the format asks: an entry given twice is an error, and so is
// anything after the last entry. Complex, hermitian and pattern matrices are refused.
#pragma once

#include <string>
#include <string_view>

#include "stickslip/common/vector.hpp"

namespace stickslip {

/// No matrix of a model is larger than this in either direction.
inline constexpr Index kLargestSize = 10'000'000;

/// Throws InputError of the form "path:LINE: what is wrong".
SparseMatrix read_matrix_market(const std::string& path);
SparseMatrix parse_matrix_market(std::string_view text, const std::string& path_for_messages);

}  // namespace stickslip
