// SPDX-License-Identifier: Apache-2.0
// Sparse LU of a matrix of small dense blocks, for systems in which many rows drop out from solve to solve.
//
//   P V Pᵀ = L U,   block rows and columns = nodes (contacts or bodies), V not symmetric, its pattern made symmetric.
//
// Left-looking over the panels of panel_structure.hpp: panel s takes the updates of all earlier panels that reach it
// and is then factorised densely (Ng and Peyton, SIAM J. Sci. Comput. 14, 1993; Davis, Direct Methods for Sparse Linear
// Systems, 2006). Rows are exchanged inside the diagonal block of a panel only: between panels there is no pivoting, so
// V should be dominated by its (shifted) diagonal blocks.
//
// The analysis is done once per pattern. Every factorisation may leave out nodes (`active` = 0): they are filtered from
// the panels, so that the cost is that of the remaining ones. After analyze(), nothing is allocated.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "stickslip/solvers/panel_structure.hpp"

namespace stickslip {

class BlockLu {
 public:
  /// Entries (i, j) of the pattern by rows: columns of row i are columns[row_starts[i] .. row_starts[i+1]), ascending
  /// or not. The diagonal is always part of it.
  void analyze(std::span<const int> node_sizes, std::span<const std::size_t> row_starts, std::span<const int> columns);

  /// fill(entry, row, column, out, ld): adds block (row, column), entry `entry` of the pattern, to the column-major
  /// block `out` with leading dimension ld; `transposed` asks for its transpose. False if a pivot vanishes.
  template <class Fill>
  bool factorize(std::span<const char> active, Fill&& fill) {
    start(active);
    for (int s = 0; s < structure_.panels(); ++s) {
      open_panel(s);
      for (std::size_t e = structure_.pair_starts[s]; e < structure_.pair_starts[s + 1]; ++e) {
        const BlockPair& pair = structure_.pairs[e];
        if (!active_[pair.row] || !active_[pair.column]) continue;
        if (pair.lower >= 0) fill(pair.lower, pair.row, pair.column, lower_place(s, pair), lower_ld(s), false);
        if (pair.upper >= 0)
          fill(pair.upper, pair.column, pair.row, upper_place(s, pair), upper_ld(s, pair), pair.below);
      }
      if (!close_panel(s)) return false;
    }
    return true;
  }
  /// x holds the right-hand side and then the solution; node i owns size(i) numbers from start(i) (ascending nodes).
  /// Numbers of nodes that are not active are neither read nor written.
  void solve(double* x) const;
  /// Sign of the determinant of the last matrix that was factorised.
  int sign() const;

 private:
  /// The active rows of a panel: places, their scalar offsets (one more at the end), how many.
  struct Rows {
    const int* places;
    const int* offsets;
    int count;
  };
  void take_memory();
  void start(std::span<const char> active);
  void open_panel(int s);
  bool close_panel(int s);
  double* lower_place(int s, const BlockPair& pair);
  double* upper_place(int s, const BlockPair& pair);
  int lower_ld(int s) const { return height_[s]; }
  int upper_ld(int s, const BlockPair& pair) const { return pair.below ? height_[s] - width_[s] : height_[s]; }
  Rows active_rows(int s) const;
  /// Panel s takes the update of panel d.
  void update(int s, int d);
  /// Panel d waits for the panel of its active row `position`.
  void hand_on(int d, int position);
  void solve_lower(int s, double* y) const;
  void solve_upper(int s, double* y) const;

  std::vector<int> sizes_, starts_;
  PanelStructure structure_;

  // Numbers. Panel s: lower part height x width, column-major, its own columns on top (the diagonal block holds both
  // triangles), and the upper part below the diagonal transposed, (height - width) x width.
  std::vector<char> active_;
  std::vector<int> active_rows_;  // rows of the panels, filtered
  std::vector<std::size_t> active_starts_;
  std::vector<int> active_columns_;  // how many of them are columns of the panel
  std::vector<int> offset_;          // scalar offset of each row in its panel, filtered
  std::vector<int> active_offset_;   // the same for active_rows_, with one more at the end of each panel
  std::vector<int> width_, height_;  // scalars
  std::vector<std::size_t> lower_start_, upper_start_;
  std::vector<double> values_;
  std::vector<int> pivots_;               // row exchanges inside diagonal blocks, by scalar place
  std::vector<int> scalar_start_;         // of each place, filtered
  std::vector<int> head_, next_, reach_;  // descendants that update a panel, and the first row they reach in it
  std::vector<int> target_;               // scalar row of the panel for each scalar row of an update
  std::vector<int> map_;                  // scalar offset in the open panel, by place
  std::vector<double> update_;
  mutable std::vector<double> work_x_;
};

}  // namespace stickslip
