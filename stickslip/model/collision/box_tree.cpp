// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/box_tree.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace stickslip {

namespace {

void include(Bounds& all, const Bounds& one) {
  all.low = all.low.cwiseMin(one.low);
  all.high = all.high.cwiseMax(one.high);
}

}  // namespace

void BoxTree::build(const std::vector<Bounds>& boxes) {
  nodes_.clear();
  order_.resize(boxes.size());
  std::iota(order_.begin(), order_.end(), 0);
  if (!boxes.empty()) build_node(boxes, 0, static_cast<int>(boxes.size()));
  boxes_.resize(boxes.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) boxes_[k] = boxes[static_cast<std::size_t>(order_[k])];
}

int BoxTree::build_node(const std::vector<Bounds>& boxes, int begin, int end) {
  const auto box = [&](int k) -> const Bounds& {
    return boxes[static_cast<std::size_t>(order_[static_cast<std::size_t>(k)])];
  };
  const auto at = static_cast<std::size_t>(nodes_.size());
  nodes_.emplace_back();
  Bounds all = box(begin);
  Vector3 low = all.low + all.high, high = low;  // of twice the centres
  for (int k = begin + 1; k < end; ++k) {
    include(all, box(k));
    const Vector3 centre = box(k).low + box(k).high;
    low = low.cwiseMin(centre);
    high = high.cwiseMax(centre);
  }
  nodes_[at].bounds = all;
  if (end - begin <= kLeaf) {
    nodes_[at].first = begin;
    nodes_[at].count = end - begin;
    return static_cast<int>(at);
  }
  int axis = 0;
  (high - low).maxCoeff(&axis);
  const int middle = begin + (end - begin) / 2;
  std::nth_element(order_.begin() + begin, order_.begin() + middle, order_.begin() + end, [&](int a, int b) {
    const Bounds &l = boxes[static_cast<std::size_t>(a)], &r = boxes[static_cast<std::size_t>(b)];
    const double x = l.low[axis] + l.high[axis], y = r.low[axis] + r.high[axis];
    return x != y ? x < y : a < b;
  });
  build_node(boxes, begin, middle);
  nodes_[at].first = build_node(boxes, middle, end);
  return static_cast<int>(at);
}

void BoxTree::refit(const std::vector<Bounds>& boxes) {
  assert(boxes.size() == order_.size());
  for (std::size_t k = 0; k < boxes.size(); ++k) boxes_[k] = boxes[static_cast<std::size_t>(order_[k])];
  // Children stand behind their parents.
  for (std::size_t at = nodes_.size(); at-- > 0;) {
    Node& node = nodes_[at];
    if (node.count == 0) {
      node.bounds = nodes_[at + 1].bounds;
      include(node.bounds, nodes_[static_cast<std::size_t>(node.first)].bounds);
      continue;
    }
    node.bounds = boxes_[static_cast<std::size_t>(node.first)];
    for (int k = 1; k < node.count; ++k) include(node.bounds, boxes_[static_cast<std::size_t>(node.first + k)]);
  }
}

}  // namespace stickslip
