// SPDX-License-Identifier: Apache-2.0
#include "stickslip/solvers/sweep_slabs.hpp"

#include <algorithm>
#include <numeric>

namespace stickslip {

namespace {
constexpr int kManyLaws = 800;    // below, a sweep is over before a second thread has begun
constexpr int kLawsInSlab = 150;  // about: fewer are not worth a part
constexpr int kLevelsInSlab = 3;  // its separator among them
constexpr int kMostSlabs = 8;     // thin ones walk through memory in leaps
}  // namespace

PartRange SweepSlabs::places(int phase, int k) const {
  const std::size_t at = static_cast<std::size_t>(2 * k + phase);
  return {static_cast<std::size_t>(cuts_[at]), static_cast<std::size_t>(cuts_[at + 1])};
}

std::span<const int> SweepSlabs::part(int phase, int k) const {
  const auto [begin, end] = places(phase, k);
  return std::span(order_).subspan(begin, end - begin);
}

int SweepSlabs::visit(const BlockSparseMatrix& D, int from, int mark) {
  std::size_t level_begin = order_.size();
  order_.push_back(from);
  mark_[from] = mark;
  while (level_begin < order_.size()) {
    const std::size_t level_end = order_.size();
    const int level = static_cast<int>(level_starts_.size());
    level_starts_.push_back(static_cast<int>(level_begin));
    for (std::size_t k = level_begin; k < level_end; ++k) {
      level_[order_[k]] = level;
      for (std::size_t e = D.row_starts()[order_[k]]; e < D.row_starts()[order_[k] + 1]; ++e)
        if (const int j = D.entries()[e].column; mark_[j] != mark) {
          mark_[j] = mark;
          order_.push_back(j);
        }
    }
    level_begin = level_end;
  }
  return order_.back();
}

bool SweepSlabs::couples_neighbours_only(const BlockSparseMatrix& D) const {
  for (int i = 0; i < D.blocks(); ++i)
    for (std::size_t e = D.row_starts()[i]; e < D.row_starts()[i + 1]; ++e)
      if (std::abs(level_[i] - level_[D.entries()[e].column]) > 1) return false;
  return true;
}

/// Ends of slabs at the levels nearest to equal shares.
void SweepSlabs::cut(int most) {
  const int levels = static_cast<int>(level_starts_.size()) - 1, laws = static_cast<int>(order_.size());
  const int wanted = std::min({most, laws / kLawsInSlab, levels / kLevelsInSlab});
  cuts_.assign(1, 0);
  slabs_ = 1;
  int level = 0;
  for (int k = 1; k < wanted; ++k) {
    const int end = static_cast<int>(static_cast<long>(laws) * k / wanted);
    int separator = level + 1;
    while (separator + 1 < levels && level_starts_[separator + 1] < end) ++separator;
    if (separator + 1 >= levels) break;
    cuts_.push_back(level_starts_[separator]);
    cuts_.push_back(level_starts_[separator + 1]);
    level = separator + 1;
    ++slabs_;
  }
  cuts_.push_back(laws);
  for (std::size_t k = 0; k + 1 < cuts_.size(); ++k)
    std::sort(order_.begin() + cuts_[k], order_.begin() + cuts_[k + 1]);
}

void SweepSlabs::build(const BlockSparseMatrix& D) {
  const int laws = D.blocks();
  order_.clear();
  slabs_ = 1;
  if (laws >= kManyLaws) {
    level_.assign(laws, 0);
    mark_.assign(laws, -1);
    level_starts_.clear();
    for (int i = 0; i < laws; ++i) {
      if (mark_[i] >= 0) continue;
      // The last law of a first visit is at an end of its part of the graph: from there levels are narrow.
      const std::size_t visited = order_.size(), levels = level_starts_.size();
      const int end = visit(D, i, 0);
      order_.resize(visited);
      level_starts_.resize(levels);
      visit(D, end, 1);
    }
    level_starts_.push_back(laws);
    if (static_cast<int>(order_.size()) == laws && couples_neighbours_only(D)) return cut(kMostSlabs);
  }
  order_.resize(laws);
  std::iota(order_.begin(), order_.end(), 0);
  cuts_ = {0, laws};
}

}  // namespace stickslip
