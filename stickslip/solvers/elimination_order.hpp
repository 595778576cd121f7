// SPDX-License-Identifier: Apache-2.0
// In which order the nodes of a sparse matrix with symmetric pattern are eliminated, and where that makes entries.
//
//   place     position in the order; column k of L belongs to the node at place k
//   parent    elimination tree: the first row below the diagonal of column k of L (Liu, SIAM J. Matrix Anal. 11, 1990)
//   below     all rows below the diagonal of column k of L: those of the matrix and those of its children
//
// Approximate minimum degree (Amestoy, Davis, Duff, SIAM J. Matrix Anal. 17, 1996; Eigen's implementation), then a
// postorder of the tree, which changes no fill and puts columns with the same pattern next to each other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stickslip {

struct EliminationOrder {
  std::vector<int> order;               ///< node at each place
  std::vector<int> place;               ///< of each node
  std::vector<int> parent;              ///< by place; -1 at roots
  std::vector<std::vector<int>> below;  ///< by place: places, ascending
};

/// Columns of row i: columns[row_starts[i] .. row_starts[i+1]), in any order; an entry (i, j) stands for (j, i) too.
EliminationOrder elimination_order(std::span<const std::size_t> row_starts, std::span<const int> columns);

}  // namespace stickslip
