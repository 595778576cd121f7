// SPDX-License-Identifier: Apache-2.0
// The shortest way out of penetrations, of free bodies:
//
//   minimise ½ δᵀ M δ   subject to   g_k + W_kNᵀ δ >= 0 at every point found
//
// by over-relaxed sweeps over the points (projected SOR on the dual, Cryer 1971: D_N = W_Nᵀ M⁻¹ W_N is positive
// semidefinite, so every factor in (0, 2) converges where there is a way). Points that nothing can part are left.
#pragma once

#include <vector>

#include "stickslip/common/pinned_factor.hpp"
#include "stickslip/model/contact_element.hpp"

namespace stickslip {

class PositionsApart {
 public:
  /// M as blocks of 6 along its diagonal, from its factors.
  void set_mass(const PinnedFactor& mass, Index coordinates);
  /// M⁻¹ W of one row, entry by entry of that row.
  void respond(const SparseMatrix& Wt, Index row, std::vector<double>& response) const;
  /// δ for the points of `found`, whose rows begin where the sizes of their laws say; ends where none is deeper than
  /// `enough` [m] to first order, or after so many sweeps that more would not pay.
  void solve(const ContactPoints& found, const std::vector<ContactElement>& laws, double enough, Vector& delta);

 private:
  struct Row {
    int begin, count;  // entries of directions_
    double mobility, gap, push;
  };
  double sweep(Vector& delta);

  DenseMatrix blocks_;  // row i: the row of its block of M⁻¹
  std::vector<Row> rows_;
  std::vector<int> columns_;
  std::vector<double> directions_, responses_, response_;
};

}  // namespace stickslip
