// SPDX-License-Identifier: Apache-2.0
#include "stickslip/model/collision/broad_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "stickslip/common/error.hpp"
#include "stickslip/common/thread_pool.hpp"

namespace stickslip {
namespace {

// Refitted it grows loose as the bodies change places; built anew from time to time it stays good.
constexpr int kCallsPerTree = 64;
constexpr std::size_t kWorthAPart = 128;  // boxes

}  // namespace

void BroadPhase::find(const std::vector<Bounds>& boxes, std::vector<BoxPair>& pairs, ThreadPool* threads) {
  assert(boxes.size() == group_.size());
  if (boxes.size() < 2) return;
  for (const Bounds& box : boxes)
    if (!within_range(0.25 * box.low) || !within_range(0.25 * box.high))
      throw InputError(fmt::format("a shape reaches beyond {:g} m, or nowhere at all", kLargestLength));
  if (calls_++ % kCallsPerTree == 0) {
    tree_.build(boxes);
  } else {
    tree_.refit(boxes);
  }
  const int parts = part_count(threads, boxes.size(), kWorthAPart);
  parts_.resize(std::max(parts_.size(), static_cast<std::size_t>(parts)));
  run_parts(threads, parts, [&](int part) {
    std::vector<BoxPair>& found = parts_[static_cast<std::size_t>(part)];
    found.clear();
    const auto [begin, end] = part_range(boxes.size(), parts, part);
    for (std::size_t i = begin; i < end; ++i)
      tree_.visit(boxes[i], [&](int other) {
        const auto j = static_cast<std::size_t>(other);
        if (i < j && group_[i] != group_[j]) found.push_back({static_cast<int>(i), other});
      });
  });
  for (int k = 0; k < parts; ++k)
    pairs.insert(pairs.end(), parts_[static_cast<std::size_t>(k)].begin(), parts_[static_cast<std::size_t>(k)].end());
}

}  // namespace stickslip
