// SPDX-License-Identifier: Apache-2.0
// Which bounding boxes overlap: the dynamic tree of the Flexible Collision Library (FCL 0.7, Debian's libfcl-dev).
// The set of pairs depends on the boxes alone; the tree's history shows in the time only.
#pragma once

#include <memory>
#include <vector>

#include "stickslip/model/collision/pose.hpp"

namespace stickslip {

struct Bounds {
  Vector3 low = Vector3::Zero(), high = Vector3::Zero();
};

struct BoxPair {
  int a = 0, b = 0;  ///< a < b
};

class BroadPhase {
 public:
  /// `group[i]`: boxes of one group are never paired (shapes of one body).
  explicit BroadPhase(std::vector<int> group);
  ~BroadPhase();
  BroadPhase(BroadPhase&&) noexcept;
  BroadPhase& operator=(BroadPhase&&) noexcept;

  /// Appends all pairs of overlapping boxes of different groups, in no particular order. Throws InputError for a box
  /// with a corner that is not finite or beyond 4 kLargestLength.
  void find(const std::vector<Bounds>& boxes, std::vector<BoxPair>& pairs);

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace stickslip
