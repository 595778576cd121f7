// SPDX-License-Identifier: Apache-2.0
// T(q) of q' = T(q) v as entries of a sparse matrix, and its inverse on the positions that v can reach:
//
//   T⁺ = (TᵀT)⁻¹ Tᵀ,   δ = T⁺ dq      slopes along δ as slopes by the numbers of q: ∂f/∂q = (∂f/∂δ) T⁺
//
// Columns of T are taken to be orthogonal, so that TᵀT is diagonal: true for q' = v, for unit quaternions, and for
// bodies and joints made of both. orthogonal() is false where that does not hold.
//
// The positions of entries are found once, at a few places around q; then columns that share no row are found together.
#pragma once

#include <vector>

#include "stickslip/model/kinematics.hpp"

namespace stickslip {

class RateMap {
 public:
  struct Entry {
    Index row, column;  ///< of T: row in q, column in v
    double value;       ///< T(row, column)
    double inverse;     ///< T⁺(column, row)
  };
  /// T at q. Allocates the first time.
  void update(const Kinematics& kinematics, const Vector& q);
  const std::vector<Entry>& entries() const { return entries_; }
  /// Entries of column j of T are [first(j), first(j + 1)).
  std::size_t first(Index j) const { return first_[static_cast<std::size_t>(j)]; }
  bool orthogonal() const { return orthogonal_; }

 private:
  void find_structure(const Kinematics& kinematics, const Vector& q);

  std::vector<Entry> entries_;      // by column
  std::vector<std::size_t> first_;  // nv + 1
  std::vector<int> color_;          // of each column; those of one colour share no row
  int colors_ = 0;
  bool orthogonal_ = true;
  Vector unit_, rate_;
};

}  // namespace stickslip
