// SPDX-License-Identifier: Apache-2.0
// The columns of L cut into panels (supernodes), and the blocks of the matrix by the panel in which they are met.
//
// A fundamental supernode is a chain of the elimination tree whose columns have the same rows below it; it is stored
// and factorised as one dense panel. Narrow panels are merged with their last child at the price of some zeros, because
// dense operations on one or two columns cost more than the zeros do (relaxed supernodes: Ashcraft, Grimes, ACM Trans.
// Math. Softw. 15, 1989; in the form of Chen, Davis, Hager, Rajamanickam, ACM Trans. Math. Softw. 35, 2008).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace stickslip {

/// Blocks (row, column) and (column, row) of the matrix, column eliminated first or both in the panel.
struct BlockPair {
  int row, column;   ///< nodes
  int lower, upper;  ///< entries of the pattern, or -1
  int position;      ///< of `row` in PanelStructure::rows
  int column_place;  ///< of `column` in the order
  bool below;        ///< row is not a column of the panel: the upper block lives in the transposed panel
};

struct PanelStructure {
  std::vector<int> order, place;        ///< elimination_order.hpp
  std::vector<int> panel_starts;        ///< columns (places) of panel s
  std::vector<int> panel_of;            ///< by place
  std::vector<std::size_t> row_starts;  ///< rows of panel s
  std::vector<int> rows;                ///< places, its own columns first, ascending
  std::vector<std::size_t> pair_starts;
  std::vector<BlockPair> pairs;  ///< of panel s, column by column
  int panels() const { return static_cast<int>(panel_starts.size()) - 1; }
};

/// Entries (i, j) of the pattern by rows, as for elimination_order(); the diagonal must be among them.
PanelStructure panel_structure(std::span<const std::size_t> row_starts, std::span<const int> columns);

}  // namespace stickslip
