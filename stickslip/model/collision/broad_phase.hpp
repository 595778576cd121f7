// SPDX-License-Identifier: Apache-2.0
// Which bounding boxes overlap: each box asks a tree of all (box_tree.hpp).
// The set of pairs depends on the boxes alone; the tree's history shows in the time only.
#pragma once

#include <vector>

#include "stickslip/model/collision/box_tree.hpp"

namespace stickslip {

class ThreadPool;

struct BoxPair {
  int a = 0, b = 0;  ///< a < b
};

class BroadPhase {
 public:
  /// `group[i]`: boxes of one group are never paired (shapes of one body).
  explicit BroadPhase(std::vector<int> group) : group_(std::move(group)) {}

  /// Appends all pairs of overlapping boxes of different groups, in no particular order. Throws InputError for a box
  /// with a corner that is not finite or beyond 4 kLargestLength. `threads` may be null.
  void find(const std::vector<Bounds>& boxes, std::vector<BoxPair>& pairs, ThreadPool* threads = nullptr);

 private:
  std::vector<int> group_;
  BoxTree tree_;
  int calls_ = 0;
  std::vector<std::vector<BoxPair>> parts_;
};

}  // namespace stickslip
