// SPDX-License-Identifier: Apache-2.0
// The order of a Gauss-Seidel sweep over many laws, in parts that threads can share.
//
// Laws are coupled where D has a block. Breadth-first levels from an end of that graph couple each level to the ones
// beside it only, so that slabs of levels with one level between them, the separator, do not touch each other:
//
//   phase 0   the slabs, each from its first law to its last, in any order of slabs or at once
//   phase 1   the separators, likewise
//
// Slabs depend on D alone: a sweep gives the same bits whether one thread takes them in turn or several share them.
#pragma once

#include <span>
#include <vector>

#include "stickslip/common/thread_pool.hpp"
#include "stickslip/solvers/delassus.hpp"

namespace stickslip {

class SweepSlabs {
 public:
  static constexpr int kPhases = 2;
  /// One slab of all laws where there are few of them, or where D couples i to j but not j to i.
  void build(const BlockSparseMatrix& D);
  int parts(int phase) const { return phase == 0 ? slabs_ : slabs_ - 1; }
  /// Laws, ascending; and their places in the order of all.
  std::span<const int> part(int phase, int k) const;
  PartRange places(int phase, int k) const;
  int law(std::size_t place) const { return order_[place]; }

 private:
  /// Laws level by level into order_, from the given one on; returns the last one.
  int visit(const BlockSparseMatrix& D, int from, int mark);
  bool couples_neighbours_only(const BlockSparseMatrix& D) const;
  void cut(int most);

  int slabs_ = 1;
  std::vector<int> order_, level_, mark_, level_starts_;
  std::vector<int> cuts_;  // of order_: slab, separator, slab, ...
};

}  // namespace stickslip
