// SPDX-License-Identifier: Apache-2.0
// The structure of a matrix, fixed once, and the place of every entry in its storage: numbers are refreshed without
// searching and without allocation.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "stickslip/common/system_matrix.hpp"

namespace stickslip {

class MatrixLayout {
 public:
  MatrixLayout() = default;
  /// The entries that can be different from zero; the diagonal always belongs to them. Storage as by
  /// SystemMatrix::compact.
  MatrixLayout(Index size, std::span<const std::pair<Index, Index>> entries);

  /// Gives the matrix this structure if it does not have it yet (allocates), sets all numbers to 0 and returns where
  /// they are kept; offset() counts from there.
  double* clear(SystemMatrix& matrix) const;
  /// Where the numbers of a matrix are kept.
  static double* numbers(SystemMatrix& matrix);
  /// Of an entry of the structure.
  Index offset(Index i, Index j) const;

 private:
  bool matches(const SystemMatrix& matrix) const;

  SystemMatrix zero_;
  Index count_ = 0;  // stored numbers
};

/// (i, j) of a full matrix.
std::vector<std::pair<Index, Index>> all_entries(Index size);

}  // namespace stickslip
