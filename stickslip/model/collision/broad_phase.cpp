// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/broad_phase.hpp"

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/geometry/shape/sphere.h>
#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "stickslip/common/error.hpp"

namespace stickslip {
namespace {

/// An object of the tree that is nothing but its box.
class Box : public fcl::CollisionObjectd {
 public:
  Box(const std::shared_ptr<fcl::CollisionGeometryd>& any, int index, int group)
      : fcl::CollisionObjectd(any), index_(index), group_(group) {}
  void set(const Bounds& bounds) { aabb = fcl::AABBd(bounds.low, bounds.high); }
  int index() const { return index_; }
  int group() const { return group_; }

 private:
  int index_, group_;
};

bool keep_pair(fcl::CollisionObjectd* first, fcl::CollisionObjectd* second, void* pairs) {
  const auto *a = static_cast<Box*>(first), *b = static_cast<Box*>(second);
  if (a->group() != b->group()) {
    const int i = a->index(), j = b->index();
    static_cast<std::vector<BoxPair>*>(pairs)->push_back({std::min(i, j), std::max(i, j)});
  }
  return false;  // go on
}

// FCL only refits the tree; built anew from time to time it stays good when the bodies have changed places.
constexpr int calls_per_tree = 64;

}  // namespace

struct BroadPhase::Tree {
  std::vector<std::unique_ptr<Box>> boxes;
  std::vector<fcl::CollisionObjectd*> objects;
  fcl::DynamicAABBTreeCollisionManagerd manager;
  int calls = 0;
};

BroadPhase::BroadPhase(std::vector<int> group) : tree_(std::make_unique<Tree>()) {
  const auto any = std::make_shared<fcl::Sphered>(1.0);
  for (int i = 0; i < static_cast<int>(group.size()); ++i) {
    tree_->boxes.push_back(std::make_unique<Box>(any, i, group[i]));
    tree_->objects.push_back(tree_->boxes.back().get());
  }
}

BroadPhase::~BroadPhase() = default;
BroadPhase::BroadPhase(BroadPhase&&) noexcept = default;
BroadPhase& BroadPhase::operator=(BroadPhase&&) noexcept = default;

void BroadPhase::find(const std::vector<Bounds>& boxes, std::vector<BoxPair>& pairs) {
  Tree& tree = *tree_;
  assert(boxes.size() == tree.boxes.size());
  if (boxes.size() < 2) return;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!within_range(0.25 * boxes[i].low) || !within_range(0.25 * boxes[i].high))
      throw InputError(fmt::format("a shape reaches beyond {:g} m, or nowhere at all", kLargestLength));
    tree.boxes[i]->set(boxes[i]);
  }
  if (tree.calls++ % calls_per_tree == 0) {
    tree.manager.clear();
    tree.manager.registerObjects(tree.objects);
    tree.manager.setup();
  } else {
    tree.manager.update();
  }
  tree.manager.collide(&pairs, keep_pair);
}

}  // namespace stickslip
