// SPDX-License-Identifier: Apache-2.0
// A tree of bounding boxes: which of n boxes overlap a given one, in O(log n + found).
//
// What is found depends on the boxes alone; how the tree was built and refitted shows in the time only.
#pragma once

#include <vector>

#include "stickslip/model/collision/pose.hpp"

namespace stickslip {

struct Bounds {
  Vector3 low = Vector3::Zero(), high = Vector3::Zero();
  bool overlaps(const Bounds& o) const {
    return low.x() <= o.high.x() && o.low.x() <= high.x() && low.y() <= o.high.y() && o.low.y() <= high.y() &&
           low.z() <= o.high.z() && o.low.z() <= high.z();
  }
};

class BoxTree {
 public:
  /// Splits at the median of the centres along the longest side: O(n log n).
  void build(const std::vector<Bounds>& boxes);
  /// New boxes in the old tree: O(n). As many as it was built with.
  void refit(const std::vector<Bounds>& boxes);
  std::size_t size() const { return order_.size(); }
  bool empty() const { return order_.empty(); }
  /// Around all boxes; not of an empty tree.
  const Bounds& bounds() const { return nodes_.front().bounds; }

  /// visit(index) of every box that overlaps `query`, touching included, in an order that depends on the tree.
  template <class Visit>
  void visit(const Bounds& query, Visit&& visit) const {
    if (nodes_.empty()) return;
    int stack[kDeepest];
    int depth = 0;
    stack[depth++] = 0;
    while (depth > 0) {
      const int at = stack[--depth];
      const Node& node = nodes_[static_cast<std::size_t>(at)];
      if (!node.bounds.overlaps(query)) continue;
      if (node.count == 0) {
        stack[depth++] = node.first;  // the second child; the first one comes right behind its parent
        stack[depth++] = at + 1;
        continue;
      }
      for (int k = node.first; k < node.first + node.count; ++k)
        if (boxes_[static_cast<std::size_t>(k)].overlaps(query)) visit(order_[static_cast<std::size_t>(k)]);
    }
  }

 private:
  struct Node {
    Bounds bounds;
    int first = 0;  ///< of a leaf: into order_; else the second child
    int count = 0;  ///< 0: not a leaf
  };
  static constexpr int kLeaf = 4;
  static constexpr int kDeepest = 128;  ///< halves: twice the depth of 2^60 boxes
  int build_node(const std::vector<Bounds>& boxes, int begin, int end);

  std::vector<Node> nodes_;
  std::vector<int> order_;     ///< boxes, leaf by leaf
  std::vector<Bounds> boxes_;  ///< in that order
};

}  // namespace stickslip
